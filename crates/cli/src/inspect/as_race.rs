//! `--as-race`: prints the command that races schemes over the path seen in a capture, with the evidence for each value.

use std::fmt::Write as _;

use firstflight::{Bytes, Rate, Span};
use firstflight_inspect::{Found, PathSeen, Pause, Waited};
use firstflight_report::human;
use firstflight_scenario::quantity::{in_a_line, show_bytes, show_rate, show_span};

/// The options of the command, with the comments that justify them.
#[derive(Default)]
struct Asked {
    comments: String,
    options: String,
}

impl Asked {
    /// Sets an option. `why` is the evidence for its value.
    fn set(&mut self, option: &str, value: &str, why: &str) {
        let space = if value.is_empty() { "" } else { " " };
        let _ = writeln!(self.comments, "# {option}{space}{value}: {why}");
        let _ = write!(self.options, " {option}{space}{value}");
    }

    /// Leaves an option at its default. `why` is the reason.
    fn leave(&mut self, option: &str, why: &str) {
        let _ = writeln!(self.comments, "# {option} is left to its default: {why}");
    }
}

/// The default rate of a race's bottleneck, in bit/s.
const DEFAULT_RATE: f64 = 100e6;

/// The default ratio of the rate of a race's access links and return path to the rate of the bottleneck.
const ACCESS: f64 = 10.0;

/// The rate of a race over the path, from which the times of packets follow.
#[derive(Clone, Copy)]
struct Pace {
    /// The rate in bits per second, of the simulator's packets.
    rate: f64,
    /// The bytes of the IP and TCP headers, with the options that every segment has.
    headers: f64,
    /// The payload bytes of a full segment.
    mss: f64,
    /// Whether the bottleneck is at the sender, before the point of the capture.
    is_at_sender: bool,
}

impl Pace {
    fn new(found: &Found) -> Self {
        let headers = if found.timestamps == Some(true) { 52.0 } else { 40.0 };
        Self {
            rate: DEFAULT_RATE,
            headers,
            mss: real(found.mss_bytes.unwrap_or(1460).max(1)),
            is_at_sender: false,
        }
    }

    /// Returns the IP bytes of a full packet.
    fn packet(&self) -> f64 {
        self.mss + self.headers
    }

    /// Returns the seconds that a packet takes from the sender through the access link and the bottleneck.
    fn there(&self, payload: f64) -> f64 {
        (payload + self.headers) * 8.0 / self.rate * (1.0 + 1.0 / ACCESS)
    }

    /// Returns the seconds that an acknowledgement takes on the return path.
    fn back(&self) -> f64 {
        self.headers * 8.0 / self.rate / ACCESS
    }

    /// Returns the seconds that the packets of a handshake take. These packets also have the options for MSS and window scale and, without
    /// timestamps, the option for selective acknowledgements.
    fn handshake(&self) -> f64 {
        let more = if self.headers > 40.0 { 8.0 } else { 12.0 };
        self.there(more) + self.back() + more * 8.0 / self.rate / ACCESS
    }
}

/// The path's properties on which the queue depends.
struct Path {
    /// The rate in bits per second, of the simulator's packets.
    rate: f64,
    /// The bits of a full packet.
    packet: f64,
    /// The base RTT in seconds.
    rtt: f64,
    /// The RTT in seconds of a full packet that does not wait.
    empty: f64,
    /// The share of payload in a full packet.
    payload: f64,
}

impl Path {
    /// Returns the seconds that a packet waited at the bottleneck. The time that it waited before the access link, behind packets sent
    /// together with it, is not included.
    fn wait(&self, waited: Waited) -> f64 {
        let ahead = real(waited.ahead_bytes) * 8.0 / self.payload;
        waited.rtt_s - self.empty - ahead / self.rate / ACCESS
    }
}

