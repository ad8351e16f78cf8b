//! The activity of the processors of flows' hosts, as fields of a row.

use firstflight::Time;
use firstflight::registry::{AnyLaw, AnyRestart, AnyScheme};
use firstflight_measure::CpuFields;
use firstflight_measure::arithmetic::{ratio, seconds};
use firstflight_scenario::{HostCpu, Scenario};
use firstflight_sim::{CpuSpec, CpuStats, FlowId, FlowStats, Function, Recorder, Sim};
use firstflight_tcp::Role;

/// A run in progress.
type AnySim<W> = Sim<AnyScheme, AnyRestart, AnyLaw, W>;

/// Returns the processor of a scenario's hosts; `None` if the hosts' operations take no time.
pub(crate) fn spec(scenario: &Scenario) -> Option<CpuSpec> {
    let hints = match scenario.host_cpu {
        HostCpu::None => return None,
        HostCpu::List => false,
        HostCpu::ListHints => true,
    };
    Some(CpuSpec { hints, packet: scenario.cpu_packet, segment: scenario.cpu_segment })
}

/// Returns the processor fields for a row with these flows, in a run that ended at `end`.
pub(crate) fn fields<W: Recorder>(
    sim: &AnySim<W>,
    flows: impl Iterator<Item = (FlowId, FlowStats)>,
    end: Time,
) -> CpuFields {
    let (mut sender, mut receiver) = (Together::default(), Together::default());
    let mut life = 0;
    for (id, flow) in flows {
        let (Some(client), Some(server)) = (sim.cpu(id, Role::Client), sim.cpu(id, Role::Server)) else {
            return CpuFields::default();
        };
        let Some(started) = flow.started else { continue };
        life += flow.ended().unwrap_or(end).nanos().saturating_sub(started.nanos());
        sender.add(client);
        receiver.add(server);
    }
    if sender.hosts == 0 {
        return CpuFields::default();
    }
    CpuFields {
        sender_cpu: Some(ratio(sender.busy, life)),
        sender_cpu_peak: Some(seconds(sender.peak)),
        sender_cpu_sacktag: Some(sender.share(Function::Sacktag)),
        sender_cpu_clean: Some(sender.share(Function::Clean)),
        sender_cpu_fastretrans: Some(sender.share(Function::Fastretrans)),
        sender_cpu_waiting: Some(u64::from(sender.waiting)),
        receiver_cpu: Some(ratio(receiver.busy, life)),
        receiver_cpu_peak: Some(seconds(receiver.peak)),
        receiver_cpu_data_queue: Some(receiver.share(Function::DataQueue)),
    }
}

/// The processors of several flows, on one side: the senders or the receivers.
#[derive(Default)]
struct Together {
    hosts: u32,
    busy: u64,
    peak: u64,
    waiting: u32,
    nanos: [u64; 5],
}

impl Together {
    fn add(&mut self, cpu: &CpuStats) {
        self.hosts += 1;
        self.busy += cpu.busy();
        self.peak = self.peak.max(cpu.busiest_second());
        self.waiting = self.waiting.max(cpu.waiting_most);
        for function in Function::ALL {
            self.nanos[function as usize] += cpu.nanos(function);
        }
    }

    fn share(&self, function: Function) -> Option<f64> {
        ratio(self.nanos[function as usize], self.busy)
    }
}
