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
use self::watched::Factory;
use crate::instants::Epoch;

/// Makes hosts that run quinn with one kind of controller.
pub(crate) struct Hosts {
    factory: Factory,
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
        Ok(Self { factory: factory(&order.controller)?, payload })
    }
}

/// Returns the factory of a controller. A scheme of Firstflight enters quinn here.
fn factory(controller: &StackController<'_>) -> Result<Factory, String> {
    match controller {
        StackController::Own(name) => match *name {
            "cubic" => Ok(Arc::new(CubicConfig::default())),
            "newreno" => Ok(Arc::new(NewRenoConfig::default())),
            "bbr" => Ok(Arc::new(BbrConfig::default())),
            other => Err(format!("quinn has no controller `{other}`; it has `cubic`, `newreno` and `bbr`")),
        },
        StackController::Scheme { name, .. } => {
            Err(format!("schemes of Firstflight do not run in quinn yet, and {name} is one"))
        }
    }
}

impl MakeHosts for Hosts {
    fn make(&self, seed: u64, flow: FlowId, total: Option<u64>) -> [Box<dyn DatagramHost>; 2] {
        let epoch = Epoch::new();
        [Role::Client, Role::Server].map(|side| {
            let factory = Arc::clone(&self.factory);
            let spec = HostSpec { side, seed, flow: flow.0, payload: self.payload, total, factory, epoch };
            Box::new(Host::new(spec)) as Box<dyn DatagramHost>
        })
    }
}
