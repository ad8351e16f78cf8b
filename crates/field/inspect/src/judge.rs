//! Derives the reported results from the final state of a connection.

use crate::connection::{Connection, Side};
use crate::curve::later;
use crate::ecn::Feedback;
use crate::events::Restart;
use crate::exit::{Cause, Exit, Unsure};
use crate::found::{Found, FoundRestart, FoundRound};
use crate::handshake::{Host, Place};
use crate::reason::{DISPLACED, NO_START, SET_BACK, no_start, no_syns, no_times};
use crate::rounds::{MAX_ROUNDS, Round, are_shaped};
use crate::sender::{FIRST, Sender};

const NO_OPTIONS: &str = "the SYNs' options are not all in the capture";
const SCALED: &str =
    "the SYNs' options are not all in the capture; data beyond the window as it stands proves a scale";
const NO_DATA: &str = "this host sent no data";
const NO_ACKS: &str = "no acknowledgement of this host's data is in the capture";
const EARLY_GAPS: &str = "packets of the first rounds are missing from the capture";
const UNSEEN_DATA: &str = "the data that this host sent is not in the capture";
const LOST: &str =
    "packets between the first round and the second were lost before the capture: which round's is not known";
const LESSER: &str = "where the capture was taken is given by the other direction, which has more data; give the address of the capture's host";
const NO_SCALE: &str =
    "the window's scale is not in the capture: whether the receiver's window bounded it is not known";

const REPLACED: &str =
    "a new SYN of the same ports ended the connection before an end of start-up could be seen";
const UNDECIDED: &str = "a paced sender lost packets, and its flight was hardly lower behind them, or its data ended: whether it left \
     start-up for that is not to be seen";
const UNDECIDED_NO_SACK: &str = "a paced sender lost packets, and without selective acknowledgements its flight is not known: whether it \
     left start-up for that is not to be seen";

const UNDECIDED_FEW: &str = "a paced sender lost packets with fewer than sixteen segments in flight: whether it left start-up for that is \
     not to be seen";
const PASSED: &str = "BBR-like: a paced sender that ignores losses left start-up between `exit_after_s` and `exit_before_s`: whether for its rate, for \
     losses or for a limit is not to be seen";
const PASSED_TO_THE_END: &str = "BBR-like: a paced sender that ignores losses had a level flight from `exit_after_s` on to the end: whether it left start-up \
     is not to be seen";
const NEVER_GREW: &str = "the flight of a paced sender was never larger than its first packets: whether it was in start-up is not to be \
     seen";
const BEFORE_PAUSE: &str = "behind an idle time the flight grew to no more than twice what it was before: start-up may have ended before it, \
     in the last round trips, and whether it did is not to be seen";
const TAIL: &str = "only the last segment was retransmitted after a silence: either a tail loss probe, which is no loss, or a timeout";

/// Returns the results for `host` as a sender in connection number `number`.
pub(crate) fn judge(number: usize, connection: &Connection, host: Host) -> Found {
    let side = &connection.hosts[host];
    let sender = &side.sender;
    let mut found = Found {
        connection: number as u64,
        from: connection.ends[host].to_string(),
        to: connection.ends[1 - host].to_string(),
        began_at_s: seconds(connection.first_at),
        duration_s: seconds(connection.clock.last - connection.first_at),
        ..Found::default()
    };
    if let Some(layer) = connection.layers.as_ref().and_then(|layers| layers[host]) {
        found.tunnel = Some(layer.to_string());
        let [from, to] =
            layer.ends.map(|end| end.map(|end| end.to_string())).map_or([None, None], |ends| ends.map(Some));
        (found.outer_from, found.outer_to) = (from, to);
    }
    let opened = connection.hosts[0].saw_syn || connection.hosts[1].saw_syn;
    found.role = opened.then_some(if host == 0 { "client" } else { "server" });
    if !opened {
        found.lacks(["role"], NO_START);
    }
    path(&mut found, connection, host);
    options(&mut found, connection, host);
    counts(&mut found, connection, host);
    if sender.instants.first_data.is_some() {
        let exit = start_up(&mut found, connection, host);
        rounds(&mut found, sender);
        later_rate(&mut found, side.saw_syn, sender, exit);
        restarts(&mut found, sender);
        transfer(&mut found, sender, connection.is_over(host));
        set_back(&mut found, connection, sender, exit);
        displaced(&mut found, connection);
    } else {
        let is_unseen = found.bytes_acked > found.syn_data_bytes;
        let why = no_syns(connection).filter(|_| opened && !is_unseen);
        let why = why.unwrap_or(if is_unseen { UNSEEN_DATA } else { NO_DATA });
        found.lacks(STARTUP_FIELDS, why);
        found.lacks(["later_rate_bps"], why);
        found.lacks(TRANSFER_FIELDS, why);
    }
    found
}

