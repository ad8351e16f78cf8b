//! Rounds of replies: the times and counts of each reply, and the means over replies for the row.
//!
//! A restart round is every round of a client except the first, in which the connection starts. Within one run, means are over all restart
//! rounds of all clients. Confidence intervals are only over runs, because the clients of one run are not independent.

use crate::arithmetic::{ratio, seconds};

/// One reply of one client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The number of the round, from zero.
    pub round: u32,
    /// When the application wrote the reply.
    pub began: u64,
    /// When the last byte of the reply was delivered.
    pub ended: Option<u64>,
    /// When the last byte of the reply was acknowledged at its sender.
    pub acked: Option<u64>,
    /// The reply's data packets that the network dropped, retransmissions included.
    pub drops: u64,
    /// The longest burst: the maximum number of data packets of the reply sent at one instant.
    pub burst: u64,
    /// When the first ACK arrived that acknowledged new data of the reply. From then on ACKs clock the sender.
    pub clocked: Option<u64>,
}

fn restarts(replies: &[Reply]) -> impl Iterator<Item = &Reply> {
    replies.iter().filter(|reply| reply.round > 0)
}

/// Returns the mean of the numbers `of` the replies; `None` without replies, or if a reply has no such number.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn mean<'a>(replies: impl Iterator<Item = &'a Reply>, of: impl Fn(&Reply) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = replies.map(of).collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the mean seconds from writing a reply to the delivery of its last byte, over restart rounds; `None` if a reply is unfinished.
/// Visweswaraiah and Heidemann 1997, Figure 6.
pub fn elapsed(replies: &[Reply]) -> Option<f64> {
    mean(restarts(replies), |reply| Some(seconds(reply.ended?.saturating_sub(reply.began))))
}

/// Returns the mean seconds from writing a reply to the acknowledgement of its last byte, over restart rounds; `None` if a reply is
/// unfinished.
pub fn acked(replies: &[Reply]) -> Option<f64> {
    mean(restarts(replies), |reply| Some(seconds(reply.acked?.saturating_sub(reply.began))))
}

/// Returns the mean number of dropped data packets per reply, over restart rounds. Visweswaraiah and Heidemann 1997, Figures 9 and 10.
pub fn drops(replies: &[Reply]) -> Option<f64> {
    mean(restarts(replies), |reply| ratio(reply.drops, 1))
}

/// Returns the mean number of dropped data packets per reply, over all rounds including the first.
pub fn drops_all_rounds(replies: &[Reply]) -> Option<f64> {
    mean(replies.iter(), |reply| ratio(reply.drops, 1))
}

/// Returns the mean length of a reply's longest burst, over restart rounds. A burst is the packets sent at one instant.
pub fn burst(replies: &[Reply]) -> Option<f64> {
    mean(restarts(replies), |reply| ratio(reply.burst, 1))
}

/// Returns the mean seconds from writing a reply to the first ACK of its data, over restart rounds.
pub fn ack_clock(replies: &[Reply]) -> Option<f64> {
    mean(restarts(replies), |reply| Some(seconds(reply.clocked?.saturating_sub(reply.began))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn reply(round: u32, elapsed: u64, drops: u64) -> Reply {
        let began = u64::from(round) * 100 * S;
        let clocked = Some(began + S / 4);
        let ended = began + elapsed * S;
        let acked = Some(ended + S);
        Reply { round, began, ended: Some(ended), acked, drops, burst: 4 + drops, clocked }
    }

    #[test]
    fn means_are_over_restart_rounds_of_all_clients() {
        let replies = [reply(0, 9, 7), reply(1, 2, 1), reply(2, 4, 0), reply(0, 8, 0), reply(1, 3, 2)];
        assert_eq!((elapsed(&replies), acked(&replies)), (Some(3.0), Some(4.0)));
        assert_eq!((drops(&replies), drops_all_rounds(&replies)), (Some(1.0), Some(2.0)));
        assert_eq!((burst(&replies), ack_clock(&replies)), (Some(5.0), Some(0.25)));
    }

    #[test]
    fn an_unfinished_reply_leaves_the_elapsed_time_undefined() {
        let cut = Reply { ended: None, ..reply(2, 1, 3) };
        assert_eq!(elapsed(&[reply(1, 2, 1), cut]), None);
        assert_eq!(drops(&[reply(1, 2, 1), cut]), Some(2.0));
        assert_eq!((elapsed(&[reply(0, 1, 1)]), drops(&[])), (None, None));
    }
}
