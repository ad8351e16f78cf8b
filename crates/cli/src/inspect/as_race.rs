//! `--as-race`: the command that races schemes over the path that a capture saw, with the evidence of each value.

use std::fmt::Write as _;

use firstflight::{Bytes, Rate, Span};
use firstflight_inspect::{Found, PathSeen};
use firstflight_report::human;
use firstflight_scenario::quantity::{in_a_line, show_bytes, show_rate, show_span};

/// Options and the comments that say why.
#[derive(Default)]
struct Asked {
    comments: String,
    options: String,
}

impl Asked {
    /// An option, and its evidence.
    fn set(&mut self, option: &str, value: &str, why: &str) {
        let space = if value.is_empty() { "" } else { " " };
        let _ = writeln!(self.comments, "# {option}{space}{value}: {why}");
        let _ = write!(self.options, " {option}{space}{value}");
    }

    /// An option that is left to its default, and why.
    fn leave(&mut self, option: &str, why: &str) {
        let _ = writeln!(self.comments, "# {option} is left to its default: {why}");
    }
}

/// What the other options hang on.
struct Path {
    /// Bits a second of the simulator's packets.
    rate: f64,
    /// Bits of a full packet.
    packet: f64,
    /// Base round trip, s.
    rtt: f64,
}

/// The command for one sender, below comments; `program` is its name.
pub(super) fn command(label: &str, found: &Found, seen: &PathSeen, program: &str) -> String {
    let mut asked = Asked::default();
    if let Some(path) = path(&mut asked, found, seen) {
        queue(&mut asked, found, seen, &path);
    }
    acknowledgements(&mut asked, seen);
    ends(&mut asked, found);
    data(&mut asked, found, seen);
    format!("# {}\n{}{program} race{}\n", in_a_line(label), asked.comments, asked.options)
}

/// Rate and round trip.
fn path(asked: &mut Asked, found: &Found, seen: &PathSeen) -> Option<Path> {
    let mss = real(found.mss_bytes.unwrap_or(1460).max(1));
    let packet = mss + if found.timestamps == Some(true) { 52.0 } else { 40.0 };
    let held = seen.rate_bps;
    let rate = match (held, found.later_rate_bps) {
        (Some(held), _) => {
            let shown = human::rate(held);
            Some((
                held,
                format!("of all 20 segments in a row a tenth was acknowledged at {shown} of payload or more"),
            ))
        }
        (None, Some(later)) => Some((later, format!("the later rate, {} of payload", human::rate(later)))),
        (None, None) => None,
    };
    let Some((payload, why)) = rate else {
        asked.leave("--rate", "too little was delivered to tell a rate");
        round_trip(asked, found, 0.0);
        asked.leave("--queue", "without a rate it has no measure");
        return None;
    };
    let rate = payload * packet / mss;
    let doubt = match (seen.most_rtt_s, found.min_rtt_s) {
        (Some(most), Some(least)) if (most - least) * rate > 3.0 * packet * 8.0 => "",
        _ => "; no queue was seen, so the path may be faster",
    };
    if !doubt.is_empty() && is_bounded_by_application(found) {
        asked.leave("--rate", "no queue was seen, and the application set the rate that was");
        round_trip(asked, found, 0.0);
        asked.leave("--queue", "without a rate it has no measure");
        return None;
    }
    let shown = rounded(rate);
    let why = format!("{why}, in IP packets of {packet:.0} bytes{doubt}");
    asked.set("--rate", &show_rate(Rate::from_bps(shown.max(1))), &why);
    let rtt = round_trip(asked, found, packet * 8.0 / rate)?;
    Some(Path { rate, packet: packet * 8.0, rtt })
}

/// Whether the application bounded half of the rounds or more: the rate of its data is then none of the path.
fn is_bounded_by_application(found: &Found) -> bool {
    let bounded = found.rounds.iter().filter(|round| round.limit == Some("application")).count();
    found.exit_cause == Some("application") || bounded > 0 && 2 * bounded >= found.rounds.len()
}

/// The base round trip: the least that was seen, of the handshake or of data less a packet's own time at the bottleneck.
fn round_trip(asked: &mut Asked, found: &Found, own: f64) -> Option<f64> {
    let data =
        found.min_rtt_s.map(|least| (least - own, "the least round trip of data, less a packet's own time"));
    let data = data.filter(|(rtt, _)| *rtt > 0.0);
    let handshake = found.handshake_rtt_s.map(|rtt| (rtt, "the round trip of the handshake"));
    let least = [data, handshake].into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((rtt, why)) = least.filter(|(rtt, _)| *rtt > 0.0) else {
        asked.leave("--rtt", "no round trip was measured");
        return None;
    };
    let micros = whole(rtt * 1e6).max(1);
    asked.set("--rtt", &show_span(Span::from_nanos(micros * 1000)), why);
    Some(rtt)
}

