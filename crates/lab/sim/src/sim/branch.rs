//! Runs with a common beginning: the beginning is simulated once, and each run continues from a clone of it.
//!
//! A clone may be changed. Its run is then equal to the last bit to a run with the change from time zero, as long as
//! the changed parts have had no effect before.

use firstflight::{Avoidance, Startup};

use firstflight_tcp::Role;

use super::{Hosts, Sim};
use crate::fault::FlowFault;
use crate::foreign::ForeignSpec;
use crate::foreign_hosts::ForeignFlow;
use crate::host::TcpFlow;
use crate::network::{NetworkError, TcpSpec};
use crate::packet::FlowId;
use crate::recorder::Recorder;

impl<S: Startup, R: Startup, A: Avoidance, W> Sim<S, R, A, W> {
    /// Returns this run with another recorder from now on. `watcher` makes that recorder from the present one. If it
    /// observes drops in order of time, it must take over after [`Sim::run`], not after [`Sim::run_on`], because links
    /// have to be up to date.
    pub fn watched_by<V: Recorder>(self, watcher: impl FnOnce(W) -> V) -> Sim<S, R, A, V> {
        let Self {
            now,
            mut fabric,
            flows,
            own,
            processes,
            arrived,
            seed,
            most_events,
            handled,
            recorder,
            prefetched,
            machines,
            spent,
        } = self;
        fabric.set_drops_in_turn(V::NEEDS_DROPS_IN_ORDER);
        let recorder = watcher(recorder);
        Sim {
            now,
            fabric,
            flows,
            own,
            processes,
            arrived,
            seed,
            most_events,
            handled,
            recorder,
            prefetched,
            machines,
            spent,
        }
    }

    /// Gives a TCP flow that has yet to start other endpoints and another application. Its routes and its start are
    /// kept.
    ///
    /// # Errors
    /// Returns an error if the endpoints are impossible, or if the flow has started, arrived during the run, or is not
    /// a TCP flow.
    pub fn set_ends(&mut self, flow: FlowId, spec: &TcpSpec<S, R, A>) -> Result<(), NetworkError> {
        spec.check().map_err(|fault| NetworkError::Flow { flow: flow.index(), fault })?;
        let hosts = TcpFlow::new(flow, spec, self.seed, self.machines);
        *self.pending(flow)? = Hosts::Tcp(Box::new(hosts));
        Ok(())
    }

    /// Gives a TCP flow that has yet to start the hosts of a foreign transport instead. Its routes and its start are kept.
    ///
    /// # Errors
    /// See [`Sim::set_ends`].
    pub fn set_foreign(&mut self, flow: FlowId, spec: &ForeignSpec) -> Result<(), NetworkError> {
        spec.check().map_err(|fault| NetworkError::Flow { flow: flow.index(), fault })?;
        let hosts = ForeignFlow::new(flow, spec.clone(), self.seed);
        *self.pending(flow)? = Hosts::Foreign(Box::new(hosts));
        Ok(())
    }

    /// Mutes a TCP flow that has yet to start: it never starts. See [`crate::Network::mute`].
    ///
    /// # Errors
    /// See [`Sim::set_ends`].
    pub fn mute(&mut self, flow: FlowId) -> Result<(), NetworkError> {
        self.pending(flow)?;
        self.fabric.wake(flow, Role::Client, None);
        Ok(())
    }

    /// Removes the routers that take part in Quick-Start. A router that received no request has only measured, so the
    /// run is then as it would have been without routers.
    pub fn remove_routers(&mut self) {
        self.fabric.remove_routers();
    }

    /// Returns the hosts of a TCP flow that has yet to start.
    fn pending(&mut self, flow: FlowId) -> Result<&mut Hosts<S, R, A>, NetworkError> {
        let started = self.fabric.flows.get(flow.index()).is_some_and(|stats| stats.started.is_some());
        let own = self.flows.get_mut(..self.own).and_then(|own| own.get_mut(flow.index()));
        own.filter(|hosts| !started && matches!(hosts, Hosts::Tcp(_) | Hosts::Foreign(_)))
            .ok_or(NetworkError::Flow { flow: flow.index(), fault: FlowFault::UnderWay })
    }
}
