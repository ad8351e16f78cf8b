//! Keeps the number and the lengths of packets on the wire equal with and without UDP.
//!
//! The simulator's packets have headers of IP and TCP. Packets of the endpoint on sockets also have a UDP header of 8 bytes, so that each
//! carries 8 bytes less payload. The transfer is made smaller in proportion. The number of packets and the length of the last packet then
//! stay the same.

/// Bytes of a UDP header.
pub const UDP: u64 = 8;
/// Bytes of an IPv4 header.
const IP: u64 = 20;

/// Returns the UDP payload of a datagram whose IP packet has `packet` bytes.
pub const fn datagram(packet: u64) -> u64 {
    packet.saturating_sub(IP + UDP)
}

/// Returns the payload of a full segment over UDP. Its packet is as long as a packet without UDP that has `mss` bytes of payload.
pub const fn segment(mss: u64) -> u64 {
    mss.saturating_sub(UDP)
}

/// Returns the size of a transfer over UDP that takes as many packets as a transfer of `size` bytes in segments of `mss` bytes. The last
/// packets also have equal lengths, unless the original's last payload is not larger than a UDP header; the last packet over UDP then has a
/// payload of one byte.
pub const fn transfer(size: u64, mss: u64) -> u64 {
    let packets = size.div_ceil(mss);
    if packets == 0 {
        return 0;
    }
    let last = size - (packets - 1) * mss;
    let last_in_udp = if last > UDP { last - UDP } else { 1 };
    (packets - 1) * segment(mss) + last_in_udp
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_megabytes_are_1370_packets_either_way() {
        assert_eq!((datagram(1_500), segment(1_460)), (1_472, 1_452));
        assert_eq!(2_000_000u64.div_ceil(1_460), 1_370);
        assert_eq!(transfer(2_000_000, 1_460), 2_000_000 - 1_370 * 8);
        assert_eq!((transfer(0, 1_460), transfer(1, 1_460), transfer(1_461, 1_460)), (0, 1, 1_453));
    }

    proptest! {
        #[test]
        fn packets_are_as_many_and_as_long_on_the_wire(size in 1u64..1 << 40, mss in 17u64..9_000) {
            let (packet, there) = (mss + 40, transfer(size, mss));
            prop_assert_eq!(datagram(packet) - 20, segment(mss), "a datagram holds a segment and TCP's header");
            prop_assert_eq!(there.div_ceil(segment(mss)), size.div_ceil(mss), "as many packets");
            let last = |size: u64, mss: u64| size - (size.div_ceil(mss) - 1) * mss;
            let (here, there) = (last(size, mss) + 40, last(there, segment(mss)) + 48);
            prop_assert!(there == here || here < 49 && there == 49, "{here} bytes here, {there} there");
        }
    }
}
