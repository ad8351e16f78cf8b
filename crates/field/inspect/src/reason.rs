//! Reasons why the beginning of a connection is unknown.

use crate::connection::Connection;
use crate::handshake::Host;

pub(crate) const SET_BACK: &str = "the capture's clock was set back while the connection lasted";
pub(crate) const NO_START: &str = "the connection was open before the capture began";
const WRONG_TIME: &str =
    "the capture gave a packet of the handshake a wrong time, that of no packet around it";
pub(crate) const DISPLACED: &str = "packets of the connection are in the capture more than a second, or 16,384 packets, behind others that passed \
     later: their order is not known";
const UNTIMED: &str = "a packet of the handshake was retransmitted, so that the kernel measured no RTT of it";
const NO_SYN: &str = "the SYN is not in the capture";
const NO_ANSWER: &str = "no answer to the SYN is in the capture";

/// Returns the reason why the options of the SYNs are unknown; `None` if both SYNs are in the capture.
pub(crate) fn no_syns(connection: &Connection) -> Option<&'static str> {
    let [opener, answerer] = &connection.hosts;
    let is_answered = answerer.empty_packets > 0 || answerer.sender.instants.first_data.is_some();
    match [opener.syn.is_some(), answerer.syn.is_some()] {
        [true, true] => None,
        [false, true] => Some(NO_SYN),
        [false, false] => Some(NO_START),
        [true, false] if connection.is_reset() => Some("the SYN was answered by a reset"),
        [true, false] if is_answered => Some("the answer to the SYN is not in the capture"),
        [true, false] => Some(NO_ANSWER),
    }
}

/// Returns the reason why the handshake has no times.
pub(crate) fn no_times(connection: &Connection) -> String {
    let handshake = &connection.handshake;
    if connection.own.is_some() {
        return UNTIMED.to_owned();
    }
    if handshake.is_untimed {
        return SET_BACK.to_owned();
    }
    if handshake.has_wrong_time {
        return WRONG_TIME.to_owned();
    }
    if let Some(why) = no_syns(connection) {
        return why.to_owned();
    }
    if let Some(by) = handshake.disorder {
        return format!(
            "the acknowledgement of the handshake stands {}.{:03} ms before the answer that it acknowledges: the capture's \
             directions are apart by that or more, or an earlier answer is missing",
            by / 1_000_000,
            by / 1_000 % 1_000
        );
    }
    if handshake.is_over {
        "the acknowledgement of the handshake is not in the capture: what first follows the answer is a later packet".to_owned()
    } else {
        "no acknowledgement of the SYN's answer is in the capture".to_owned()
    }
}

/// Returns the reason why the start of `host` as a sender is unknown; `None` if the capture has the host's SYN and the handshake's times.
pub(crate) fn no_start(connection: &Connection, host: Host) -> Option<String> {
    let side = &connection.hosts[host];
    if side.syn.is_none() {
        return Some(no_syns(connection).unwrap_or(NO_START).to_owned());
    }
    connection.place_as(host).is_none().then(|| no_times(connection))
}
