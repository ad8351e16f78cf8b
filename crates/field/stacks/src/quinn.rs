//! Hosts that run quinn.

mod host;
mod session;
mod watched;

use std::sync::Arc;

use firstflight_scenario::{StackController, StackOrder};
use firstflight_sim::{DatagramHost, FlowId, MakeHosts};
use firstflight_tcp::Role;
use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};

use self::host::{Host, HostSpec};
use self::watched::Factories;
use crate::chosen::choice;
use crate::instants::Epoch;

/// Makes hosts that run quinn with one kind of controller.
pub(crate) struct Hosts {
    factories: Arc<Factories>,
    payload: u16,
}

impl std::fmt::Debug for Hosts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hosts").field("payload", &self.payload).finish_non_exhaustive()
    }
}

impl Hosts {
    /// Creates the hosts that `order` describes, with UDP payloads of at most `payload` bytes.
    ///
    /// # Errors
    /// Fails with a line about a controller that does not run in quinn.
    pub(crate) fn new(order: &StackOrder<'_>, payload: u16) -> Result<Self, String> {
        Ok(Self { factories: Arc::new(factories(&order.controller)?), payload })
    }
}

/// Returns the factories of a controller. A scheme of Firstflight enters quinn here.
fn factories(controller: &StackController<'_>) -> Result<Factories, String> {
    match controller {
        StackController::Own(name) => match *name {
            "cubic" => Ok(Factories::Own(Arc::new(CubicConfig::default()))),
            "newreno" => Ok(Factories::Own(Arc::new(NewRenoConfig::default()))),
            "bbr" => Ok(Factories::Own(Arc::new(BbrConfig::default()))),
            other => Err(format!("quinn has no controller `{other}`; it has `cubic`, `newreno` and `bbr`")),
        },
        StackController::Scheme(order) => {
            let factory =
                firstflight_quinn::Factory::new(&choice(order)?).map_err(|error| error.to_string())?;
            Ok(Factories::Scheme { factory: Box::new(factory) })
        }
    }
}

impl MakeHosts for Hosts {
    fn make(&self, seed: u64, flow: FlowId, total: Option<u64>) -> [Box<dyn DatagramHost>; 2] {
        let epoch = Epoch::new();
        [Role::Client, Role::Server].map(|side| {
            let factories = Arc::clone(&self.factories);
            let spec = HostSpec { side, seed, flow: flow.0, payload: self.payload, total, factories, epoch };
            Box::new(Host::new(spec)) as Box<dyn DatagramHost>
        })
    }
}
