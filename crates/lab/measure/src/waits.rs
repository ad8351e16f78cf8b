//! Waits: the times in which no packet of a flow is in flight. Only a timer of one of the hosts can then continue the flow.

/// A time in which no packet of a flow was in flight, in either direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// When the last packet in flight arrived or was dropped, in nanoseconds.
    pub from: u64,
    /// When the next packet was sent, in nanoseconds.
    pub to: u64,
    /// Whether that next packet was sent by the receiver of the data.
    pub by_receiver: bool,
}

impl Wait {
    /// Returns the length of the wait in nanoseconds.
    pub const fn nanos(&self) -> u64 {
        self.to.saturating_sub(self.from)
    }

    /// Returns the cause of the wait's end: `handshake` if it ended before `first_data_at`, when the first data packet was sent;
    /// `delayed-ack` if the receiver sent the next packet, an ACK it had held back; `timeout` if one of `timeouts` expired, which are the
    /// retransmission timeouts of data ([`crate::Evidence::timeouts`]); `application` if the sender's application writes in pieces
    /// (`writes_in_pieces`); and otherwise `sender`, for any other timer of the sender, such as pacing or a tail loss probe.
    pub fn ended_by(
        &self,
        first_data_at: Option<u64>,
        timeouts: &[u64],
        writes_in_pieces: bool,
    ) -> &'static str {
        match self {
            _ if first_data_at.is_none_or(|first| self.to < first) => "handshake",
            Self { by_receiver: true, .. } => "delayed-ack",
            _ if timeouts.contains(&self.to) => "timeout",
            _ if writes_in_pieces => "application",
            _ => "sender",
        }
    }
}

/// Finds the waits of a flow from its transmissions, arrivals and drops, given in order of time.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    on_way: u64,
    /// When the last packet in flight arrived or was dropped; `None` if packets are in flight.
    since: Option<u64>,
    longest: Wait,
    total: u64,
}

impl Waits {
    /// Records that a packet was sent by one of the hosts.
    #[inline]
    pub fn left(&mut self, at: u64, by_receiver: bool) {
        self.on_way += 1;
        if let Some(from) = self.since.take() {
            let wait = Wait { from, to: at, by_receiver };
            self.total += wait.nanos();
            if wait.nanos() > self.longest.nanos() {
                self.longest = wait;
            }
        }
    }

    /// Records that a packet arrived at a host or was dropped by the network.
    #[inline]
    pub fn gone(&mut self, at: u64) {
        self.on_way = self.on_way.saturating_sub(1);
        if self.on_way == 0 {
            self.since = Some(at);
        }
    }

    /// Returns the length of all waits so far, in nanoseconds.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Returns the longest wait so far; the first if several are equally long.
    pub const fn longest(&self) -> Wait {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_wait_is_one_with_nothing_on_its_way() {
        let mut waits = Waits::default();
        waits.left(0, false);
        waits.left(1, false);
        waits.gone(10);
        // One packet is still in flight.
        waits.left(50, false);
        waits.gone(51);
        waits.gone(60);
        waits.left(70, true);
        waits.gone(80);
        waits.left(85, false);
        assert_eq!(waits.longest(), Wait { from: 60, to: 70, by_receiver: true });
        assert_eq!(waits.longest().nanos(), 10);
    }

    #[test]
    fn a_wait_names_the_timer_that_ended_it() {
        let wait = |by_receiver| Wait { from: 100, to: 200, by_receiver };
        assert_eq!(wait(true).ended_by(Some(50), &[], false), "delayed-ack");
        assert_eq!(wait(false).ended_by(Some(50), &[150, 200], false), "timeout");
        assert_eq!(wait(false).ended_by(Some(50), &[150], false), "sender");
        assert_eq!(wait(false).ended_by(Some(50), &[150], true), "application");
        assert_eq!(wait(false).ended_by(Some(300), &[], false), "handshake");
        assert_eq!(wait(false).ended_by(None, &[], false), "handshake");
    }
}
