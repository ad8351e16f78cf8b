//! Every field of a result, with its unit, its type and its meaning. The exports' types and the report's definitions come only from this
//! list.

mod column;
mod found;
mod population;
mod probed;

use firstflight_lab::{Beside, EarlyFields, PathFacts};
use firstflight_measure::{Row, SPREAD, count, joined};

use crate::record::Record;

pub(crate) use column::{real, text, whole};
pub use firstflight_measure::{Column, Kind};
pub use found::{FOUND, is_inspection};
pub use population::{POPULATION_COLUMNS, is_flows, is_population};
pub use probed::{PROBE_COLUMNS, is_probing, is_trains};

/// All fields, in the order of a row.
pub const COLUMNS: &[Column] = Row::COLUMNS;

/// The fields of a sweep's row that describe its path and the traffic on it. They precede the fields of [`COLUMNS`].
pub const SWEEP_COLUMNS: &[Column] = {
    const ALL: &[&[Column]] = &[PathFacts::COLUMNS, Beside::COLUMNS, EarlyFields::COLUMNS, &[BUILD]];
    &joined::<{ count(ALL) }>(ALL)
};

/// The column that the file of a part has in addition to the row.
const BUILD: Column = text(
    "build",
    "The build of the program that raced the path: a digest of its sources and of its libraries' versions.",
);

/// The additional fields of a row of several runs. They are after `exit_cause` and before the seed.
pub const JOINED_COLUMNS: &[Column] = &[
    whole("runs", "runs", "With several runs: how many of them the row joins; its seed is the first one's."),
    text(
        "exit_causes",
        "With several runs: how many left start-up by each cause, none for those without an exit; as JSON in text where \
         there are no objects.",
    ),
];

/// The stems of the fields of a scenario's windows. A field's name is the stem, the window and, if the scenario names a link, the link:
/// `utilisation_10s_70s`, `utilisation_10s_70s_reverse_1`.
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

/// The suffix of the field that has the number of runs in a mean. The field exists only if some runs lack the number.
pub const RUNS: &str = "_runs";

/// The suffix of the field that has half the width of the 95 % confidence interval of a mean (Student).
pub const CI95: &str = "_ci95";

/// Returns the fields that these records may have: the fields of a race, or those of an inspection of captures.
pub fn described(records: &[Record]) -> &'static [Column] {
    match records {
        _ if is_inspection(records) => FOUND,
        _ if is_probing(records) || is_trains(records) => PROBE_COLUMNS,
        _ => COLUMNS,
    }
}

/// Returns the column of a field of any result. For a window's field, returns the column of its stem.
pub fn described_field(field: &str) -> Option<&'static Column> {
    let all = SWEEP_COLUMNS.iter().chain(COLUMNS).chain(JOINED_COLUMNS).chain(POPULATION_COLUMNS);
    let mut all = all.chain(PROBE_COLUMNS).chain(FOUND);
    all.find(|column| column.name == field).or_else(|| of_window(field))
}

/// Returns the column of a field; `None` for an unknown field. A confidence interval and a spread have the column of their mean, and a
/// window's field has the column of its stem.
pub fn column(field: &str) -> Option<&'static Column> {
    let columns = SWEEP_COLUMNS.iter().chain(COLUMNS).chain(JOINED_COLUMNS).chain(POPULATION_COLUMNS);
    let columns = columns.chain(PROBE_COLUMNS);
    let name = field.strip_suffix(CI95).or_else(|| of_spread(field).map(|(name, _)| name)).unwrap_or(field);
    columns.into_iter().find(|column| column.name == name).or_else(|| of_window(name))
}

/// Splits a spread's field into the field of its mean and the word for its part of the spread.
pub(crate) fn of_spread(field: &str) -> Option<(&str, &'static str)> {
    const WORDS: [&str; 5] = ["Minimum", "Median", "95th percentile", "99th percentile", "Maximum"];
    SPREAD.into_iter().zip(WORDS).find_map(|((suffix, _), word)| Some((field.strip_suffix(suffix)?, word)))
}

/// Returns the column of a window's field, which is the column of its stem.
fn of_window(field: &str) -> Option<&'static Column> {
    // The name of a window starts with a number.
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

    /// Returns a row that has every optional field.
    fn full() -> Row {
        Row {
            label: Some("x".into()),
            stack: Some("linux".into()),
            source_hash: Some("0".into()),
            fct_s: Some(Some(1.0)),
            ideal_fct_s: Some(Some(1.0)),
            cost: Some(Some(1.0)),
            longest_wait_s: Some(Some(0.2)),
            longest_wait_end: Some(Some("timeout".to_owned())),
            waited_s: Some(Some(0.3)),
            elapsed_s: Some(Some(1.0)),
            elapsed_acked_s: Some(Some(1.0)),
            drops: Some(Some(1.0)),
            drops_all_rounds: Some(Some(1.0)),
            burst_packets: Some(Some(1.0)),
            ack_clock_s: Some(Some(1.0)),
            harm: firstflight_measure::HarmFields {
                harm_bytes: Some(Some(-5)),
                harm_per_byte: Some(Some(1.5)),
                harm_beyond_bytes: Some(Some(4)),
                harm_share: Some(Some(0.5)),
                harm_over_s: Some(Some(0.5)),
                others_fct_ratio: Some(Some(1.5)),
            },
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
    fn every_row_field_is_described_in_order_without_extras() {
        let record = records(&[full()]).unwrap().remove(0);
        let fields: Vec<&str> = record.keys().map(String::as_str).collect();
        let described: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
        assert_eq!(fields, described);
    }

    /// Returns a row of a sweep that has every optional field.
    fn swept() -> SweptRow {
        let mut options = Options::default();
        options.set("size", "1MB").unwrap();
        let scenario = Scenario::resolve(&options).unwrap();
        SweptRow {
            path: PathFacts::of(3, &scenario),
            beside: Beside::NOT_RACED,
            early: EarlyFields::default(),
            row: full(),
        }
    }

    #[test]
    fn every_sweep_row_field_is_described_in_order() {
        let record = records(&[swept()]).unwrap().remove(0);
        let fields: Vec<&str> = record.keys().map(String::as_str).collect();
        // The file of a part has the build of the program as an additional column.
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
                Value::Number(_) => assert!(kind == Kind::Whole, "{field}"),
                Value::Null => assert!(matches!(kind, Kind::Real | Kind::Text), "{field}"),
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