/// Returns the command for one sender, below comments with the evidence. `program` is the name of this program.
pub(super) fn command(label: &str, found: &Found, seen: &PathSeen, program: &str) -> String {
    let mut asked = Asked::default();
    let mut pace = Pace::new(found);
    let rate = rate(&mut asked, found, seen, &mut pace);
    if let Err(why) = rate {
        asked.leave("--rate", why);
    }
    let rtt = round_trip(&mut asked, found, seen, &pace);
    if rate.is_err() {
        asked.leave("--queue", "without a rate it has no measure");
    } else if let Some(rtt) = rtt {
        let empty = rtt + pace.there(pace.mss) + pace.back();
        let (packet, payload) = (pace.packet() * 8.0, pace.mss / pace.packet());
        queue(&mut asked, found, seen, &Path { rate: pace.rate, packet, rtt, empty, payload });
    }
    stack(&mut asked, seen);
    acknowledgements(&mut asked, seen);
    ends(&mut asked, found);
    data(&mut asked, found, seen, &Idle { pace, rtt: rtt.unwrap_or(0.0) });
    format!("# {}\n{}{program} race{}\n", in_a_line(label), asked.comments, asked.options)
}

/// Sets the rate of the bottleneck, or returns why it is unknown.
fn rate(asked: &mut Asked, found: &Found, seen: &PathSeen, pace: &mut Pace) -> Result<(), &'static str> {
    let (payload, why) = match (seen.rate_bps, found.later_rate_bps) {
        (Some(held), _) => {
            let shown = human::rate(held);
            (
                held,
                format!(
                    "of all runs of 20 consecutive segments a tenth was acknowledged at {shown} of payload or more"
                ),
            )
        }
        (None, Some(later)) => (later, format!("the later rate, {} of payload", human::rate(later))),
        (None, None) => return Err("too little was delivered to measure a rate"),
    };
    let packet = pace.packet();
    let rate = payload * packet / pace.mss;
    let doubt = match (seen.most, found.min_rtt_s) {
        (Some(most), Some(least)) if (most.rtt_s - least) * rate > 3.0 * packet * 8.0 => "",
        _ if found.vantage != Some("sender") => {
            "; neither a queue nor pacing is to be seen away from the sender, so the path may be faster"
        }
        _ => "; no queue was seen, so the path may be faster",
    };
    // The path's rate cannot be seen from the spacing of a paced sender's packets, only from packets that queue or are lost.
    let is_paced = found.pacing.is_some_and(|pacing| pacing != "ack-clocked");
    let has_waited =
        matches!((seen.most, found.min_rtt_s), (Some(most), Some(least)) if most.rtt_s > least * 1.125);
    let is_free = !doubt.is_empty() || !has_waited && found.retransmitted_segments == Some(0);
    // A shaper at the sender delays packets before the capture. All packets are then sent at the shaper's rate, from the first one on.
    let has_waited_at_sender = is_bounded_by(found, "shaper");
    pace.is_at_sender = is_free && is_paced && seen.is_shaped || has_waited_at_sender;
    let doubt = if has_waited_at_sender {
        ", and packets waited at the sender's host before they left: a shaper there is the bottleneck"
    } else if pace.is_at_sender {
        ", and packets left at that rate from the first on: the sender's own link or a shaper there is the bottleneck"
    } else if !doubt.is_empty() && is_bounded_by_application(found) {
        return Err("no queue was seen, and the application set the rate that was");
    } else if is_free && is_paced {
        return Err("the sender paced packets, and next to no queue was seen: the path may be any faster");
    } else {
        doubt
    };
    let shown = rounded(rate, 4).max(1);
    let why = format!("{why}, in IP packets of {packet:.0} bytes{doubt}");
    asked.set("--rate", &show_rate(Rate::from_bps(shown)), &why);
    pace.rate = real(shown);
    Ok(())
}

/// Checks whether the application limited half of the rounds or more. The rate of the data is then not the path's rate.
fn is_bounded_by_application(found: &Found) -> bool {
    found.exit_cause == Some("application") || is_bounded_by(found, "application")
}

/// Checks whether this limit bounded half of the rounds or more.
fn is_bounded_by(found: &Found, limit: &str) -> bool {
    let bounded = found.rounds.iter().filter(|round| round.limit == Some(limit)).count();
    bounded > 0 && 2 * bounded >= found.rounds.len()
}

