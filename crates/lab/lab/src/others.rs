//! The flows of a run that are not measured.

use firstflight_measure::CrossTotals;
use firstflight_sim::{FlowId, Recorder};

use crate::build_network::AnySim;

/// Returns the flows that are not measured: those that the network has from the start, and those that arrived during the run.
pub(crate) fn others<W: Recorder>(sim: &AnySim<W>, clients: usize) -> impl Iterator<Item = FlowId> {
    (0..sim.flow_count()).map(FlowId).skip(clients)
}

/// Returns the totals so far of the flows that are not measured.
pub(crate) fn cross_totals<W: Recorder>(sim: &AnySim<W>, clients: usize) -> CrossTotals {
    others(sim, clients).filter_map(|id| sim.flow(id)).fold(CrossTotals::default(), |totals, flow| {
        let lost = flow.data_dropped_by_queue + flow.data_dropped_by_policer + flow.data_dropped_at_random;
        CrossTotals { lost: totals.lost + lost, delivered: totals.delivered + flow.delivered_bytes }
    })
}