/// Fields about the first transfer.
const TRANSFER_FIELDS: [&str; 4] = ["transfer_s", "transfer_bytes", "time_to_100kb_s", "time_to_1mb_s"];

/// Reports how long the first transfer took. `is_over` says whether the connection ended.
fn transfer(found: &mut Found, sender: &Sender, is_over: bool) {
    let transfer = &sender.transfer;
    if found.vantage != Some("sender") {
        found.lacks(TRANSFER_FIELDS, "away from the sender, the time of its first data is not to be seen");
        return;
    }
    if sender.lacks_acks() {
        found.lacks(TRANSFER_FIELDS, NO_ACKS);
        return;
    }
    let [early, late] = transfer.reached().map(|time| time.map(seconds));
    (found.time_to_100kb_s, found.time_to_1mb_s) = (early, late);
    if early.is_none() {
        found.lacks(["time_to_100kb_s"], "fewer bytes of the first transfer were acknowledged");
    }
    if late.is_none() {
        found.lacks(["time_to_1mb_s"], "fewer bytes of the first transfer were acknowledged");
    }
    let whole = transfer.whole().filter(|_| is_over || transfer.is_over());
    found.transfer_s = whole.map(|(_, time)| seconds(time));
    found.transfer_bytes = whole.map(|(bytes, _)| bytes);
    if whole.is_none() {
        let why = if is_over {
            "the connection ended before all that was sent was acknowledged"
        } else {
            "the transfer goes on"
        };
        found.lacks(["transfer_s", "transfer_bytes"], why);
    }
}

/// Fields that are undefined for a host that sent nothing.
const STARTUP_FIELDS: [&str; 14] = [
    "min_rtt_s",
    "initial_window_bytes",
    "initial_window_segments",
    "initial_window_limit",
    "initial_window_spread",
    "back_to_back",
    "ack_triggered",
    "pacing",
    "exit_cause",
    "exit_time_s",
    "exit_round",
    "exit_flight_bytes",
    "overshoot_segments",
    "time_to_90pct_s",
];

fn path(found: &mut Found, connection: &Connection, host: Host) {
    let handshake = &connection.handshake;
    let Some([to_answerer, to_opener]) = handshake.parts() else {
        let why = no_times(connection);
        found.vantage = connection.own.map(|own| if own == host { "sender" } else { "receiver" });
        found.lacks(found.vantage.is_none().then_some("vantage"), &why);
        found.lacks(["handshake_rtt_s", "rtt_to_sender_s", "rtt_to_receiver_s"], &why);
        return;
    };
    let place = connection.place_of(host);
    found.vantage = place.map(|place| match place {
        Place::At(at) if at == host => "sender",
        Place::At(_) => "receiver",
        Place::Between => "between",
    });
    if connection.hosts.iter().any(Side::repeated_its_syn) {
        let is_all_twice = connection.hosts.iter().any(|side| side.sender.is_all_twice());
        let why = if is_all_twice {
            "the SYN passed twice, as nearly all packets did: which of them is the copy is not known"
        } else {
            "a SYN was retransmitted: which one was answered is unknown"
        };
        if is_all_twice {
            found.vantage = None;
            found.lacks(["vantage"], why);
        }
        found.lacks(["handshake_rtt_s", "rtt_to_sender_s", "rtt_to_receiver_s"], why);
        return;
    }
    found.handshake_rtt_s = place.and_then(|place| handshake.round_trip(place)).map(seconds);
    let [sender, receiver] = if host == 0 { [to_opener, to_answerer] } else { [to_answerer, to_opener] };
    found.rtt_to_sender_s = Some(seconds(sender));
    found.rtt_to_receiver_s = Some(seconds(receiver));
}

