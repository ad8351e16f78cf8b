//! The options of a socket.

use firstflight::Span;

/// The socket options that the script set.
#[derive(Clone, Debug, Default)]
pub(crate) struct SocketOptions {
    pub(crate) send_buffer: Option<u64>,
    pub(crate) receive_buffer: Option<u64>,
    pub(crate) congestion: Option<&'static str>,
    pub(crate) max_segment: Option<u16>,
    pub(crate) no_delay: bool,
    pub(crate) cork: bool,
    /// Whether `TCP_QUICKACK` was turned off.
    pub(crate) delays_acks: bool,
    /// The value of `TCP_NOTSENT_LOWAT`; `None` for the sysctl's value.
    pub(crate) unsent_limit: Option<u64>,
    /// The value of `TCP_USER_TIMEOUT`, in milliseconds.
    pub(crate) user_timeout: u64,
    /// The value of `TCP_SYNCNT`; `None` for the sysctl's value.
    pub(crate) syn_retries: Option<u32>,
    /// Whether a close sends a reset at once (`SO_LINGER` with a time of zero).
    pub(crate) lingers_not: bool,
}

/// Returns how long Linux retransmits data (`retransmits_timed_out`). It is the user timeout if there is one. Otherwise it is the time of
/// `retries` retransmissions, of which the first comes after the minimum RTO (`tcp_model_timeout`).
pub(super) fn give_up_after(retries: u64, user_timeout: u64) -> Span {
    /// The minimum RTO, `TCP_RTO_MIN`. It is doubled until it reaches the maximum, `TCP_RTO_MAX`.
    const LEAST: Span = Span::from_millis(200);
    const MOST: Span = Span::from_secs(120);
    const DOUBLINGS: u64 = 9;
    if user_timeout > 0 {
        return Span::from_millis(user_timeout);
    }
    let doubled = LEAST * ((2 << retries.min(DOUBLINGS)) - 1);
    doubled + MOST * retries.min(255).saturating_sub(DOUBLINGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifteen_retries_are_924_seconds_and_600_ms() {
        assert_eq!(give_up_after(15, 0), Span::from_millis(924_600));
        assert_eq!(give_up_after(3, 0), Span::from_secs(3));
        assert_eq!(give_up_after(15, 2_500), Span::from_millis(2_500));
    }
}
