//! Every field of a result: its unit, its type and its meaning. The types of the exports and the report's definitions come
//! from this list only.

use firstflight_measure::SPREAD;

use crate::inspected::FOUND;
use crate::population::POPULATION_COLUMNS;
use crate::probed::{PROBE_COLUMNS, is_probing, is_trains};
use crate::record::Record;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Text,
    /// A whole number, never negative.
    Unsigned,
    /// A whole number.
    Signed,
    /// A real number.
    Real,
}

/// One field of a result.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name, in every export.
    pub name: &'static str,
    /// The field's unit; empty for words, `1` for ratios.
    pub unit: &'static str,
    /// Its type in a single run's row.
    pub kind: Kind,
    /// The field's meaning, in a sentence or two.
    pub meaning: &'static str,
}

pub(crate) const fn text(name: &'static str, meaning: &'static str) -> Column {
    Column { name, unit: "", kind: Kind::Text, meaning }
}

pub(crate) const fn real(name: &'static str, unit: &'static str, meaning: &'static str) -> Column {
    Column { name, unit, kind: Kind::Real, meaning }
}

pub(crate) const fn whole(name: &'static str, unit: &'static str, meaning: &'static str) -> Column {
    Column { name, unit, kind: Kind::Unsigned, meaning }
}

/// All fields, in the order of a row.
pub const COLUMNS: &[Column] = &[
    text("scheme", "The start-up scheme."),
    text("label", "The name given with as=, where the same scheme runs twice."),
    text("params", "The scheme's parameters where they differ from its defaults."),
    text("avoidance", "The congestion-avoidance law that takes over after start-up."),
    text("recovery", "How losses are found and repaired."),
    text("stack", "Whose sender it is where the RFCs and Linux differ; left out where it goes by the RFCs."),
    text("restart", "The policy after idleness."),
    text(
        "deploy",
        "What the scheme, its law and its restart policy need beyond the sender: alone if nothing, else router-help (routers \
         that approve a rate), marks (queues that mark, ECN), memory (values that an earlier connection saved), joined by +.",
    ),
    real(
        "throughput_bps",
        "bit/s",
        "Payload delivered in order over the flow's life: since the SYN, until its last byte, its abort or the run's end. Of several clients this and all numbers of a flow are the first one's.",
    ),
    real(
        "loss",
        "1",
        "The flow's own data packets that the network dropped over data packets sent. Undefined if none was sent.",
    ),
    real(
        "su_time_s",
        "s",
        "First data packet sent until avoidance first governs new data: start-up exited, recovery over, cwnd at \
         or above ssthresh; a timeout before that and its slow start are included. Undefined if the flow ends first.",
    ),
    real(
        "su_throughput_bps",
        "bit/s",
        "Payload delivered of the data sent in su-time, over su-time: what stands in a queue at its end counts, so that it may \
         exceed the link's rate. Where su-time is undefined: payload delivered in order over the flow's time since the first \
         data packet. A mean is over the runs with a su-time, unless none has one.",
    ),
    text(
        "su_counts",
        "What widened the window in start-up: acks, by a segment at most for each; bytes, by more, and by no more than the ACK \
         acknowledged; beyond, by more than that; either, if no ACK that acknowledged more than a segment widened it, so that \
         the two do not differ. Of several runs, or of a population's flows, the most that any did.",
    ),
    whole(
        "trains",
        "trains",
        "Trains that start-up sent, the first burst and the one that fills the pipe among them; of a population's row those of all \
         its flows together, of a probing all that it sent. Only where trains are sent.",
    ),
    real(
        "su_loss",
        "1",
        "Data packets dropped of those sent in su-time, over those sent in it. Where su-time is undefined: of those of the \
         whole flow.",
    ),
    whole("timeouts", "1", "Retransmission timeouts of data; those of a SYN are not among them."),
    whole(
        "su_timeouts",
        "1",
        "Retransmission timeouts in su-time; where that is undefined, in the whole flow.",
    ),
    whole("packets_sent", "packets", "Data packets sent, retransmissions included."),
    whole(
        "packets_lost",
        "packets",
        "The flow's own data packets, retransmissions included, that the network dropped.",
    ),
    whole(
        "packets_marked",
        "packets",
        "The flow's own data packets that a queue marked as having met congestion (ECN), each counted once.",
    ),
    whole("retransmissions", "packets", "Data packets that carried data sent before."),
    text("exit_cause", "Why the first standing exit left start-up; none if the flow ended first."),
    real("exit_time_s", "s", "First data packet sent until that exit."),
    real("exit_rate_bps", "bit/s", "The rate that the exit found, for schemes that find one."),
    real("granted_rate_bps", "bit/s", "The rate that Quick-Start's routers approved, headers included."),
    whole(
        "qs_asked",
        "1",
        "Quick-Start requests for a rate that reached a router of the path; one that passes two counts twice, those \
         of all clients count. Only where routers can be asked.",
    ),
    whole("qs_granted", "1", "Of those, how many the router approved as they were."),
    whole("qs_reduced", "1", "Of those, how many the router approved at a lower rate."),
    whole("qs_refused", "1", "Of those, how many the router denied."),
    real("exit_cwnd_packets", "packets", "The congestion window at the exit, before any reduction."),
    real(
        "exit_cwnd_over_bdp",
        "1",
        "That window in IP bytes over the true bandwidth-delay product at the exit: the rate available to the \
         flow times the base (propagation) round-trip time.",
    ),
    real(
        "cwnd_before_first_cut_packets",
        "packets",
        "The congestion window just before its first reduction; undefined if it was never reduced.",
    ),
    whole(
        "overshoot_lost_packets",
        "packets",
        "The flow's own packets dropped by a queue among those sent until one base round-trip time after the \
         exit, or until the end of its recovery.",
    ),
    real(
        "time_to_90pct_s",
        "s",
        "First data packet sent until the end of the first interval (the longer of the base round-trip time and \
         20 packet times) that brings nine tenths of the available rate, sustained for four in a row.",
    ),
    whole(
        "queue_peak_packets",
        "packets",
        "The longest queue at the bottleneck during the flow; of several bottlenecks, at any. What waits at the sender's own access link, or before the receiver's, is not in it.",
    ),
    real(
        "queue_mean_packets",
        "packets",
        "The time-weighted mean queue at the bottleneck during the flow; of several, where it is the longest.",
    ),
    Column {
        name: "cross_lost_packets",
        unit: "packets",
        kind: Kind::Signed,
        meaning: "Packets of other flows dropped, less those dropped in the same seed's run without this flow.",
    },
    real(
        "harm_bps",
        "bit/s",
        "What other flows delivered less because of this one: the difference from the same seed's run without \
         it, over the flow's life. Of TCP flows it is payload delivered in order, of datagrams IP bytes.",
    ),
    real(
        "aborted_s",
        "s",
        "SYN sent to when an endpoint aborted the connection: seven SYNs were not answered, or data was not that was sent again \
         fifteen times in a row. A transfer's run ends there, unfinished. Undefined if none did.",
    ),
    real("fct_s", "s", "Flow completion time: SYN sent to last byte delivered. Undefined if unfinished."),
    real(
        "ideal_fct_s",
        "s",
        "The clairvoyant ideal: one base round-trip time for the handshake, then the size in IP bytes over each \
         link of the way, at the rate that others leave when it is there (a policer's bucket besides), and the \
         propagation to the receiver. One for all schemes: others do as in the run without the flow. Undefined where they offer \
         more than the bottleneck carries, and beside varying traffic if it takes more than four times the limit.",
    ),
    real("cost", "1", "Flow completion time over the ideal."),
    real(
        "elapsed_s",
        "s",
        "With rounds: mean time from a reply's writing to its last byte delivered, over all clients' rounds after an \
         idle time. Undefined if one is unfinished.",
    ),
    real(
        "elapsed_acked_s",
        "s",
        "The same until the sender heard that all was delivered, as ns-2's agents tell it.",
    ),
    real(
        "drops",
        "packets",
        "With rounds: mean data packets dropped of a reply, over the rounds after an idle time.",
    ),
    real("drops_all_rounds", "packets", "The same over all rounds, first ones included."),
    real(
        "burst_packets",
        "packets",
        "With rounds: mean of the most packets of a reply that left their sender at one instant, over the rounds \
         after an idle time.",
    ),
    real(
        "ack_clock_s",
        "s",
        "With rounds: mean time from a reply's writing to the first ACK for any of it, over the rounds after an \
         idle time.",
    ),
    text(
        "ideal_kind",
        "exact, of what others leave, or fair-share where responsive cross traffic makes the ideal a fair share. An \
         exact one is beaten only by what others lack: packets that were dropped for the flow, still wait, or were \
         yet to come.",
    ),
    real(
        "sender_cpu",
        "1",
        "The share of time in which the sender's processor was busy, from the SYN to the last byte or the end of the run; of several \
         flows, of their times together. Only with `host-cpu`, as the next eight.",
    ),
    real(
        "sender_cpu_peak",
        "1",
        "The greatest share of a second of the run in which the processor of one sender was busy.",
    ),
    real(
        "sender_cpu_sacktag",
        "1",
        "Of the sender's busy time, the share that went into finding the packets of SACK blocks in the retransmission queue.",
    ),
    real("sender_cpu_clean", "1", "The share that went into freeing packets that ACKs acknowledged."),
    real("sender_cpu_fastretrans", "1", "The share that went into sending packets again."),
    whole("sender_cpu_waiting", "segments", "The most segments that waited for the processor of a sender."),
    real("receiver_cpu", "1", "As `sender_cpu`, of the receiver."),
    real("receiver_cpu_peak", "1", "As `sender_cpu_peak`, of a receiver."),
    real(
        "receiver_cpu_data_queue",
        "1",
        "Of the receiver's busy time, the share that went into finding the places of segments in the out-of-order queue.",
    ),
    whole("seed", "", "The seed of the run: it moves the phase and the start of cross traffic."),
    text("version", "The version of the program."),
    text("scenario_hash", "The hash of the scenario."),
];

