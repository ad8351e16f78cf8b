//! Captures made byte by byte from the formats' drafts, so that the reader is not tested against its own assumptions.

/// A packet to be captured: time in nanoseconds, and frame.
pub(crate) type Frame = (u64, Vec<u8>);

/// Format of a capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) is_big: bool,
    /// Units of a second: 10^6 or 10^9.
    pub(crate) per_second: u64,
    pub(crate) link: u16,
    pub(crate) snap: usize,
}

pub(crate) const PLAIN: Form = Form { is_big: false, per_second: 1_000_000_000, link: 101, snap: 65_535 };

impl Form {
    fn u16(self, value: u16) -> [u8; 2] {
        if self.is_big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn u32(self, value: u32) -> [u8; 4] {
        if self.is_big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    fn kept(self, frame: &[u8]) -> &[u8] {
        &frame[..frame.len().min(self.snap)]
    }
}

/// As pcap.
pub(crate) fn pcap(form: Form, frames: &[Frame]) -> Vec<u8> {
    let magic = if form.per_second == 1_000_000 { 0xA1B2_C3D4 } else { 0xA1B2_3C4D };
    let snap = u32::try_from(form.snap).unwrap();
    let mut out = form.u32(magic).to_vec();
    out.extend([form.u16(2), form.u16(4)].concat());
    out.extend([form.u32(0), form.u32(0), form.u32(snap), form.u32(form.link.into())].concat());
    for (at, frame) in frames {
        let fraction = at % 1_000_000_000 / (1_000_000_000 / form.per_second);
        let kept = form.kept(frame);
        let lengths = [kept.len(), frame.len()].map(|length| form.u32(u32::try_from(length).unwrap()));
        let times = [at / 1_000_000_000, fraction].map(|time| form.u32(u32::try_from(time).unwrap()));
        out.extend([times.concat(), lengths.concat(), kept.to_vec()].concat());
    }
    out
}

/// Returns the capture as pcapng, with the resolution in the interface's options.
pub(crate) fn pcapng(form: Form, frames: &[Frame]) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let padded = [body, &vec![0; body.len().next_multiple_of(4) - body.len()]].concat();
        let length = form.u32(u32::try_from(padded.len() + 12).unwrap());
        [&form.u32(kind)[..], &length, &padded, &length].concat()
    };
    let section = [&form.u32(0x1A2B_3C4D)[..], &form.u16(1), &form.u16(0), &[0xFF; 8]].concat();
    let resolution = u8::try_from(form.per_second.ilog10()).unwrap();
    let options = [&form.u16(9)[..], &form.u16(1), &[resolution, 0, 0, 0], &form.u32(0)].concat();
    let snap = form.u32(u32::try_from(form.snap).unwrap());
    let interface = [&form.u16(form.link)[..], &[0, 0], &snap, &options].concat();
    let mut out = [block(0x0A0D_0D0A, &section), block(1, &interface)].concat();
    // A block that readers do not know: names of hosts.
    out.extend(block(4, &[0; 4]));
    for (at, frame) in frames {
        let time = at / (1_000_000_000 / form.per_second);
        let kept = form.kept(frame);
        let lengths = [kept.len(), frame.len()].map(|length| form.u32(u32::try_from(length).unwrap()));
        let halves = [time >> 32, time & 0xFFFF_FFFF].map(|half| form.u32(u32::try_from(half).unwrap()));
        out.extend(block(6, &[&form.u32(0)[..], &halves.concat(), &lengths.concat(), kept].concat()));
    }
    out
}

/// The two hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum From {
    Client,
    Server,
}

/// A segment: sender, flags, sequence and acknowledgement number, options, payload length.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) from: From,
    pub(crate) flags: u8,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) options: Vec<u8>,
    pub(crate) len: usize,
}

pub(crate) const SYN: u8 = 2;
pub(crate) const PSH: u8 = 8;
pub(crate) const ACK: u8 = 16;

