//! The fields of a population's rows and flows, and the columns of their tables.

use crate::columns::{Column, real, text, whole};
use crate::grid::ALWAYS;
use crate::record::Record;
use crate::view::{Only, Show, ViewColumn, view};

/// The fields of a population's rows and flows that no other row has.
pub const POPULATION_COLUMNS: &[Column] = &[
    text(
        "population",
        "Whether all flows of the run have this scheme (only), or each took one at random (mixed). Of flows said one by one with \
         several schemes: scripted, or with NAME if some have the row's scheme, which is NAME in this run.",
    ),
    whole(
        "flows",
        "flows",
        "Flows of the scheme that were measured; what follows is of these, unless it says otherwise.",
    ),
    whole("unfinished", "flows", "Of those, how many did not finish by the end of the run."),
    real(
        "throughput_mean_bps",
        "bit/s",
        "The mean over flows of a flow's throughput: payload over the time since its SYN.",
    ),
    real("throughput_p5_bps", "bit/s", "Of flows' throughputs, the one that 5 % do not exceed."),
    real("throughput_median_bps", "bit/s", "The median of flows' throughputs."),
    real("throughput_p95_bps", "bit/s", "Of flows' throughputs, the one that 95 % do not exceed."),
    real("fct_mean_s", "s", "The mean completion time. Undefined if a flow did not finish."),
    real("fct_p5_s", "s", "Of completion times, the one that 5 % do not exceed."),
    real("fct_median_s", "s", "The median completion time. Undefined if half did not finish."),
    real("fct_p95_s", "s", "Of completion times, the one that 95 % do not exceed."),
    real(
        "startup_loss",
        "1",
        "Data packets dropped of those sent in start-up over all data packets sent, of all flows together.",
    ),
    whole("lossy_flows", "flows", "Flows that had a data packet dropped."),
    whole("exited_flows", "flows", "Flows that left start-up."),
    whole(
        "qs_requests",
        "1",
        "Quick-Start requests for a rate that the flows sent. Only where the scheme asks routers, as the next four.",
    ),
    whole(
        "qs_approved",
        "1",
        "Of those, how many all routers of the way approved, at the rate asked for or a lower one.",
    ),
    whole("qs_lowered", "1", "Of those approved, how many at a lower rate than was asked for."),
    real(
        "qs_success",
        "1",
        "Requests approved over requests: the success probability. Undefined without any.",
    ),
    real(
        "qs_rate_mean_bps",
        "bit/s",
        "The mean of the first rate that each flow was granted, over the flows that were granted one, headers included.",
    ),
    real(
        "active_mean",
        "flows",
        "Flows under way in the mean, from the first measured arrival to the last: of all schemes and those that are not measured, \
         too.",
    ),
    whole(
        "packet_hops",
        "1",
        "Packets that links carried in the whole run, each counted once for every link.",
    ),
    whole("flow", "", "Which flow of the run it is, in the order of arrivals, from nought."),
    whole("measured", "", "1 if the flow counts: it came after the warm-up and is not one too many; else 0."),
    real("start_s", "s", "When its SYN left, from the beginning of the run."),
    text("from", "The host that sends: its router and its place there, both from nought."),
    text("to", "The host that receives."),
    whole(
        "size_bytes",
        "B",
        "Payload to transfer. Undefined if the flow goes on until its end or the run's.",
    ),
    real(
        "requested_rate_bps",
        "bit/s",
        "The rate of the flow's newest Quick-Start request, headers included. Undefined if it sent none. Only where the scheme asks \
         routers.",
    ),
    whole(
        "startup_packets_lost",
        "packets",
        "Of the data packets sent in start-up, how many the network dropped.",
    ),
];

/// Whether the records are a population's schemes.
pub(crate) fn is_population(records: &[Record]) -> bool {
    records.first().is_some_and(|record| record.contains_key("flows"))
}

/// Whether the records are a population's flows.
pub(crate) fn is_flows(records: &[Record]) -> bool {
    records.first().is_some_and(|record| record.contains_key("measured"))
}

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
    use crate::columns::{Kind, column};
    use crate::records;

    /// A row and a flow with every optional field there.
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
                Value::Number(_) => assert_eq!(kind, Kind::Unsigned, "{field}"),
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
    fn what_routers_granted_has_columns_where_a_scheme_asks_them_and_none_elsewhere() {
        let heads = |records: &[Record]| {
            crate::view::columns_for(records).iter().map(|column| column.field).collect::<Vec<_>>()
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
