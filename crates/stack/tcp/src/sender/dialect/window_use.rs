//! Decides whether the window limits sending, as Linux does (`tcp_cwnd_validate`, `tcp_is_cwnd_limited`).

/// How much of the window was used since the window was last full, or in the current RTT.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::sender) struct WindowUse {
    /// Maximum number of segments outstanding.
    most: u64,
    /// Stream offset at whose acknowledgement the next RTT begins.
    until: u64,
    limited: bool,
}

impl WindowUse {
    /// Records the use of the window when sending stopped or continued: `outstanding` segments, from `una` to `nxt`. `limited` says whether
    /// the window was full.
    pub(in crate::sender) fn note(&mut self, una: u64, nxt: u64, outstanding: u64, limited: bool) {
        if una >= self.until || limited || !self.limited && outstanding > self.most {
            *self = Self { most: outstanding, until: nxt, limited };
        }
    }

    /// Checks whether a window of `cwnd` segments may grow: it was full or, in slow start, more than half full.
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
    fn window_use_is_forgotten_after_a_round_trip() {
        let mut window_use = WindowUse::default();
        window_use.note(0, 10, 10, true);
        window_use.note(5, 11, 6, false);
        assert!(window_use.is_limit(100, false));
        window_use.note(10, 12, 2, false);
        assert!(!window_use.is_limit(4, true));
    }
}