/// Returns the segment as an IP packet.
pub(crate) fn packet(segment: &Segment, is_ipv6: bool) -> Vec<u8> {
    let options = &segment.options;
    assert!(options.len().is_multiple_of(4), "options are padded");
    let ports: [u16; 2] = if segment.from == From::Client { [40_000, 80] } else { [80, 40_000] };
    let mut tcp = ports.map(u16::to_be_bytes).concat();
    tcp.extend([segment.seq, segment.ack].map(u32::to_be_bytes).concat());
    tcp.extend([u8::try_from((20 + options.len()) / 4).unwrap() << 4, segment.flags]);
    tcp.extend([255, 255, 0, 0, 0, 0]);
    tcp.extend(options);
    tcp.resize(tcp.len() + segment.len, 0);
    let hosts = if segment.from == From::Client { [1, 2] } else { [2, 1] };
    let length = u16::try_from(tcp.len()).unwrap();
    if is_ipv6 {
        let address = |last: u8| [&[0xFD][..], &[0; 14], &[last]].concat();
        let lengths = [&length.to_be_bytes()[..], &[6, 64]].concat();
        return [&[0x60, 0, 0, 0][..], &lengths, &address(hosts[0]), &address(hosts[1]), &tcp].concat();
    }
    let head = [&[0x45, 0][..], &(length + 20).to_be_bytes(), &[0, 0, 0x40, 0, 64, 6, 0, 0]].concat();
    [&head[..], &[10, 0, 0, hosts[0]], &[10, 0, 0, hosts[1]], &tcp].concat()
}

/// Returns the packet in a frame of the link type, with a VLAN tag if requested and if the link type has room for one.
pub(crate) fn framed(link: u16, is_tagged: bool, packet: &[u8]) -> Vec<u8> {
    let kind: [u8; 2] = if packet[0] >> 4 == 4 { [8, 0] } else { [0x86, 0xDD] };
    let tag = if is_tagged { vec![0x81, 0, 0, 7] } else { Vec::new() };
    let before = match link {
        0 => vec![if kind[0] == 8 { 2 } else { 30 }, 0, 0, 0],
        1 => [&[2; 12][..], &tag, &kind].concat(),
        113 => [&[0; 14][..], &kind].concat(),
        276 => [&kind[..], &[0; 18]].concat(),
        _ => Vec::new(),
    };
    [before, packet.to_vec()].concat()
}

pub(crate) const MS: u64 = 1_000_000;
/// Some day in 2026.
pub(crate) const DAY: u64 = 1_790_000_000_000_000_000;

/// Returns a capture at the client of an upload over 40 ms: a handshake, three segments, and three more after their ACK, one of which is
/// retransmitted.
pub(crate) fn upload() -> Vec<(u64, Segment)> {
    let syn = vec![2, 4, 5, 180, 1, 3, 3, 7, 4, 2, 1, 1];
    let segment = |from, flags, seq, ack, len| Segment { from, flags, seq, ack, options: vec![], len };
    let data = |place: u32| segment(From::Client, ACK, 1001 + place * 1460, 501, 1460);
    let ack = |place: u32| segment(From::Server, ACK, 501, 1001 + place * 1460, 0);
    let steps = [
        (0, Segment { options: syn.clone(), ..segment(From::Client, SYN, 1000, 0, 0) }),
        (40, Segment { options: syn, ..segment(From::Server, SYN | ACK, 500, 1001, 0) }),
        (40, segment(From::Client, ACK, 1001, 501, 0)),
        (41, data(0)),
        (41, data(1)),
        (41, data(2)),
        (81, ack(3)),
        (81, data(3)),
        (81, data(4)),
        (81, data(5)),
        (121, ack(3)),
        (121, ack(3)),
        (121, data(3)),
        (161, ack(6)),
    ];
    steps.into_iter().map(|(ms, segment)| (DAY + ms * MS, segment)).collect()
}

/// Returns the upload in frames.
pub(crate) fn frames(link: u16, is_tagged: bool, is_ipv6: bool) -> Vec<Frame> {
    let framed = |(at, segment): (u64, Segment)| (at, framed(link, is_tagged, &packet(&segment, is_ipv6)));
    upload().into_iter().map(framed).collect()
}
