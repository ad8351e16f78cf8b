//! The columns of the tables of populations and of their flows.

use crate::grid::ALWAYS;
use crate::view::{Only, Show, ViewColumn, view};

/// The columns of the table of schemes.
pub(crate) const VIEW: &[ViewColumn] = &[
    view(["scheme", ""], "scheme", Show::Name, ALWAYS),
    view(["flows", ""], "population", Show::Text, 3),
    view(["measured", ""], "flows", Show::Count, 6),
    view(["un-", "finished"], "unfinished", Show::Count, 5),
    view(["throughput", "mean Mbit/s"], "throughput_mean_bps", Show::Scaled(1e6), 1),
    view(["5 %", "Mbit/s"], "throughput_p5_bps", Show::Scaled(1e6), 7),
    view(["median", "Mbit/s"], "throughput_median_bps", Show::Scaled(1e6), 4),
    view(["95 %", "Mbit/s"], "throughput_p95_bps", Show::Scaled(1e6), 7),
    view(["FCT", "mean s"], "fct_mean_s", Show::Scaled(1.0), 1),
    view(["median", "s"], "fct_median_s", Show::Scaled(1.0), 4),
    view(["95 %", "s"], "fct_p95_s", Show::Scaled(1.0), 7),
    view(["loss", "%"], "loss", Show::Scaled(0.01), 2),
    view(["in start-up", "%"], "startup_loss", Show::Scaled(0.01), 3),
    view(["lossy", "flows"], "lossy_flows", Show::Count, 6),
    view(["time-", "outs"], "timeouts", Show::Count, 5),
    ViewColumn { only: Only::Present, ..view(["QS", "success %"], "qs_success", Show::Scaled(0.01), 2) },
    view(["active", "mean"], "active_mean", Show::Scaled(1.0), 8),
];

/// The columns of the table of flows.
pub(crate) const FLOWS_VIEW: &[ViewColumn] = &[
    view(["flow", ""], "flow", Show::Count, ALWAYS),
    view(["scheme", ""], "scheme", Show::Name, ALWAYS),
    view(["flows", ""], "population", Show::Text, 7),
    view(["start", "s"], "start_s", Show::Scaled(1.0), 4),
    view(["from", ""], "from", Show::Text, 6),
    view(["to", ""], "to", Show::Text, 6),
    view(["size", "kB"], "size_bytes", Show::Scaled(1e3), 4),
    view(["FCT", "s"], "fct_s", Show::Scaled(1.0), 1),
    view(["throughput", "Mbit/s"], "throughput_bps", Show::Scaled(1e6), 1),
    view(["su-time", "s"], "su_time_s", Show::Scaled(1.0), 5),
    view(["exit", ""], "exit_cause", Show::Text, 3),
    ViewColumn {
        only: Only::Present,
        ..view(["granted", "Mbit/s"], "granted_rate_bps", Show::Scaled(1e6), 2)
    },
    view(["lost", "p"], "packets_lost", Show::Count, 2),
    view(["in start-up", "p"], "startup_packets_lost", Show::Count, 5),
    view(["time-", "outs"], "timeouts", Show::Count, 5),
];

#[cfg(test)]
mod tests {
    use firstflight_measure::{FlowRow, PopulationRow};
    use serde_json::Value;

    use super::*;
    use firstflight_export::columns::{Kind, column};
    use firstflight_export::{Record, records};

    /// Returns a row and a flow that have every optional field.
    fn full() -> (PopulationRow, FlowRow) {
        let row = PopulationRow {
            label: Some("x".into()),
            stack: Some("linux".into()),
            qs_requests: Some(1),
            qs_approved: Some(1),
            qs_lowered: Some(0),
            qs_success: Some(Some(1.0)),
            qs_rate_mean_bps: Some(Some(1.0)),
            ..PopulationRow::default()
        };
        let flow = FlowRow {
            size_bytes: Some(1),
            requested_rate_bps: Some(Some(1.0)),
            granted_rate_bps: Some(Some(1.0)),
            ..FlowRow::default()
        };
        (row, flow)
    }

    #[test]
    fn every_field_of_a_population_is_described_with_its_type() {
        let (row, flow) = full();
        let both = records(&[row]).unwrap().into_iter().chain(records(&[flow]).unwrap());
        for (field, value) in both.flatten() {
            let kind = column(&field).unwrap_or_else(|| panic!("{field} is not described")).kind;
            match value {
                Value::String(_) => assert_eq!(kind, Kind::Text, "{field}"),
                Value::Number(number) if number.is_f64() => assert_eq!(kind, Kind::Real, "{field}"),
                Value::Number(_) => assert_eq!(kind, Kind::Whole, "{field}"),
                _ => assert_eq!(kind, Kind::Real, "{field}"),
            }
        }
    }

    #[test]
    fn every_column_that_is_seen_is_a_field() {
        let (row, flow) = full();
        let (row, flow) = (records(&[row]).unwrap().remove(0), records(&[flow]).unwrap().remove(0));
        assert!(VIEW.iter().all(|column| row.contains_key(column.field)));
        assert!(FLOWS_VIEW.iter().all(|column| flow.contains_key(column.field)));
    }

    #[test]
    fn router_grant_columns_exist_only_where_a_scheme_asks() {
        let heads = |records: &[Record]| {
            crate::views::columns_for(records).iter().map(|column| column.field).collect::<Vec<_>>()
        };
        let (row, flow) = full();
        let asking = [heads(&records(&[row]).unwrap()), heads(&records(&[flow]).unwrap())].concat();
        assert!(asking.contains(&"qs_success") && asking.contains(&"granted_rate_bps"));
        let plain = heads(&records(&[PopulationRow::default()]).unwrap());
        assert!(plain.contains(&"active_mean") && !plain.contains(&"qs_success"));
        let plain = heads(&records(&[FlowRow::default()]).unwrap());
        assert!(plain.contains(&"fct_s") && !plain.contains(&"granted_rate_bps"));
    }
}