/// The fields of a sweep's row that describe its path, and what ran beside it. They precede those of [`COLUMNS`].
pub const SWEEP_COLUMNS: &[Column] = &[
    whole("path", "", "The index of the path in the sweep."),
    real(
        "path_rate_bps",
        "bit/s",
        "The bottleneck's rate, headers included; along a trace the greatest, unless one is declared.",
    ),
    real(
        "path_trace_least_bps",
        "bit/s",
        "The least rate that the bottleneck has along a trace of rates. Undefined without one.",
    ),
    real("path_policer_bps", "bit/s", "The rate of the bottleneck's policer. Undefined without one."),
    whole(
        "path_crossings",
        "1",
        "At how many bottlenecks others cross the flow's way, each time others: the hops of a parking lot, or one if the \
         same pass all of them or one alone has any; none without cross traffic.",
    ),
    real("path_rtt_s", "s", "The base round-trip time: propagation only."),
    real("path_bdp_packets", "packets", "Rate times base round-trip time, in full packets."),
    real("path_queue_bdp", "1", "The limit of the bottleneck's queue over rate times base round-trip time."),
    whole("path_size_bytes", "B", "Payload to transfer. Undefined without a size."),
    text("path_cross", "The kind of cross traffic: none, cbr, tcp, onoff, poisson or web."),
    real(
        "path_cross_share",
        "1",
        "The share of the rate that is the cross traffic's: of a constant rate, of N flows beside one more, of pages. \
         Undefined for other kinds.",
    ),
    real("path_loss", "1", "The probability of random loss at the bottleneck."),
    text("path_ack", "When the receiver acknowledges."),
    whole("path_packet_bytes", "B", "IP bytes of a full packet."),
    real("path_limit_s", "s", "When a run was given up at the latest, from its SYN."),
    whole("path_iw_packets", "packets", "The initial window."),
    text(
        "path_queue_kind",
        "What the bottleneck's queue does before it is full: drop-tail, red, codel, fq-codel or pie.",
    ),
    real(
        "path_jitter_s",
        "s",
        "The greatest random delay of a packet at the bottleneck; zero without jitter.",
    ),
    real(
        "path_ack_batch_s",
        "s",
        "The time between releases of ACKs. Undefined unless they are batched by time.",
    ),
    real(
        "path_ack_batch_packets",
        "packets",
        "The ACKs of a batch. Undefined unless they are batched by number.",
    ),
    real(
        "path_pacing_timer_s",
        "s",
        "The grain of the timer by which the sender's packets leave; zero if they leave when they should.",
    ),
    whole("path_gso_bytes", "B", "IP bytes of the sender's bursts; zero without segmentation offload."),
    real("path_reverse_share", "1", "The rate of the reverse path over the bottleneck's."),
    whole(
        "bytes_raced",
        "1",
        "1 if slow start that counts bytes was raced over the path, with the row's seed and the scheme's options of the path, for a \
         start-up of this path counted more than ACKs; else 0.",
    ),
    real("bytes_cost", "1", "The cost of that slow start. Undefined if it was given up, or not raced."),
    real(
        "bound_fct_s",
        "s",
        "The completion time of the ideal that knows the path after one round trip: an initial window leaves after the handshake, \
         and a base round trip later the ideal knows all. Undefined where the rate available to the flow changes, of several \
         bottlenecks, and without one transfer of a size.",
    ),
    real(
        "bound_available_bps",
        "bit/s",
        "The rate available to the flow, headers included, a fair share beside bulk TCP. Undefined where that bound is.",
    ),
    real(
        "bound_bytes_2",
        "B",
        "Payload that this ideal has delivered by two base round trips after a handshake that takes one. Undefined where it is.",
    ),
    real("bound_bytes_3", "B", "The same by three round trips."),
    real("bound_bytes_5", "B", "The same by five round trips."),
    whole(
        "delivered_bytes_2",
        "B",
        "Payload that the flow had delivered in order by two base round trips after a handshake that takes one.",
    ),
    whole("delivered_bytes_3", "B", "The same by three round trips."),
    whole("delivered_bytes_5", "B", "The same by five round trips."),
    whole(
        "queue_lost_packets",
        "packets",
        "The flow's data packets that a queue or a policer dropped: the lost ones less those of random loss.",
    ),
    text(
        "build",
        "The build of the program that raced the path: a digest of its sources and of its libraries' versions.",
    ),
];