fn options(found: &mut Found, connection: &Connection, host: Host) {
    let sender = &connection.hosts[host].sender;
    found.mss_bytes = sender.setting.mss_option.map(|_| sender.mss());
    let syns = [0, 1].map(|host| connection.hosts[host].syn);
    let cut = connection.hosts.iter().any(|side| side.options_cut);
    let mut missing = vec![];
    if let [Some(one), Some(other)] = syns {
        let known = |is: bool| (is || !cut).then_some(is);
        found.sack = known(one.sack_permitted && other.sack_permitted);
        found.timestamps = known(one.timestamps.is_some() && other.timestamps.is_some());
    }
    missing.extend(found.sack.is_none().then_some("sack"));
    missing.extend(found.timestamps.is_none().then_some("timestamps"));
    found.ecn = connection.feedback().map(|feedback| feedback != Feedback::None);
    found.ecn_feedback = match connection.feedback() {
        Some(Feedback::Classic) => Some("rfc3168"),
        Some(Feedback::Accurate) => Some("accecn"),
        Some(Feedback::None) => None,
        None => {
            missing.push("ecn");
            None
        }
    };
    if found.ecn_feedback.is_none() {
        let why = no_syns(connection).unwrap_or("the ends did not agree on ECN");
        found.lacks(["ecn_feedback"], why);
    }
    found.window_scale = connection.scale_of(host);
    found.receiver_window_scale = connection.scale_of(1 - host);
    if found.window_scale.is_none() {
        missing.extend(["window_scale", "receiver_window_scale"]);
    }
    if found.mss_bytes.is_none() {
        missing.push("mss_bytes");
    }
    found.lacks(missing, no_syns(connection).unwrap_or(NO_OPTIONS));
    if found.receiver_window_scale.is_none() && sender.proves_a_scale() {
        found.lacks(["receiver_window_scale"], SCALED);
    }
}

fn counts(found: &mut Found, connection: &Connection, host: Host) {
    let side = &connection.hosts[host];
    let counts = side.sender.counts;
    let is_clear = !side.sender.has_copies();
    let count = |count: u64| is_clear.then_some(count);
    found.segments_sent = count(counts.segments + side.empty_packets);
    found.data_segments_sent = count(counts.data_segments);
    found.bytes_sent = count(counts.bytes);
    found.bytes_acked = side.sender.board.una.saturating_sub(FIRST);
    found.retransmitted_segments = count(counts.resent_segments);
    found.retransmitted_bytes = count(counts.resent_bytes);
    found.spurious_segments = counts.spurious_segments;
    found.timeouts_suspected = count(counts.timeouts);
    found.unseen_bytes = counts.unseen_bytes;
    found.duplicates = counts.duplicates;
    found.reordered = counts.reordered;
    found.out_of_window = counts.out_of_window;
    found.syn_data_bytes = counts.syn_data;
    let nanos = connection.clock.last - connection.first_at;
    let lacks_acks = side.sender.lacks_acks();
    found.throughput_bps = (nanos > 0 && !lacks_acks).then(|| ratio(found.bytes_acked * 8, nanos) * 1e9);
    if lacks_acks {
        found.lacks(["throughput_bps"], NO_ACKS);
    } else if nanos == 0 {
        found.lacks(["throughput_bps"], "the connection took no time");
    }
}

