//! Packets that are equal on the wire, whatever they carry: as many, and as long.
//!
//! The simulator's packets are IP and TCP. Those of the endpoint on sockets have UDP besides, 8 bytes, so that each carries 8 bytes
//! of payload less. The transfer is made smaller in proportion: it takes as many packets, and the last one is as long too.

/// Bytes of UDP's header.
pub const UDP: u64 = 8;
/// Bytes of IPv4's header.
const IP: u64 = 20;

/// The UDP payload of a datagram that is as long as an IP packet of `packet` bytes.
pub const fn datagram(packet: u64) -> u64 {
    packet.saturating_sub(IP + UDP)
}

/// The payload of a full segment in UDP whose packet is as long as one with `mss` bytes of payload without UDP.
pub const fn segment(mss: u64) -> u64 {
    mss.saturating_sub(UDP)
}

/// The size of a transfer in UDP that takes as many packets as one of `size` bytes in segments of `mss`. The last packet is as long
/// as that one's, or has a byte of payload if that one had no more than UDP's header takes.
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
