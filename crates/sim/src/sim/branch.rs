//! Runs that begin alike and go on differently: what they have in common is simulated once, and each goes on from a clone.
//!
//! A run that goes on as another does what that other would have done from the beginning, to the last bit, as long as
//! nothing of what changes has had its turn.

use firstflight::{Avoidance, Startup};

use super::{Hosts, Sim};
use crate::fault::FlowFault;
use crate::host::TcpFlow;
use crate::network::{NetworkError, TcpSpec};
use crate::packet::{FlowId, Side};
use crate::recorder::Recorder;

impl<S: Startup, R: Startup, A: Avoidance, W> Sim<S, R, A, W> {
    /// The same run, watched from now on by what `watcher` makes of who watched it so far. Who hears of drops in their turn is to
    /// take over when links have looked at everything: after [`Sim::run`], not after [`Sim::run_on`].
    pub fn watched_by<V: Recorder>(self, watcher: impl FnOnce(W) -> V) -> Sim<S, R, A, V> {
        let Self { now, mut fabric, flows, own, processes, arrived, seed, recorder, prefetched } = self;
        fabric.set_drops_in_turn(V::HEARS_DROPS_IN_TURN);
        let recorder = watcher(recorder);
        Sim { now, fabric, flows, own, processes, arrived, seed, recorder, prefetched }
    }

    /// Gives a TCP flow that has yet to start other ends. Its ways and its start stay.
    ///
    /// # Errors
    /// Ends that are impossible; a flow that has started, is none of the network's own, or is no TCP flow.
    pub fn set_ends(&mut self, flow: FlowId, spec: &TcpSpec<S, R, A>) -> Result<(), NetworkError> {
        spec.check().map_err(|fault| NetworkError::Flow { flow: flow.index(), fault })?;
        let hosts = TcpFlow::new(flow, spec, self.seed);
        *self.pending(flow)? = Hosts::Tcp(Box::new(hosts));
        Ok(())
    }

    /// Mutes a TCP flow that has yet to start: it never does. See [`crate::Network::mute`].
    ///
    /// # Errors
    /// As [`Sim::set_ends`].
    pub fn mute(&mut self, flow: FlowId) -> Result<(), NetworkError> {
        self.pending(flow)?;
        self.fabric.wake(flow, Side::Client, None);
        Ok(())
    }

    /// Takes away the routers that take part in Quick-Start. As long as nobody has asked them for a rate they have only
    /// looked on, so that the run is then as it would have been without them.
    pub fn remove_routers(&mut self) {
        self.fabric.remove_routers();
    }

    /// The hosts of a TCP flow that has yet to start.
    fn pending(&mut self, flow: FlowId) -> Result<&mut Hosts<S, R, A>, NetworkError> {
        let started = self.fabric.flows.get(flow.index()).is_some_and(|stats| stats.started.is_some());
        let own = self.flows.get_mut(..self.own).and_then(|own| own.get_mut(flow.index()));
        own.filter(|hosts| !started && matches!(hosts, Hosts::Tcp(_)))
            .ok_or(NetworkError::Flow { flow: flow.index(), fault: FlowFault::UnderWay })
    }
}