/// The fields that several runs add to a row, before its seed and after its `exit_cause`.
pub const JOINED_COLUMNS: &[Column] = &[
    whole("runs", "runs", "With several runs: how many of them the row joins; its seed is the first one's."),
    text(
        "exit_causes",
        "With several runs: how many left start-up by each cause, none for those without an exit; as JSON in text where \
         there are no objects.",
    ),
];

/// The stems of the fields of a scenario's windows; the window follows each, and behind it the link if the scenario names one, as in
/// `utilisation_10s_70s` and `utilisation_10s_70s_reverse_1`.
pub const WINDOW_COLUMNS: &[Column] = &[
    real(
        "utilisation",
        "1",
        "The share of what the bottleneck could have carried in the window that its transmitter sent, headers included; of \
         several bottlenecks, that of the one where it is greatest; of a link whose name follows the window, that link's. Undefined \
         if the run ended before the window, and for a link without a rate.",
    ),
    real(
        "goodput_bps",
        "bit/s",
        "Payload of the row's flows that was delivered in order in the window, over its length; of a population's scheme, of \
         all its flows, those not measured too; with a link's name, of all flows whose data cross it.",
    ),
    whole(
        "dropped_packets",
        "packets",
        "Packets of all traffic that this bottleneck, or the link named, dropped in the window, for whatever cause.",
    ),
];

