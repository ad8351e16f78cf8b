//! What of a sender is drawn, if it is to be drawn: this grows with the packets.

/// The time series of one sender. Times are nanoseconds of the capture's clock; places are payload bytes from the
/// first, and may lie below zero, at zero, where the beginning is not in the capture.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Packets with payload: when, first byte, bytes, whether sent again.
    pub sends: Vec<(u64, u64, u64, bool)>,
    /// Cumulative acknowledgements.
    pub acks: Vec<(u64, u64)>,
    /// Bytes in flight after every change.
    pub flight: Vec<(u64, u64)>,
    /// The receiver's window in bytes whenever it changed.
    pub window: Vec<(u64, u64)>,
    /// Round-trip samples: when, nanoseconds.
    pub rtts: Vec<(u64, u64)>,
    /// Retransmissions' episodes: from, until when if they ended.
    pub recoveries: Vec<(u64, Option<u64>)>,
    /// Instants worth a mark: when, what kind ([`Trace::KINDS`]), in words.
    pub marks: Vec<(u64, &'static str, String)>,
}

impl Trace {
    /// Data again after an idle time.
    pub(crate) const RESTART: &'static str = "restart";
    /// Data again after a silence.
    pub(crate) const TIMEOUT: &'static str = "timeout";
    /// The kinds of marks that there are.
    pub const KINDS: [&'static str; 2] = [Self::RESTART, Self::TIMEOUT];
}
