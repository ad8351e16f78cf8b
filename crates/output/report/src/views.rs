//! The columns of the tables in the terminal and in the report: their heads, units and order, and which are kept on a narrow terminal.

use firstflight_export::columns::{
    self, Kind, is_flows, is_inspection, is_population, is_probing, is_trains,
};
use firstflight_export::record::{Record, number};

use crate::grid::ALWAYS;
use crate::inspected;
use crate::population;
use crate::probed;
use crate::view::{Only, Show, ViewColumn, view};

const fn sized<'a>(head: [&'a str; 2], field: &'a str, rank: u8) -> ViewColumn<'a> {
    ViewColumn { head, field, show: Show::Scaled(1.0), rank, only: Only::Sized }
}

const fn of_rounds<'a>(head: [&'a str; 2], field: &'a str, show: Show, rank: u8) -> ViewColumn<'a> {
    ViewColumn { head, field, show, rank, only: Only::Rounds }
}

const fn single<'a>(head: [&'a str; 2], field: &'a str, show: Show, rank: u8) -> ViewColumn<'a> {
    ViewColumn { head, field, show, rank, only: Only::Single }
}

/// All columns of races, in order.
pub(crate) const VIEW: &[ViewColumn] = &[
    view(["scheme", ""], "scheme", Show::Name, ALWAYS),
    view(["law", ""], "avoidance", Show::Text, 8),
    of_rounds(["restart", ""], "restart", Show::Text, 1),
    of_rounds(["elapsed", "s"], "elapsed_s", Show::Scaled(1.0), 1),
    of_rounds(["dropped", "p/reply"], "drops", Show::Scaled(1.0), 2),
    of_rounds(["burst", "p"], "burst_packets", Show::Scaled(1.0), 4),
    of_rounds(["ACK clock", "s"], "ack_clock_s", Show::Scaled(1.0), 5),
    sized(["FCT", "s"], "fct_s", 4),
    ViewColumn { only: Only::Present, ..sized(["FCT", "p95 s"], "fct_s_p95", 3) },
    ViewColumn { only: Only::Present, ..sized(["FCT", "p99 s"], "fct_s_p99", 3) },
    sized(["ideal", "s"], "ideal_fct_s", 7),
    sized(["cost", "×"], "cost", 1),
    single(["throughput", "Mbit/s"], "throughput_bps", Show::Scaled(1e6), 1),
    single(["su-time", "s"], "su_time_s", Show::Scaled(1.0), 4),
    single(["su-loss", "%"], "su_loss", Show::Scaled(0.01), 2),
    ViewColumn {
        head: ["harm", "B/B"],
        field: "harm_per_byte",
        show: Show::Scaled(1.0),
        rank: 2,
        only: Only::Present,
    },
    view(["time-", "outs"], "timeouts", Show::Count, 5),
    view(["exit cause", "@ s"], "exit_cause", Show::Exit, 3),
    single(["cwnd", "/BDP"], "exit_cwnd_over_bdp", Show::Scaled(1.0), 7),
    single(["found", "Mbit/s"], "exit_rate_bps", Show::Scaled(1e6), 9),
    single(["over-", "shot p"], "overshoot_lost_packets", Show::Count, 6),
    single(["to 90 %", "s"], "time_to_90pct_s", Show::Scaled(1.0), 6),
    ViewColumn {
        head: ["marked", "p"],
        field: "packets_marked",
        show: Show::Count,
        rank: 9,
        only: Only::Any,
    },
    // Reduced and refused requests are only in the exports, because four columns would leave no room for names.
    ViewColumn {
        head: ["QS", "admitted"],
        field: "qs_asked",
        show: Show::Admitted,
        rank: 11,
        only: Only::Present,
    },
    view(["queue", "peak p"], "queue_peak_packets", Show::Count, 10),
    ViewColumn {
        head: ["others", "lost p"],
        field: "harm_during_lost_packets",
        show: Show::Change,
        rank: 10,
        only: Only::WithoutHarm,
    },
];

/// The rank of the throughput column if there is a column for the cost, which is more informative.
const BESIDE_COST: u8 = 5;

/// Returns the columns for which these records have values.
pub(crate) fn columns_for(records: &[Record]) -> Vec<ViewColumn<'static>> {
    if is_inspection(records) {
        return inspected::VIEW.to_vec();
    }
    let all = match records {
        _ if is_probing(records) => probed::VIEW,
        _ if is_trains(records) => probed::TRAINS_VIEW,
        _ if is_population(records) => population::VIEW,
        _ if is_flows(records) => population::FLOWS_VIEW,
        _ => VIEW,
    };
    let has = |field: &str| records.iter().any(|record| record.contains_key(field));
    let (sized, rounds) = (has("fct_s"), has("elapsed_s"));
    let belongs = |column: &&ViewColumn<'static>| match column.only {
        Only::Always => true,
        Only::Sized => sized,
        Only::Rounds => rounds,
        Only::Single => !rounds,
        Only::Any => records.iter().any(|record| number(record, column.field).is_some_and(|n| n > 0.0)),
        Only::Present => has(column.field),
        Only::WithoutHarm => !has("harm_per_byte"),
    };
    let ranked = |column: &ViewColumn<'static>| match column.field {
        "throughput_bps" if sized && !is_flows(records) => ViewColumn { rank: BESIDE_COST, ..*column },
        _ => *column,
    };
    all.iter().filter(belongs).map(ranked).collect()
}

/// Returns the column with the records' names, then the columns of these fields, in this order. The terminal leaves none of them out. A
/// field that is in no table, such as a window's field, is shown in its own unit. An unknown field has no column.
pub(crate) fn chosen<'a>(records: &[Record], fields: &'a [String]) -> Vec<ViewColumn<'a>> {
    let own = columns_for(records);
    let views = || {
        own.iter().chain(VIEW).chain(population::VIEW).chain(population::FLOWS_VIEW).chain(inspected::VIEW)
    };
    let name = own.iter().find(|column| matches!(column.show, Show::Name)).copied();
    let behind = fields.iter().filter(|field| name.is_none_or(|name| name.field != field.as_str()));
    let found = behind.filter_map(|field| {
        let seen = views().find(|column| column.field == field).copied();
        seen.or_else(|| {
            columns::described_field(field)
                .or_else(|| columns::column(field))
                .map(|column| plain(field, column))
        })
        .map(|column| ViewColumn { rank: ALWAYS, ..column })
    });
    name.into_iter().chain(found).collect()
}

/// Returns a column that shows a field in its own unit.
fn plain<'a>(field: &'a str, column: &columns::Column) -> ViewColumn<'a> {
    let show = match column.kind {
        Kind::Text | Kind::Truth => Show::Text,
        Kind::Whole => Show::Count,
        Kind::Real => Show::Scaled(1.0),
    };
    let unit = if column.unit == "1" { "" } else { column.unit };
    view([field, unit], field, show, ALWAYS)
}