/// The suffix of the number of runs behind a mean, if not all runs have the field.
pub const RUNS: &str = "_runs";

/// The suffix of the half-width of the 95 % confidence interval of a mean (Student).
pub const CI95: &str = "_ci95";

/// The fields of these records: those of a race, or of an inspection.
pub(crate) fn described(records: &[Record]) -> &'static [Column] {
    match records {
        _ if is_inspection(records) => FOUND,
        _ if is_probing(records) || is_trains(records) => PROBE_COLUMNS,
        _ => COLUMNS,
    }
}

/// The field of this name in any result; of a window's field the column of its stem.
pub(crate) fn described_field(field: &str) -> Option<&'static Column> {
    let all = SWEEP_COLUMNS.iter().chain(COLUMNS).chain(JOINED_COLUMNS).chain(POPULATION_COLUMNS);
    let mut all = all.chain(PROBE_COLUMNS).chain(FOUND);
    all.find(|column| column.name == field).or_else(|| of_window(field))
}

/// Whether the records are senders of captures.
pub(crate) fn is_inspection(records: &[Record]) -> bool {
    records.first().is_some_and(|record| record.contains_key("connection"))
}

/// The column of a field; a confidence interval and a spread have the column of their mean, and a window's field that of
/// its stem.
pub fn column(field: &str) -> Option<&'static Column> {
    let columns = SWEEP_COLUMNS.iter().chain(COLUMNS).chain(JOINED_COLUMNS).chain(POPULATION_COLUMNS);
    let columns = columns.chain(PROBE_COLUMNS);
    let name = field.strip_suffix(CI95).or_else(|| of_spread(field).map(|(name, _)| name)).unwrap_or(field);
    columns.into_iter().find(|column| column.name == name).or_else(|| of_window(name))
}