/// Determines the initial window, the pacing and the exit.
fn start_up(found: &mut Found, connection: &Connection, host: Host) -> Option<Exit> {
    let sender = &connection.hosts[host].sender;
    found.min_rtt_s = sender.rtt.least().map(seconds);
    if let Some(why) = copied(sender) {
        found.min_rtt_s = None;
        found.lacks(["min_rtt_s"], &why);
        found.lacks(COUNT_FIELDS, &why);
    }
    if connection.handshake.disorder.is_some() {
        found.min_rtt_s = None;
        found.lacks(["min_rtt_s"], &no_times(connection));
    } else if found.min_rtt_s.is_none() && !sender.has_copies() {
        let why = if sender.lacks_acks() { NO_ACKS } else { "no data that was sent once was acknowledged" };
        found.lacks(["min_rtt_s"], why);
    }
    let lesser = || connection.is_lesser(host).then(|| LESSER.to_owned());
    if connection.is_lesser(host) {
        found.min_rtt_s = None;
        found.lacks(["min_rtt_s"], LESSER);
    }
    let gaps = || has_early_gaps(sender).then(|| EARLY_GAPS.to_owned());
    let copies = || copied(sender);
    if let Some(why) = no_start(connection, host).or_else(lesser).or_else(copies).or_else(gaps) {
        found.lacks(STARTUP_FIELDS[1..13].iter().copied(), &why);
        return None;
    }
    initial_window(found, sender);
    let exit = if found.vantage == Some("sender") {
        end_of_start_up(found, connection, host)
    } else {
        unseen_end(found)
    };
    pacing(found, &sender.rounds.kept, exit);
    exit
}

/// Marks the exit as undefined if the capture was taken away from the sender. After a bottleneck, packets arrive at its rate however many
/// are in flight, so growth of the flight is not visible.
fn unseen_end(found: &mut Found) -> Option<Exit> {
    let why = "away from the sender, what is in flight is not to be seen";
    found.lacks(["exit_cause", "exit_time_s", "exit_round", "exit_flight_bytes", "overshoot_segments"], why);
    None
}

fn end_of_start_up(found: &mut Found, connection: &Connection, host: Host) -> Option<Exit> {
    let (sender, is_over) = (&connection.hosts[host].sender, connection.is_over(host));
    let exit = sender.exit();
    if let Some(Exit { unsure: Some(unsure), flight, at, until, .. }) = exit {
        let why = match unsure {
            Unsure::Passed => passed(found, sender, at, until),
            Unsure::NeverGrew => NEVER_GREW.to_owned(),
            Unsure::BeforePause => BEFORE_PAUSE.to_owned(),
            Unsure::Tail => TAIL.to_owned(),
            Unsure::Heeded if !sender.board.has_sack => UNDECIDED_NO_SACK.to_owned(),
            Unsure::Heeded if flight < 16 * sender.mss() => UNDECIDED_FEW.to_owned(),
            Unsure::Heeded => UNDECIDED.to_owned(),
        };
        let fields = ["exit_cause", "exit_time_s", "exit_round", "exit_flight_bytes", "overshoot_segments"];
        found.lacks(fields, &why);
        return None;
    }
    let first = sender.instants.first_data.unwrap_or(0);
    let is_long = sender.rounds.count - sender.rounds.before > MAX_ROUNDS as u64;
    let is_unsure = sender.has_raw_windows() && exit.is_some_and(|exit| exit.cause == Cause::ReceiverWindow);
    let is_shaped = are_shaped(sender.rounds.of_period());
    let is_seen = (is_over || is_long) && !is_shaped;
    found.exit_cause = exit.map(|exit| exit.cause.name()).or(is_seen.then_some("none"));
    if let Some(exit) = exit {
        found.exit_time_s = Some(seconds(exit.at.saturating_sub(first)));
        found.exit_round = Some(exit.round as u64 + 1);
        found.exit_flight_bytes = Some(exit.flight);
        found.overshoot_segments = Some(overshoot(sender, &exit));
        if is_unsure {
            found.exit_cause = None;
            found.lacks(["exit_cause"], NO_SCALE);
        }
    } else {
        let why = if is_shaped {
            found.lacks(["exit_cause"], SHAPED);
            SHAPED.to_owned()
        } else if is_long {
            format!("start-up took more than {MAX_ROUNDS} rounds")
        } else if is_over {
            unended(sender).to_owned()
        } else {
            let why = if connection.is_replaced {
                REPLACED
            } else {
                "the capture ends before start-up did, and before the connection"
            };
            found.lacks(["exit_cause"], why);
            why.to_owned()
        };
        found.lacks(["exit_time_s", "exit_round", "exit_flight_bytes", "overshoot_segments"], &why);
    }
    exit
}