/// Sets the base RTT: the minimum RTT of the handshake or of full segments, minus the time that a race's own packets take at its links.
/// Returns it in seconds, or `None` if it is unknown.
fn round_trip(asked: &mut Asked, found: &Found, seen: &PathSeen, pace: &Pace) -> Option<f64> {
    // With a shaper at the sender, the queueing and transmission times there are before the capture.
    let pace = &if pace.is_at_sender { Pace { rate: pace.rate * ACCESS, ..*pace } } else { *pace };
    let own = pace.there(pace.mss) + pace.back();
    let of_data = "the minimum RTT of full segments, less the time that one takes at the links";
    let data = seen.full_rtt_s.map(|least| (least - own, of_data));
    let of_the_handshake =
        "the round trip of the handshake, less the time that its packets take at the links";
    let handshake = found.handshake_rtt_s.map(|rtt| (rtt - pace.handshake(), of_the_handshake));
    let other =
        found.min_rtt_s.map(|least| (least - pace.there(0.0) - pace.back(), "the minimum RTT of data"));
    let least = [data, handshake].into_iter().flatten().filter(|(rtt, _)| *rtt > 0.0);
    let least = least.min_by(|a, b| a.0.total_cmp(&b.0)).or(other.filter(|(rtt, _)| *rtt > 0.0));
    let Some((rtt, why)) = least else {
        asked.leave("--rtt", "no round trip was measured");
        return None;
    };
    let nanos = rounded(rtt * 1e9, 4).max(1000);
    asked.set("--rtt", &show_span(Span::from_nanos(nanos)), why);
    Some(real(nanos) / 1e9)
}

/// Rate and times are rounded, so a wait may exceed a whole number of packets by this part of a packet.
const ROUNDING: f64 = 0.02;

fn queue(asked: &mut Asked, found: &Found, seen: &PathSeen, path: &Path) {
    if found.vantage != Some("sender") {
        return asked.leave("--queue", "away from the sender the wait in a queue is not to be seen");
    }
    let Some(most) = seen.most else {
        return asked.leave("--queue", "too few round trips were measured");
    };
    let [usual, high] = seen.at_loss.unwrap_or_default().map(|waited| path.wait(waited));
    let wait = path.wait(most).max(high).max(0.0);
    let has_lost = found.retransmitted_segments.is_some_and(|again| again > found.spurious_segments);
    // The packet in transmission is counted, although part of it has been sent when another packet arrives.
    let packets = |wait: f64| whole((wait * path.rate / path.packet - ROUNDING).ceil()) + 1;
    let was_full = usual >= 0.75 * wait && packets(wait) > 2;
    let is_full = has_lost && was_full;
    // In a full queue, the last packets before a loss waited for the whole queue. If a packet waited longer, it was at the hosts.
    let wait = if is_full { high } else { wait };
    let packets = packets(wait);
    let waited = format!("packets waited up to {}, {packets} packets at this rate", human::seconds(wait));
    if is_full {
        let why = format!("{waited}, and were lost then");
        return asked.set("--queue", &format!("{packets}p"), &why);
    }
    let why = match (has_lost, found.exit_cause) {
        (_, Some("mark")) => {
            format!("{waited}, and were marked: the capture does not show which queue marks so")
        }
        (true, _) => format!(
            "{waited}, and what was lost was lost sooner: that is not this queue's, and --loss may be it"
        ),
        (false, _) => format!("{waited}, and none was lost: it has room for these at least"),
    };
    if path.rate * path.rtt / path.packet >= real(packets) {
        return asked.leave("--queue", &why);
    }
    asked.set("--queue", &format!("{}p", 2 * packets), &format!("a guess, twice what was seen: {why}"));
}

/// Sets the sender's stack, if the connection shows a difference between the RFCs and Linux.
fn stack(asked: &mut Asked, seen: &PathSeen) {
    if seen.is_linux {
        asked.set("--stack", "linux", "the options of the sender's SYN are those of Linux, in its order");
    } else {
        asked.leave("--stack", "the sender's SYN has not the options of Linux in its order");
    }
}

fn acknowledgements(asked: &mut Asked, seen: &PathSeen) {
    let [one, two, more] = seen.later_acks;
    let later = one + two + more;
    if later < 8 {
        return asked.leave("--ack", "too few acknowledgements without losses were seen");
    }
    let overview = format!(
        "{} of the first {} ACKs acknowledged one segment alone; of {later} later ones {one} of one, {two} of two, {more} of more",
        seen.quick_acks, seen.first_acks
    );
    let policy = if 2 * one > later {
        "every"
    } else if seen.quick_acks + 1 >= seen.first_acks {
        "linux"
    } else {
        "delayed"
    };
    let nearest = if 2 * more > later { "; the nearest there is" } else { "" };
    asked.set("--ack", policy, &format!("{overview}{nearest}"));
}