fn queue(asked: &mut Asked, found: &Found, seen: &PathSeen, path: &Path) {
    if found.vantage != Some("sender") {
        return asked.leave("--queue", "away from the sender the wait in a queue is not to be seen");
    }
    let (Some(most), Some(least)) = (seen.most_rtt_s, found.min_rtt_s) else {
        return asked.leave("--queue", "too few round trips were measured");
    };
    let wait = (most - least).max(0.0);
    // The one in transmission counts.
    let packets = whole(wait * path.rate / path.packet) + 1;
    let waited = format!("packets waited up to {}, {packets} packets at this rate", human::seconds(wait));
    let has_lost = found.retransmitted_segments.is_some_and(|again| again > found.spurious_segments);
    let was_full = seen.rtt_at_loss_s.is_some_and(|at| at - least >= 0.75 * wait) && packets > 2;
    if has_lost && was_full {
        let why = format!("{waited}, and were lost then");
        return asked.set("--queue", &format!("{packets}p"), &why);
    }
    let why = match (has_lost, found.exit_cause) {
        (_, Some("mark")) => format!("{waited}, and were marked: which queue marks so is not told"),
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

fn acknowledgements(asked: &mut Asked, seen: &PathSeen) {
    let [one, two, more] = seen.later_acks;
    let later = one + two + more;
    if later < 8 {
        return asked.leave("--ack", "too few acknowledgements without losses were seen");
    }
    let told = format!(
        "{} of the first {} ACKs told of one segment alone; of {later} later ones {one} of one, {two} of two, {more} of more",
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
    asked.set("--ack", policy, &format!("{told}{nearest}"));
}

/// What the two ends agreed on, and their windows.
fn ends(asked: &mut Asked, found: &Found) {
    match (found.initial_window_segments, found.initial_window_limit) {
        (Some(segments), Some("window")) => {
            asked.set(
                "--iw",
                &format!("{segments}p"),
                "sent before the first acknowledgement, with more to send",
            );
        }
        (Some(segments), Some(limit)) => {
            let whose = if limit == "application" { "the application" } else { "the receiver's window" };
            asked.leave("--iw", &format!("{whose} bounded what was sent first, {segments} segments"));
        }
        (_, _) => asked.leave("--iw", reason(found, "initial_window_segments")),
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
        asked.leave("--ecn", "both ends agreed on ECN, but a queue that marks is not told");
    }
    let full = found.rounds.iter().filter(|round| round.limit == Some("receiver-window"));
    if let Some(window) = full.map(|round| round.flight_peak_bytes).max() {
        let why = "the most in flight in rounds that the receiver's window bounded";
        asked.set("--rwnd", &show_bytes(Bytes::new(window)), why);
    } else {
        asked.leave("--rwnd", "it bounded no round that was seen");
    }
}

/// How much was sent, and when.
fn data(asked: &mut Asked, found: &Found, seen: &PathSeen) {
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
    let (least, most) =
        (periods.iter().min().copied().unwrap_or(0), periods.iter().max().copied().unwrap_or(0));
    let are_all = found.idle_restarts_total + 1 == periods.len() as u64;
    let mut idle: Vec<f64> = found.idle_restarts.iter().map(|restart| restart.idle_s).collect();
    idle.sort_by(f64::total_cmp);
    if periods.len() < 2 || most == 0 {
        asked.set("--size", &bytes(size), "payload, what was sent again left out");
    } else if are_all
        && 4 * most <= 5 * least
        && let Some(idle) = idle.get(idle.len() / 2)
    {
        let mean = periods.iter().sum::<u64>() / periods.len() as u64;
        let why = format!("busy periods of {least} to {most} bytes, with idle times between them");
        asked.set("--rounds", &periods.len().to_string(), &why);
        asked.set("--size", &bytes(mean), "their mean");
        asked.set("--idle", &show_span(Span::from_nanos(whole(idle * 1e6).max(1) * 1000)), "their median");
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
            &format!("the application bounded {starved} rounds, but what it wrote when is not told"),
        );
    }
}

fn reason<'a>(found: &'a Found, field: &str) -> &'a str {
    found.undefined.get(field).map_or("it is not told", String::as_str)
}

/// With four significant digits.
fn rounded(value: f64) -> u64 {
    let digits = value.max(1.0).log10().floor() - 3.0;
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