/// Records that a sender ignores losses, and the interval in which it ended start-up. Returns the reason why its exit has no cause.
fn passed(found: &mut Found, sender: &Sender, at: u64, until: Option<u64>) -> String {
    let since = |at: u64| seconds(at.saturating_sub(sender.instants.first_data.unwrap_or(0)));
    found.ignores_loss = Some(true);
    found.exit_after_s = Some(since(at));
    found.exit_before_s = until.map(since);
    if until.is_some() { PASSED } else { PASSED_TO_THE_END }.to_owned()
}

/// The reason for undefined fields if packets waited at the sender's host.
const SHAPED: &str = "packets waited at the sender's host before they were captured, as behind a shaper: more data was written (no PSH), \
                      and it left only after the flight had been acknowledged";

/// Returns the reason why a start-up has no end although the connection ended.
fn unended(sender: &Sender) -> &'static str {
    let rounds = sender.rounds.of_period();
    if rounds.len() > 1 && rounds.last().is_some_and(|round| round.by_application) {
        "the application had nothing more to send before an end of start-up could be seen"
    } else if sender.counts.restarts > 0 {
        "the data between any two idle times ended before an end of start-up could be seen"
    } else {
        "the data ended before an end of start-up could be seen"
    }
}

/// Fields that include captured copies if these cannot be distinguished from retransmissions.
const COUNT_FIELDS: [&str; 6] = [
    "segments_sent",
    "data_segments_sent",
    "bytes_sent",
    "retransmitted_segments",
    "retransmitted_bytes",
    "timeouts_suspected",
];

/// Returns the reason why the number of retransmissions is unknown; `None` if it is known.
fn copied(sender: &Sender) -> Option<String> {
    let counts = &sender.counts;
    sender.has_copies().then(|| {
        if sender.is_all_twice() {
            return format!(
                "{} of {} segments passed again, and no other measures an RTT: the capture has packets twice, as it seems, and \
                 nothing in them distinguishes copies from retransmissions",
                counts.resent_segments, counts.data_segments
            );
        }
        format!(
            "{} of {} segments passed again sooner than an RTT: the capture has packets twice, as it seems, and \
             nothing in them distinguishes copies from retransmissions",
            counts.too_soon, counts.data_segments
        )
    })
}

/// Checks whether packets of the first rounds are missing from the capture.
fn has_early_gaps(sender: &Sender) -> bool {
    sender.rounds.kept.iter().take(2).any(|round| round.has_gaps)
}

