//! Compares the endpoint's segments with the script (google/packetdrill `run_packet.c`).

use firstflight_tcp::{Ecn, Flags, Segment};

use crate::kernel::Left;
use crate::options;
use crate::show;
use crate::syntax::{EcnField, Packet, TcpOption};

/// Data that the endpoint sent, as one segment. A burst of segments counts as one segment, as with segmentation offload. All segments of a
/// burst have the same size, except that the last may be shorter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) segment: Segment,
    /// Payload bytes of the whole burst.
    pub(crate) len: u32,
    /// Microseconds since the script began.
    pub(crate) at: i64,
    /// Whether more of the burst follows.
    pub(crate) more: bool,
}

impl Sent {
    /// Adds the segment `next` if it can belong to the burst. `part` is the size of the burst's last segment. Returns whether `next` was
    /// added.
    pub(crate) fn join(&mut self, left: &Left, part: u16, last: bool) -> bool {
        let next = &left.segment;
        let whole = &mut self.segment;
        let bits = Flags::SYN.with(Flags::RST).with(Flags::ACK).with(Flags::URG).with(Flags::ECE);
        let alike = whole.seq.wrapping_add(self.len) == next.seq
            && whole.flags.0 & bits.0 == next.flags.0 & bits.0
            && whole.ack == next.ack
            && whole.window == next.window
            && whole.ecn == next.ecn
            && options::list(whole).len() == options::list(next).len()
            && (last || part == next.len);
        if alike {
            let ends = Flags::FIN.with(Flags::PSH);
            // The burst gets the flags of its last segment, as in packetdrill.
            whole.flags = Flags(whole.flags.0 & !ends.0 | next.flags.0 & ends.0);
            self.len += u32::from(next.len);
            self.more = left.more;
        }
        alike
    }
}

/// Returns the first difference between `expected` and the segment that was sent. `seq` is the sequence number of the sent segment,
/// converted to the script's numbers.
pub(crate) fn difference(
    expected: &Packet,
    sent: &Sent,
    seq: u32,
    timestamps: TimestampCheck,
) -> Option<String> {
    let segment = &sent.segment;
    let expected_flags = Flags(expected.flags);
    if expected_flags != segment.flags {
        let (want, got) = (show::flag_letters(expected_flags), show::flag_letters(segment.flags));
        return Some(format!("flags: expected {want}, sent {got}"));
    }
    let number = |what: &str, want: u32, got: u32| {
        (want != got).then(|| format!("{what}: expected {want}, sent {got}"))
    };
    let ack = if expected_flags.has(Flags::ACK) { segment.ack } else { expected.ack };
    number("sequence number", expected.seq, seq)
        .or_else(|| number("payload bytes", u32::from(expected.len), sent.len))
        .or_else(|| number("acknowledgement number", expected.ack, ack))
        .or_else(|| {
            expected.window.and_then(|window| number("window", u32::from(window), u32::from(segment.window)))
        })
        .or_else(|| number("urgent pointer", u32::from(expected.urgent), 0))
        .or_else(|| ecn_difference(expected.ecn?, segment.ecn))
        .or_else(|| options_difference(expected.options.as_deref()?, &options::list(segment), timestamps))
}

/// The rule by which outbound timestamps are checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimestampCheck {
    /// Maximum number of ticks by which timestamps may differ; `None` if they are not checked.
    pub(crate) tolerance: Option<u32>,
    /// The endpoint's clock minus the script's clock.
    pub(crate) ahead: u32,
}

fn ecn_difference(expected: EcnField, sent: Ecn) -> Option<String> {
    let fits = match expected {
        EcnField::None => sent == Ecn::NotCapable,
        EcnField::Ect0 => sent == Ecn::Ect0,
        EcnField::Ect1 => sent == Ecn::Ect1,
        EcnField::Ce => sent == Ecn::Ce,
        EcnField::Either => matches!(sent, Ecn::Ect0 | Ecn::Ect1),
    };
    (!fits).then(|| format!("ECN field: expected {expected:?}, sent {sent:?}"))
}

fn options_difference(
    expected: &[TcpOption],
    sent: &[TcpOption],
    timestamps: TimestampCheck,
) -> Option<String> {
    let alike = |want: &TcpOption, got: &TcpOption| match (want, got) {
        (TcpOption::Timestamps { value: want, echo: a }, TcpOption::Timestamps { value: got, echo: b }) => {
            let off = got.wrapping_sub(timestamps.ahead).wrapping_sub(*want);
            let off = off.min(off.wrapping_neg());
            a == b && timestamps.tolerance.is_none_or(|most| off <= most)
        }
        _ => want == got,
    };
    let same = expected.len() == sent.len() && expected.iter().zip(sent).all(|(want, got)| alike(want, got));
    let none = |list: &[TcpOption]| if list.is_empty() { "none".to_owned() } else { show::option_list(list) };
    (!same).then(|| format!("options: expected {}, sent {}", none(expected), none(sent)))
}