/// Sets the options that the two ends agreed on, and the windows of the ends.
fn ends(asked: &mut Asked, found: &Found) {
    match (found.initial_window_segments, found.initial_window_limit) {
        (Some(segments), Some("window")) => {
            asked.set(
                "--iw",
                &format!("{segments}p"),
                "sent before the first acknowledgement, with more to send",
            );
        }
        (Some(segments), Some("receiver-window")) => {
            let why =
                "the receiver's window bounded what was sent first: the initial window may be any larger";
            asked.set("--iw", &format!("{segments}p"), why);
        }
        (Some(segments), Some(_)) => {
            asked.leave("--iw", &format!("the application bounded what was sent first, {segments} segments"));
        }
        (Some(_), None) => asked.leave("--iw", reason(found, "initial_window_limit")),
        (None, _) => asked.leave("--iw", reason(found, "initial_window_segments")),
    }
    match found.mss_bytes {
        Some(mss) => asked.set("--mss", &mss.to_string(), "payload of a full segment, by the SYNs' options"),
        None => asked.leave("--mss", reason(found, "mss_bytes")),
    }
    match found.timestamps {
        Some(true) => asked.set("--timestamps", "", "both SYNs had them"),
        Some(false) => {}
        None => asked.leave("--timestamps", reason(found, "timestamps")),
    }
    if found.ecn == Some(true) {
        asked.leave("--ecn", "both ends agreed on ECN, but the capture does not show a queue that marks");
    }
    receiver_window(asked, found);
}

/// Sets the receiver's window. A window that grew during the connection is left out, because it does not limit another transfer.
fn receiver_window(asked: &mut Asked, found: &Found) {
    // The window in a SYN is not scaled, so it may limit the first round but no later one.
    let later = found.rounds.iter().skip(1);
    let full = later.clone().filter(|round| round.limit == Some("receiver-window"));
    let peaks: Vec<u64> = full.map(|round| round.flight_peak_bytes).collect();
    let Some((least, most)) = peaks.iter().min().zip(peaks.iter().max()) else {
        return asked.leave("--rwnd", "it bounded no round that was seen");
    };
    let highest = later.map(|round| round.flight_peak_bytes).max().unwrap_or(0);
    if highest > *most || 8 * least < 7 * most {
        let why = format!(
            "it bounded rounds with {least} to {most} bytes in flight, and grew: up to {highest} bytes were in flight"
        );
        return asked.leave("--rwnd", &why);
    }
    let why = "the maximum flight of rounds that the receiver's window bounded";
    asked.set("--rwnd", &show_bytes(Bytes::new(*most)), why);
}