/// The mean's field of a spread's field, and which part of the spread it is.
pub(crate) fn of_spread(field: &str) -> Option<(&str, &'static str)> {
    const WORDS: [&str; 3] = ["Least", "Median", "Greatest"];
    SPREAD.into_iter().zip(WORDS).find_map(|(suffix, word)| Some((field.strip_suffix(suffix)?, word)))
}

/// The column of a window's field.
fn of_window(field: &str) -> Option<&'static Column> {
    // A window begins with a number.
    let is_stem = |column: &&Column| {
        let rest = field.strip_prefix(column.name).and_then(|rest| rest.strip_prefix('_'));
        rest.is_some_and(|window| window.starts_with(|c: char| c.is_ascii_digit()) && !window.ends_with(RUNS))
    };
    WINDOW_COLUMNS.iter().find(is_stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records;
    use firstflight_lab::{Beside, EarlyFields, PathFacts, SweptRow};
    use firstflight_measure::{CpuFields, Row, WINDOW_FIELDS};
    use firstflight_scenario::{Options, Scenario};
    use serde_json::Value;

    /// A row with every optional field there.
    fn full() -> Row {
        Row {
            label: Some("x".into()),
            stack: Some("linux".into()),
            fct_s: Some(Some(1.0)),
            ideal_fct_s: Some(Some(1.0)),
            cost: Some(Some(1.0)),
            elapsed_s: Some(Some(1.0)),
            elapsed_acked_s: Some(Some(1.0)),
            drops: Some(Some(1.0)),
            drops_all_rounds: Some(Some(1.0)),
            burst_packets: Some(Some(1.0)),
            ack_clock_s: Some(Some(1.0)),
            trains: Some(3),
            qs_asked: Some(1),
            qs_granted: Some(1),
            qs_reduced: Some(0),
            qs_refused: Some(0),
            cpu: CpuFields {
                sender_cpu: Some(Some(0.5)),
                sender_cpu_peak: Some(1.0),
                sender_cpu_sacktag: Some(Some(0.5)),
                sender_cpu_clean: Some(Some(0.5)),
                sender_cpu_fastretrans: Some(Some(0.5)),
                sender_cpu_waiting: Some(1),
                receiver_cpu: Some(Some(0.5)),
                receiver_cpu_peak: Some(1.0),
                receiver_cpu_data_queue: Some(Some(0.5)),
            },
            ..Row::default()
        }
    }

    #[test]
    fn every_field_of_a_row_is_described_in_its_order_and_nothing_else_is() {
        let record = records(&[full()]).unwrap().remove(0);
        let fields: Vec<&str> = record.keys().map(String::as_str).collect();
        let described: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
        assert_eq!(fields, described);
    }

    /// A row of a sweep with every optional field there.
    fn swept() -> SweptRow {
        let mut options = Options::default();
        options.set("size", "1MB").unwrap();
        let scenario = Scenario::resolve(&options).unwrap();
        SweptRow {
            path: PathFacts::of(3, &scenario),
            beside: Beside::default(),
            early: EarlyFields::default(),
            row: full(),
        }
    }

    #[test]
    fn every_field_of_a_row_of_a_sweep_is_described_in_its_order() {
        let record = records(&[swept()]).unwrap().remove(0);
        let fields: Vec<&str> = record.keys().map(String::as_str).collect();
        // The file of a part adds the program's build.
        let described = SWEEP_COLUMNS.iter().chain(COLUMNS).map(|column| column.name);
        assert_eq!(fields, described.filter(|name| *name != "build").collect::<Vec<_>>());
    }

    #[test]
    fn the_kinds_are_those_of_the_row() {
        for (field, value) in records(&[swept()]).unwrap().remove(0) {
            let kind = column(&field).unwrap().kind;
            match value {
                Value::String(_) => assert_eq!(kind, Kind::Text, "{field}"),
                Value::Number(n) if n.is_f64() => assert_eq!(kind, Kind::Real, "{field}"),
                Value::Number(_) => assert!(matches!(kind, Kind::Unsigned | Kind::Signed), "{field}"),
                Value::Null => assert_eq!(kind, Kind::Real, "{field}"),
                other => panic!("{field}: {other}"),
            }
        }
    }

    #[test]
    fn a_field_that_names_its_unit_has_that_unit() {
        for column in SWEEP_COLUMNS.iter().chain(COLUMNS) {
            let unit = match column.name {
                name if name.ends_with("_bps") => "bit/s",
                name if name.ends_with("_s") => "s",
                name if name.ends_with("_packets") => "packets",
                _ => continue,
            };
            assert_eq!(column.unit, unit, "{}", column.name);
        }
    }

    #[test]
    fn a_confidence_interval_has_the_column_of_its_mean() {
        assert_eq!(column("throughput_bps_ci95").unwrap().name, "throughput_bps");
        assert!(column("throughput_bps_runs").is_none(), "it is a count, whatever it counts");
        assert_eq!(column("throughput_bps_median").unwrap().name, "throughput_bps");
    }

    #[test]
    fn a_windows_field_has_the_column_of_its_stem() {
        assert_eq!(WINDOW_COLUMNS.iter().map(|column| column.name).collect::<Vec<_>>(), WINDOW_FIELDS);
        let of_link = "utilisation_0s_1s_from_0_3";
        for field in ["utilisation_10s_70s", "utilisation_0s_1s_ci95", "utilisation_0s_1s_max", of_link] {
            assert_eq!(column(field).unwrap().name, "utilisation", "{field}");
        }
        assert!(column("utilisation").is_none() && column("utilisation_10s_70s_runs").is_none());
    }
}