fn initial_window(found: &mut Found, sender: &Sender) {
    let Some(round) = sender.rounds.kept.first() else { return };
    let fields =
        ["initial_window_bytes", "initial_window_segments", "initial_window_limit", "initial_window_spread"];
    if round.resent > 0 {
        let why = "something was retransmitted before the first acknowledgement";
        found.lacks(fields, why);
        return;
    }
    if sender.rounds.kept.get(1).is_some_and(|next| next.begins_behind_hole) {
        found.lacks(fields, LOST);
        return;
    }
    if let Some(next) = sender.rounds.kept.get(1)
        && blurs(sender, round, next)
    {
        let why = "where the capture was taken, the packets of the first round run into those of the second";
        found.lacks(fields, why);
        return;
    }
    // Packets that were lost before the capture point were sent too. A hole is counted in the round of the packets after it.
    let bytes = (round.bytes + round.lost).saturating_sub(sender.segments.probed);
    let segments = round.segments + round.lost.div_ceil(sender.mss());
    let segments = segments.saturating_sub(sender.segments.probed.div_ceil(sender.mss()));
    found.initial_window_bytes = Some(bytes);
    found.initial_window_segments = Some(segments);
    let has_more = |next: &Round| next.bytes > 0 && !next.after_idle && !next.begins_starved;
    let is_all = round.ended.is_none() || !sender.rounds.kept.get(1).is_some_and(has_more);
    found.initial_window_limit = Some(if round.by_receiver {
        "receiver-window"
    } else if is_all || sender.first_round_ran_out() {
        "application"
    } else {
        "window"
    });
    if sender.rounds.kept.iter().take(2).any(|round| round.by_shaper) {
        found.initial_window_limit = None;
        found.lacks(["initial_window_limit"], SHAPED);
    }
    let is_late = sender.rounds.kept.get(1).is_some_and(|next| next.begins_late && !next.begins_starved);
    if is_late && found.initial_window_limit == Some("window") {
        let why = "away from the sender, a pause of the application and a wait of its packets on their way look alike";
        found.initial_window_limit = None;
        found.lacks(["initial_window_limit"], why);
    }
    if round.by_receiver && sender.has_raw_windows() {
        found.initial_window_limit = None;
        found.lacks(["initial_window_limit"], NO_SCALE);
    }
    found.initial_window_spread = spread(round);
    if found.initial_window_spread.is_none() {
        let why = "nothing was acknowledged".to_owned();
        found.lacks(["initial_window_spread"], &why);
    }
}

/// Checks whether the first two rounds cannot be separated. Away from the sender, queues and jitter blur rounds. They are separate if the
/// gap between them is at least twice the longest gap within the first round.
fn blurs(sender: &Sender, first: &Round, second: &Round) -> bool {
    let (Some(to), Some(next)) = (first.last_sent, second.first_sent) else { return false };
    sender.setting.shift > 0 && next.saturating_sub(to) < 2 * first.widest
}

/// Returns the number of segments retransmitted in the first recovery. Returns 0 if this recovery began more than an RTT after the end of
/// start-up.
fn overshoot(sender: &Sender, exit: &Exit) -> u64 {
    let reach = exit.at.saturating_add(sender.rtt.least().unwrap_or(0));
    let first = sender.recovery.resent.iter().find(|one| !one.is_spurious);
    let spurious =
        sender.recovery.resent.iter().filter(|one| one.is_spurious && one.at <= reach).count() as u64;
    match first {
        Some(one) if one.at <= reach => sender.counts.first_episode_segments.saturating_sub(spurious),
        _ => 0,
    }
}

