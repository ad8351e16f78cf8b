//! Hosts that run noq.

mod host;
mod session;
mod watched;

use std::sync::Arc;

use firstflight_scenario::{StackController, StackOrder};
use firstflight_sim::{DatagramHost, FlowId, MakeHosts};
use firstflight_tcp::Role;
use noq_proto::congestion::{Bbr3Config, CubicConfig, NewRenoConfig};

use self::host::{Host, HostSpec};
use self::watched::Factories;
use crate::chosen::choice;
use crate::instants::Epoch;

/// Makes hosts that run noq with one kind of controller.
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
    /// Fails with a line about a controller that does not run in noq.
    pub(crate) fn new(order: &StackOrder<'_>, payload: u16) -> Result<Self, String> {
        Ok(Self { factories: Arc::new(factories(&order.controller)?), payload })
    }
}

/// Returns the factories of a controller. A scheme of Firstflight enters noq here.
fn factories(controller: &StackController<'_>) -> Result<Factories, String> {
    match controller {
        StackController::Own(name) => match *name {
            "cubic" => Ok(Factories::Own(Arc::new(CubicConfig::default()))),
            "newreno" => Ok(Factories::Own(Arc::new(NewRenoConfig::default()))),
            "bbr3" => Ok(Factories::Own(Arc::new(Bbr3Config::default()))),
            other => Err(format!("noq has no controller `{other}`; it has `cubic`, `newreno` and `bbr3`")),
        },
        StackController::Scheme(order) => {
            let choice = choice(order)?;
            let made = match firstflight_noq::Factory::new(&choice) {
                Ok(factory) => Ok((factory, false)),
                // What sockets cannot do may be possible here: gaps are exact, and a receiver may acknowledge each packet.
                Err(_) => firstflight_noq::Factory::in_virtual_time(&choice).map(|factory| (factory, true)),
            };
            let (factory, dense_acks) = made.map_err(|error| error.to_string())?;
            Ok(Factories::Scheme { factory: Box::new(factory), dense_acks })
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
