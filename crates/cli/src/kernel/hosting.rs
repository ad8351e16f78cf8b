//! Loads schemes into the kernel for runs of other commands: for `compare`, and for the papers' figures in the habitat `kernel`.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use firstflight_emulate::Side;
use firstflight_habitats::{Hosted, Hosting, Inside, Loaded, Wanted};
use firstflight_kernel::{Handover, Order, check, load as load_scheme, name_in_process, schemes};
use firstflight_scenario::{Alone, SchemeChoice};

use super::quick_start::Hosts;
use super::tracing::Tracing;
use crate::emulate::{Asked, Beside};

/// For each law, the kernel's congestion control that takes over after start-up and follows this law.
const HANDOVERS: [(&str, Handover); 3] =
    [("reno", Handover::Reno), ("cubic-linux", Handover::Cubic), ("bbr", Handover::Bbr)];

/// Returns the reason why no scheme can be loaded here; `None` if only an attempt to load one can show that.
pub(crate) fn why_none_loads() -> Option<String> {
    if schemes().next().is_none() {
        return Some("this program was built without objects; `make kernel` builds them".to_owned());
    }
    check().err().map(|error| error.to_string())
}

/// Returns the kernel's congestion control that follows this law after start-up.
fn handover_of(law: &str) -> Result<Handover, String> {
    let handover = HANDOVERS.iter().find(|(of, _)| *of == law).map(|(_, handover)| *handover);
    handover.ok_or_else(|| {
        let all = HANDOVERS.map(|(law, _)| law).join(", ");
        format!("the kernel does not go on with avoidance={law}; it has {all}")
    })
}

/// Returns a name that only this process uses, and that no scheme has.
fn own_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    name_in_process(std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Loads a scheme until the return value is dropped. The scheme is registered under a name that only this process uses.
pub(super) fn load(choice: &SchemeChoice, law: &'static str) -> Result<Loaded, String> {
    let handover = handover_of(law)?;
    let name = own_name();
    let order = Order {
        scheme: choice.entry.name,
        parameters: choice.settings(),
        name: &name,
        handover,
        is_traced: false,
    };
    let keeper = load_scheme(&order).map_err(|error| error.to_string())?;
    Ok(Loaded { name, keeper: Box::new(keeper) })
}

/// The loader of schemes into the kernel.
pub(crate) struct Loading;

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
        let name = own_name();
        let order = Order {
            scheme: alone.name(),
            parameters: alone.settings(),
            name: &name,
            handover,
            is_traced: policy.is_none(),
        };
        let loaded = load_scheme(&order).map_err(|error| error.to_string())?;
        let name = loaded.name().to_owned();
        Ok(Box::new(Scheme { name, tracing: Tracing::begin(loaded), alone, is_traced: policy.is_none() }))
    }
}

/// A scheme or restart policy that is loaded as a congestion control.
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

    fn sender_events(self: Box<Self>) -> Result<Vec<(u16, Inside)>, String> {
        if !self.is_traced {
            return Ok(Vec::new());
        }
        let traces = self.tracing.traces(&self.alone)?;
        Ok(traces.into_iter().map(|trace| (trace.peer, Inside::Trace(trace.text))).collect())
    }
}

/// Quick-Start, which is attached in addition to the kernel's own congestion control.
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

    fn sender_events(self: Box<Self>) -> Result<Vec<(u16, Inside)>, String> {
        let outcomes = self.hosts.outcomes()?;
        let one = |asked: &Asked| {
            let port = asked.remote.rsplit_once(':')?.1.parse().ok()?;
            let rate = (asked.outcome == "approved").then_some(u64::from(asked.approved_bps));
            Some((port, Inside::Approved(rate)))
        };
        Ok(outcomes.iter().filter_map(one).collect())
    }
}
