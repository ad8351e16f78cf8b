//! Whether the window is what limits sending, as Linux judges it (`tcp_cwnd_validate`, `tcp_is_cwnd_limited`).

/// How much of the window was used since it was last filled, or in this round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::sender) struct WindowUse {
    /// The most segments outstanding.
    most: u64,
    /// When this is acknowledged, a new round trip counts.
    until: u64,
    limited: bool,
}

impl WindowUse {
    /// Sending stopped, or went on, with `outstanding` segments from `una` to `nxt`; `limited` if the window was full.
    pub(in crate::sender) fn note(&mut self, una: u64, nxt: u64, outstanding: u64, limited: bool) {
        if una >= self.until || limited || !self.limited && outstanding > self.most {
            *self = Self { most: outstanding, until: nxt, limited };
        }
    }

    /// Whether a window of `cwnd` segments may grow: it was full, or in slow start more than half full.
    pub(in crate::sender) fn is_limit(&self, cwnd: u64, slow_start: bool) -> bool {
        self.limited || slow_start && cwnd < 2 * self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_half_used_grows_in_slow_start_only() {
        let mut window_use = WindowUse::default();
        window_use.note(0, 6, 6, false);
        assert!(window_use.is_limit(11, true) && !window_use.is_limit(12, true));
        assert!(!window_use.is_limit(6, false));
        window_use.note(0, 12, 12, true);
        assert!(window_use.is_limit(12, false));
    }

    #[test]
    fn what_was_used_is_forgotten_with_the_round_trip() {
        let mut window_use = WindowUse::default();
        window_use.note(0, 10, 10, true);
        window_use.note(5, 11, 6, false);
        assert!(window_use.is_limit(100, false));
        window_use.note(10, 12, 2, false);
        assert!(!window_use.is_limit(4, true));
    }
}
