//! Schemes and restart policies from outside this crate, each in a box.
//!
//! The enums of `any_startup.rs` store the types of this crate inline, and any other type that implements [`Startup`] in a box. A user's
//! own scheme therefore runs wherever a scheme is chosen by name.

use alloc::boxed::Box;
use core::fmt;

use crate::avoidance::Reno;
use crate::controller::Controller;
use crate::interest::Interest;
use crate::interface::{Event, Path, PathEstimate, Plan, Startup, Step};
use crate::registry::any_law::AnyLaw;
use crate::schemes::{QuickStart, SlowStart};
use crate::units::Bytes;

/// A start-up scheme or restart policy of any type, in a box. [`AnyRestart`](super::AnyRestart) has small members, and holds this box in
/// a second box, which is a single pointer.
pub struct OutsideStartup(Box<dyn AnyStartup>);

/// [`Startup`] as an object-safe trait: without the constant, and with a boxed copy for `Clone`.
trait AnyStartup: fmt::Debug + Send + Sync {
    fn copy(&self) -> OutsideStartup;
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step;
    fn plan(&self, path: &Path) -> Plan;
    fn observe(&mut self, event: &Event<'_>, path: &Path) -> Option<PathEstimate>;
    fn needs_sends(&self) -> bool;
    fn needs_others(&self) -> bool;
    fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes>;
    fn state_size(&self, law: &AnyLaw) -> usize;
    fn state_size_in_quick_start(&self, law: &AnyLaw) -> usize;
    fn state_size_beside_slow_start(&self) -> usize;
}

impl<S: Startup + fmt::Debug + Send + Sync + 'static> AnyStartup for S {
    fn copy(&self) -> OutsideStartup {
        OutsideStartup::new(self.clone())
    }

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        Startup::on(self, event, path)
    }

    fn plan(&self, path: &Path) -> Plan {
        Startup::plan(self, path)
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) -> Option<PathEstimate> {
        Startup::observe(self, event, path)
    }

    fn needs_sends(&self) -> bool {
        S::INTEREST.sends(self)
    }

    fn needs_others(&self) -> bool {
        S::INTEREST.others(self)
    }

    fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes> {
        S::INTEREST.widen(self, growth, mss)
    }

    fn state_size(&self, law: &AnyLaw) -> usize {
        law.state_size_after::<S>()
    }

    fn state_size_in_quick_start(&self, law: &AnyLaw) -> usize {
        law.state_size_after::<QuickStart<S>>()
    }

    fn state_size_beside_slow_start(&self) -> usize {
        Controller::<SlowStart, S, Reno>::STATE_SIZE
    }
}

impl OutsideStartup {
    /// Boxes a scheme or policy.
    pub fn new(startup: impl Startup + fmt::Debug + Send + Sync + 'static) -> Self {
        Self(Box::new(startup))
    }

    pub(super) fn state_size(&self, law: &AnyLaw) -> usize {
        self.0.state_size(law)
    }

    pub(super) fn state_size_in_quick_start(&self, law: &AnyLaw) -> usize {
        self.0.state_size_in_quick_start(law)
    }

    pub(super) fn state_size_beside_slow_start(&self) -> usize {
        self.0.state_size_beside_slow_start()
    }
}

impl Startup for OutsideStartup {
    const INTEREST: Interest<Self> = Interest::<Self>::ALL
        .sends_if(|outside| outside.0.needs_sends())
        .others_if(|outside| outside.0.needs_others())
        .widened_by(|outside, growth, mss| outside.0.widen(growth, mss));

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        self.0.on(event, path)
    }

    fn plan(&self, path: &Path) -> Plan {
        self.0.plan(path)
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) -> Option<PathEstimate> {
        self.0.observe(event, path)
    }
}

impl Clone for OutsideStartup {
    fn clone(&self) -> Self {
        self.0.copy()
    }
}

/// Prints the boxed value.
impl fmt::Debug for OutsideStartup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