fn pacing(found: &mut Found, kept: &[Round], exit: Option<Exit>) {
    let until = exit.map_or(kept.len(), |exit| (exit.round + 1).min(kept.len()));
    let sum = |value: fn(&Round) -> u64| kept[..until].iter().map(value).sum::<u64>();
    let (departures, back_to_back) = (sum(|round| round.departures), sum(|round| round.back_to_back));
    found.back_to_back = (departures > 0).then(|| ratio(back_to_back, departures));
    if departures == 0 {
        found.lacks(["back_to_back"], "one packet has no other to be back to back with");
    }
    let at_sender = found.vantage == Some("sender");
    let (bursts, triggered) = (sum(|round| round.bursts), sum(|round| round.triggered));
    if !at_sender || bursts == 0 {
        let why = if at_sender {
            "start-up had one burst a round"
        } else {
            "away from the sender, what an acknowledgement caused is not to be seen"
        };
        found.lacks(["ack_triggered"], why);
        found.lacks(["pacing"], why);
        return;
    }
    found.ack_triggered = Some(ratio(triggered, bursts));
    found.pacing = Some(if 10 * triggered >= 9 * bursts {
        "ack-clocked"
    } else if 2 * triggered < bursts || 4 * back_to_back < departures {
        "paced"
    } else {
        "mixed"
    });
}

fn rounds(found: &mut Found, sender: &Sender) {
    let first = sender.instants.first_data.unwrap_or(0);
    let mss = sender.mss();
    found.rounds_total = sender.rounds.count;
    let mut before = None;
    for round in &sender.rounds.kept {
        found.rounds.push(FoundRound {
            began_s: seconds(round.began.saturating_sub(first)),
            length_s: round.ended.map(|ended| seconds(ended.saturating_sub(round.began))),
            bytes: round.bytes,
            segments: round.segments,
            retransmitted_segments: round.resent,
            growth: before
                .filter(|&bytes| bytes > 0 && !round.after_idle)
                .map(|bytes| ratio(round.bytes, bytes)),
            acks: round.acks,
            segments_per_ack: (round.acks > 0).then(|| ratio(round.acked, round.acks * mss)),
            delivery_rate_bps: round.delivery().map(|(bytes, time)| ratio(bytes * 8, time) * 1e9),
            flight_peak_bytes: round.peak,
            spread: spread(round),
            back_to_back: (round.departures > 0).then(|| ratio(round.back_to_back, round.departures)),
            limit: match round {
                Round { by_application: true, .. } => Some("application"),
                Round { by_shaper: true, .. } => Some("shaper"),
                Round { by_receiver: true, .. } if !sender.has_raw_windows() => Some("receiver-window"),
                _ => None,
            },
        });
        before = Some(round.bytes);
    }
}

fn later_rate(found: &mut Found, saw_syn: bool, sender: &Sender, exit: Option<Exit>) {
    let why = if sender.lacks_acks() {
        NO_ACKS
    } else if exit.is_some_and(|exit| exit.cause == Cause::Application) {
        "the application set the rate"
    } else if let Some(period) = sender.main_period() {
        let min_rtt = sender.rtt.least().unwrap_or(0);
        match later(&period.curve, period.began, min_rtt, sender.mss()) {
            Some(later) => {
                found.later_rate_bps = Some(later.bps);
                found.time_to_90pct_s = later.reached.filter(|_| saw_syn).map(seconds);
                if !saw_syn {
                    found.lacks(["time_to_90pct_s"], NO_START);
                } else if later.reached.is_none() {
                    let why = "no four consecutive intervals brought nine tenths of the later rate";
                    found.lacks(["time_to_90pct_s"], why);
                }
                return;
            }
            None => "the data took too few round trips to have a later rate",
        }
    } else {
        "the connection was idle in between: no time between two idle times brought nine tenths of the data"
    };
    found.lacks(["later_rate_bps"], why);
    found.lacks(["time_to_90pct_s"], why);
}

/// Marks rates as undefined if the capture's clock was set back in the time over which they are measured.
fn set_back(found: &mut Found, connection: &Connection, sender: &Sender, exit: Option<Exit>) {
    let Some(at) = connection.clock.set_back else { return };
    (found.throughput_bps, found.transfer_s, found.transfer_bytes) = (None, None, None);
    (found.time_to_100kb_s, found.time_to_1mb_s) = (None, None);
    found.lacks(["throughput_bps"].into_iter().chain(TRANSFER_FIELDS), SET_BACK);
    if sender.instants.first_data.is_none_or(|first| first >= at) {
        return;
    }
    (found.later_rate_bps, found.time_to_90pct_s) = (None, None);
    found.lacks(["later_rate_bps", "time_to_90pct_s"], SET_BACK);
    if exit.is_some_and(|exit| exit.at >= at) {
        found.exit_time_s = None;
        found.lacks(["exit_time_s"], SET_BACK);
    }
}

