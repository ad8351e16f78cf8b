//! The handshake: when each host's SYN passed and when the other host acknowledged it. Usually one host answers with a SYN-ACK and the
//! other with an ACK. If the SYNs crossed (a simultaneous open, RFC 9293 section 3.5), each host answers the other's SYN with a SYN-ACK.

use serde::{Deserialize, Serialize};

/// The index of one of the two hosts. Host 0 is the one whose SYN passed first or, if the capture has no SYN, whose packet passed first.
pub(crate) type Host = usize;

/// One host's half of the handshake.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Half {
    /// Time at which the host's SYN last passed before the other host acknowledged it.
    syn: Option<u64>,
    /// Time at which the host's SYN-ACK first passed.
    syn_ack: Option<u64>,
    /// Time from the host's SYN or SYN-ACK to the other host's acknowledgement. It is the time from the capture point to the other host and
    /// back.
    round_trip: Option<u64>,
}

/// The two halves of a handshake, and conditions that make their times unusable.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Handshake {
    halves: [Half; 2],
    /// Whether the handshake is complete: a host sent a packet after the other's SYN-ACK. Later packets are not the third packet of the
    /// handshake.
    pub(crate) is_over: bool,
    /// Whether the capture's clock was set back before the handshake was complete.
    pub(crate) is_untimed: bool,
    /// Whether the capture gave a packet of the handshake a wrong time.
    pub(crate) has_wrong_time: bool,
    /// Time and acknowledged sequence number of an acknowledgement from host 0 that was captured before any SYN-ACK.
    early: Option<(u64, u32)>,
    /// Time by which the third packet was captured before the SYN-ACK that it acknowledges.
    pub(crate) disorder: Option<u64>,
}

/// The location of the capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// At this host.
    At(Host),
    Between,
}

impl Handshake {
    /// Returns a handshake whose packets have no usable times.
    pub(crate) fn without_times() -> Self {
        Self { is_over: true, ..Self::default() }
    }

    /// Records a SYN without ACK.
    pub(crate) fn syn(&mut self, at: u64, from: Host) {
        let half = &mut self.halves[from];
        if half.round_trip.is_none() {
            half.syn = Some(at);
        }
    }

    /// Records a SYN-ACK with the sequence number `seq`.
    pub(crate) fn syn_ack(&mut self, at: u64, from: Host, seq: u32) {
        let early = self.early.filter(|early| from == 1 && early.1 == seq.wrapping_add(1));
        if self.halves[from].syn_ack.is_none()
            && let Some((then, _)) = early
        {
            self.disorder = Some(at.saturating_sub(then));
            self.is_over = true;
        }
        self.halves[from].syn_ack.get_or_insert(at);
        let other = &mut self.halves[1 - from];
        if let Some(syn) = other.syn {
            other.round_trip.get_or_insert(at.saturating_sub(syn));
        }
        self.is_over |= self.halves.iter().all(|half| half.round_trip.is_some());
    }

    /// Records a segment without SYN. `acknowledges` is the sequence number that it acknowledges. `is_third` says whether it is the first
    /// segment of its host after the SYN and acknowledges the other host's SYN but no data. Returns whether the times changed.
    pub(crate) fn segment(
        &mut self,
        at: u64,
        from: Host,
        acknowledges: Option<u32>,
        is_third: impl FnOnce() -> bool,
    ) -> bool {
        if self.is_over {
            return false;
        }
        let half = &mut self.halves[1 - from];
        let Some(syn_ack) = half.syn_ack else {
            if from == 0 {
                self.early = self.early.or(acknowledges.map(|number| (at, number)));
            }
            return false;
        };
        if half.round_trip.is_some() {
            return false;
        }
        // If the segment does not begin the stream or acknowledges more than the SYN-ACK, it is not the third packet but a later one.
        self.is_over = true;
        let is_third = is_third();
        if is_third {
            half.round_trip = Some(at.saturating_sub(syn_ack));
        }
        is_third
    }

    /// Returns the time from the capture point to host 1 and back, and the time to host 0 and back.
    pub(crate) fn parts(&self) -> Option<[u64; 2]> {
        let [first, second] =
            self.halves.map(|half| half.round_trip.filter(|_| !self.is_untimed && !self.has_wrong_time));
        Some([first?, second?])
    }

    /// Returns the location of the capture. It is at a host if the time to this host and back is at most an eighth of the RTT. A host
    /// itself takes tens of microseconds, so this time is never zero.
    pub(crate) fn place(&self) -> Option<Place> {
        let [to_second, to_first] = self.parts()?;
        let whole = to_second.checked_add(to_first)?;
        Some(if to_first <= whole / 8 {
            Place::At(0)
        } else if to_second <= whole / 8 {
            Place::At(1)
        } else {
            Place::Between
        })
    }

    /// Returns the RTT. If the capture was taken at a host, the time that this host took is left out.
    pub(crate) fn round_trip(&self, place: Place) -> Option<u64> {
        let [to_second, to_first] = self.parts()?;
        Some(match place {
            Place::At(0) => to_second,
            Place::At(_) => to_first,
            Place::Between => to_second.checked_add(to_first)?,
        })
    }
}
