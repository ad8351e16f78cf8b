//! Figures in this machine's TCP: the habitat `kernel`.

use std::fmt;

use firstflight_compare::{Hosted, Hosting, Inside, Wanted, real};
use firstflight_emulate::Side;
use firstflight_kernel::Order;
use firstflight_measure::Recording;
use firstflight_papers::{Habitat, Ran};
use firstflight_scenario::{Alone, Scenario, SchemeChoice};

use super::habitat::counted;
use crate::compare::handover_of;
use crate::emulate::Beside;
use crate::kernel::{Hosts, Tracing};

/// nginx in the kernel's TCP, whose sockets have the schemes, over emulated paths.
pub(super) struct InKernel;

impl Habitat for InKernel {
    fn rows(
        &self,
        scenario: &Scenario,
        choices: &[SchemeChoice],
        record: &dyn Fn(&Recording, &str),
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Ran, String> {
        let mut ran = Ran::default();
        let population = if scenario.population.is_some() { "only" } else { "" };
        // One after the other with each seed: what the machine does meanwhile hits all alike.
        for choice in choices {
            let seen = real::in_kernel(scenario, choice, &Loading, interrupted);
            let seen = counted(seen.map_err(|error| error.to_string())?)?;
            record(&seen.recording, population);
            ran.rows.push(seen.row);
            ran.flows.extend(seen.flows);
        }
        Ok(ran)
    }
}

/// What this machine lacks, in a line.
pub(super) fn missing() -> Option<String> {
    crate::compare::why_none_loads().or_else(|| real::has_server().err())
}

/// Puts schemes into the kernel.
struct Loading;

impl Hosting for Loading {
    fn host(&self, wanted: Wanted<'_>) -> Result<Box<dyn Hosted>, String> {
        let Wanted { choice, law, policy } = wanted;
        let handover = handover_of(law)?;
        if Hosts::are_meant(choice.entry.name) {
            return Ok(Box::new(Asking {
                hosts: Hosts::of(choice.settings(), handover)?,
                law: handover.name(),
            }));
        }
        let alone = match policy {
            Some(policy) => Alone::Restart(policy.clone()),
            None => Alone::Startup(Box::new(choice.clone())),
        };
        let name = crate::compare::own_name();
        let order = Order {
            scheme: alone.name(),
            parameters: alone.settings(),
            name: &name,
            handover,
            is_traced: policy.is_none(),
        };
        let loaded = firstflight_kernel::load(&order).map_err(|error| error.to_string())?;
        let name = loaded.name().to_owned();
        Ok(Box::new(Scheme { name, tracing: Tracing::begin(loaded), alone, is_traced: policy.is_none() }))
    }
}

/// A scheme or restart policy that is a congestion control.
struct Scheme {
    name: String,
    alone: Alone,
    tracing: Tracing,
    is_traced: bool,
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheme").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Hosted for Scheme {
    fn congestion_control(&self) -> &str {
        &self.name
    }

    fn attach(&self, _: [u32; 2]) -> Result<(), String> {
        Ok(())
    }

    fn told(self: Box<Self>) -> Result<Vec<(u16, Inside)>, String> {
        if !self.is_traced {
            return Ok(Vec::new());
        }
        let traces = self.tracing.traces(&self.alone)?;
        Ok(traces.into_iter().map(|trace| (trace.peer, Inside::Trace(trace.text))).collect())
    }
}

/// Quick-Start, beside the kernel's own congestion control.
struct Asking {
    hosts: Hosts,
    law: &'static str,
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asking").field("law", &self.law).finish_non_exhaustive()
    }
}

impl Hosted for Asking {
    fn congestion_control(&self) -> &str {
        self.law
    }

    fn attach(&self, processes: [u32; 2]) -> Result<(), String> {
        self.hosts.attach(processes, Side::B)
    }

    fn told(self: Box<Self>) -> Result<Vec<(u16, Inside)>, String> {
        let told = self.hosts.told()?;
        let one = |asked: &crate::emulate::Asked| {
            let port = asked.remote.rsplit_once(':')?.1.parse().ok()?;
            let rate = (asked.outcome == "approved").then_some(u64::from(asked.approved_bps));
            Some((port, Inside::Approved(rate)))
        };
        Ok(told.iter().filter_map(one).collect())
    }
}