/// Sets how much data was sent, and when.
fn data(asked: &mut Asked, found: &Found, seen: &PathSeen, idle: &Idle) {
    let bytes = |bytes: u64| show_bytes(Bytes::new(bytes));
    let starved = found.rounds.iter().filter(|round| round.limit == Some("application")).count();
    // A capture may end before the last acknowledgement.
    let once =
        found.bytes_sent.zip(found.retransmitted_bytes).map_or(0, |(sent, again)| sent - again.min(sent));
    let size =
        found.bytes_acked.max(once.saturating_add(found.unseen_bytes)).saturating_sub(found.syn_data_bytes);
    if size == 0 {
        return asked.leave("--size", "no data was seen");
    }
    let mut periods = seen.periods.clone();
    if let Some(last) = periods.last_mut() {
        *last += size.saturating_sub(found.bytes_acked.saturating_sub(found.syn_data_bytes));
    }
    periods.retain(|bytes| *bytes > 0);
    // If there are more idle times than the capture's records keep, the last period has the rest of the data.
    let count = found.idle_restarts_total + 1;
    if count > periods.len() as u64 && seen.pauses.len() + 1 == periods.len() {
        periods.pop();
    }
    let is_known = count == periods.len() as u64 || periods.len() == seen.pauses.len();
    let (least, most) =
        (periods.iter().min().copied().unwrap_or(0), periods.iter().max().copied().unwrap_or(0));
    let mut pauses: Vec<f64> = seen.pauses.iter().map(|pause| idle.of(pause)).collect();
    pauses.sort_by(f64::total_cmp);
    if periods.len() < 2 || most == 0 {
        asked.set("--size", &bytes(size), "payload without retransmissions");
    } else if is_known
        && 4 * most <= 5 * least
        && let Some(idle) = pauses.get(pauses.len() / 2)
    {
        let mean = periods.iter().sum::<u64>() / periods.len() as u64;
        let why = format!("busy periods of {least} to {most} bytes, with idle times between them");
        asked.set("--rounds", &count.to_string(), &why);
        asked.set("--size", &bytes(mean), "their mean");
        let why = "their median, from the last byte's arrival at the receiver to new data";
        asked.set("--idle", &show_span(Span::from_nanos(rounded(idle * 1e9, 3).max(1))), why);
        return;
    } else {
        let why = format!(
            "the busy period that brought most; {} others brought {} bytes, and a race without rounds has one alone",
            found.idle_restarts_total,
            size.saturating_sub(most)
        );
        asked.set("--size", &bytes(most), &why);
    }
    if starved > 0 {
        asked.leave(
            "--app",
            &format!(
                "the application bounded {starved} rounds, but the capture does not show what it wrote when"
            ),
        );
    }
}

/// The values for a sender's idle times as a race counts them: from the arrival of the last byte at the receiver to the next new data.
struct Idle {
    pace: Pace,
    /// The base RTT in seconds.
    rtt: f64,
}

impl Idle {
    fn of(&self, pause: &Pause) -> f64 {
        let Self { pace, rtt } = self;
        let back = rtt / 2.0 + pace.back();
        // The last byte arrived before its acknowledgement was sent.
        let since_acknowledged = pause.acked_s + back;
        // That acknowledgement may have been delayed in expectation of more data. Without a delay, the byte arrived after its packet's own
        // time on the path, or after the data acknowledged before it.
        let since_sent = pause.sent_s - rtt / 2.0 - pace.there(real(pause.sent_bytes.min(whole(pace.mss))));
        let since_before = pause.before.map_or(f64::INFINITY, |(since, open)| {
            let packets = (real(open) / pace.mss).ceil();
            since + back - (real(open) + packets * pace.headers) * 8.0 / pace.rate
        });
        since_acknowledged.max(since_sent.min(since_before))
    }
}

fn reason<'a>(found: &'a Found, field: &str) -> &'a str {
    found.undefined.get(field).map_or("it is unknown", String::as_str)
}

/// Rounds a value to this many significant digits.
fn rounded(value: f64, digits: u32) -> u64 {
    let digits = value.max(1.0).log10().floor() + 1.0 - f64::from(digits);
    let grain = 10_f64.powf(digits.max(0.0));
    whole((value / grain).round() * grain)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "negative and huge values saturate"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn real(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_inspect::FoundRound;

    /// Returns the value of `--rwnd`. Each round has its maximum flight in bytes, and whether the receiver's window limited it.
    fn window(rounds: &[(u64, bool)]) -> String {
        let round = |&(flight_peak_bytes, is_bounded): &(u64, bool)| FoundRound {
            flight_peak_bytes,
            limit: is_bounded.then_some("receiver-window"),
            ..FoundRound::default()
        };
        let rounds = rounds.iter().map(round).collect();
        let mut asked = Asked::default();
        receiver_window(&mut asked, &Found { rounds, ..Found::default() });
        asked.options
    }

    #[test]
    fn a_window_that_grew_is_no_bound_of_another_transfer() {
        assert_eq!(
            window(&[(14_000, true), (28_000, false), (64_000, true), (63_000, true)]),
            " --rwnd 64kB"
        );
        assert_eq!(window(&[(14_000, true), (64_000, true), (128_000, true), (128_000, true)]), "");
        assert_eq!(window(&[(14_000, false), (64_000, true), (90_000, false)]), "");
        assert_eq!(window(&[(64_000, true), (20_000, false)]), "", "the window of a SYN is not scaled");
    }
}