/// Marks results that depend on the order of packets as undefined if this order is not known.
fn displaced(found: &mut Found, connection: &Connection) {
    if !connection.is_displaced {
        return;
    }
    let kept = Found {
        duplicates: found.duplicates,
        bytes_acked: found.bytes_acked,
        mss_bytes: found.mss_bytes,
        window_scale: found.window_scale,
        receiver_window_scale: found.receiver_window_scale,
        sack: found.sack,
        timestamps: found.timestamps,
        ecn: found.ecn,
        ecn_feedback: found.ecn_feedback,
        ..named(found)
    };
    let undefined = std::mem::replace(found, kept).undefined;
    let still =
        ["mss_bytes", "window_scale", "receiver_window_scale", "sack", "timestamps", "ecn", "ecn_feedback"];
    found.undefined.extend(undefined.into_iter().filter(|(field, _)| still.contains(field)));
    found.lacks(STARTUP_FIELDS.into_iter().chain(COUNT_FIELDS).chain(ORDERED_FIELDS), DISPLACED);
}

/// More fields that are undefined if the order of packets is not known.
const ORDERED_FIELDS: [&str; 10] = [
    "vantage",
    "handshake_rtt_s",
    "rtt_to_sender_s",
    "rtt_to_receiver_s",
    "throughput_bps",
    "later_rate_bps",
    "transfer_s",
    "transfer_bytes",
    "time_to_100kb_s",
    "time_to_1mb_s",
];

/// Returns a copy with only the fields for the connection's ends, tunnel, role and times.
fn named(found: &Found) -> Found {
    Found {
        connection: found.connection,
        from: found.from.clone(),
        to: found.to.clone(),
        tunnel: found.tunnel.clone(),
        outer_from: found.outer_from.clone(),
        outer_to: found.outer_to.clone(),
        role: found.role,
        began_at_s: found.began_at_s,
        duration_s: found.duration_s,
        ..Found::default()
    }
}

fn restarts(found: &mut Found, sender: &Sender) {
    let first = sender.instants.first_data.unwrap_or(0);
    found.idle_restarts_total = sender.counts.restarts;
    found.idle_restarts = sender
        .periods
        .restarts
        .iter()
        .map(|restart| {
            let Restart { at, idle, flight_before, round } = *restart;
            let round = sender.rounds.kept.get(round).filter(|round| round.after_idle && round.resent == 0);
            FoundRestart {
                at_s: seconds(at.saturating_sub(first)),
                idle_s: seconds(idle),
                flight_before_bytes: flight_before,
                window_bytes: round.map(|round| round.bytes),
                window_segments: round.map(|round| round.segments),
                spread: round.and_then(spread),
                manner: round.and_then(manner),
            }
        })
        .collect();
}

fn manner(round: &Round) -> Option<&'static str> {
    let spread = spread(round)?;
    Some(match round {
        _ if spread >= 0.25 => "paced",
        Round { departures, back_to_back, .. } if departures == back_to_back => "burst",
        _ => "spread",
    })
}

fn spread(round: &Round) -> Option<f64> {
    let length = round.ended?.checked_sub(round.began).filter(|length| *length > 0)?;
    let (first, last) = (round.first_sent?, round.last_sent?);
    Some(ratio(last.saturating_sub(first), length))
}

pub(crate) fn seconds(nanos: u64) -> f64 {
    ratio(nanos, 1_000_000_000)
}

#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
fn ratio(num: u64, den: u64) -> f64 {
    num as f64 / den as f64
}
