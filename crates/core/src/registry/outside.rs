//! Schemes, restart policies and laws from outside the tree, each in a box.
//!
//! The enums of [`super`] hold the types of this crate in place, and any other type that implements [`Startup`] or
//! [`Avoidance`] in a box. A user's own scheme therefore runs wherever a scheme is chosen by name.

use alloc::boxed::Box;
use core::alloc::Layout;
use core::fmt;

use super::{AnyLaw, AnyPlain, AnyRestart, AnyScheme};
use crate::avoidance::Reno;
use crate::controller::{Controller, State};
use crate::hears::Hears;
use crate::restart::Rfc5681;
use crate::schemes::{QuickStart, SlowStart};
use crate::seam::{Avoidance, Event, Exit, Learned, Path, Plan, Startup, Step};
use crate::units::Bytes;

/// A start-up scheme or restart policy of any type, in a box. [`AnyRestart`] has small members, and holds this box
/// behind another one, which is a single pointer.
pub struct OutsideStartup(Box<dyn AnyStartup>);

/// An avoidance law of any type, in a box.
pub struct OutsideLaw(Box<dyn AnyAvoidance>);

/// [`Startup`] as a trait object can have it: without the constant, and with a boxed copy for `Clone`.
trait AnyStartup: fmt::Debug + Send + Sync {
    fn copy(&self) -> OutsideStartup;
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step;
    fn plan(&self, path: &Path) -> Plan;
    fn overhear(&mut self, event: &Event<'_>, path: &Path) -> Option<Learned>;
    fn hears_sends(&self) -> bool;
    fn hears_others(&self) -> bool;
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

    fn overhear(&mut self, event: &Event<'_>, path: &Path) -> Option<Learned> {
        Startup::overhear(self, event, path)
    }

    fn hears_sends(&self) -> bool {
        S::HEARS.sends(self)
    }

    fn hears_others(&self) -> bool {
        S::HEARS.others(self)
    }

    fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes> {
        S::HEARS.widen(self, growth, mss)
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

/// [`Avoidance`] as a trait object can have it: without the constant, and with a boxed copy for `Clone`.
trait AnyAvoidance: fmt::Debug + Send + Sync {
    fn copy(&self) -> OutsideLaw;
    fn enter(&mut self, exit: &Exit, path: &Path);
    fn on(&mut self, event: &Event<'_>, path: &Path);
    fn plan(&self, path: &Path) -> Plan;
    fn forget_path(&mut self);
    fn overhear(&mut self, event: &Event<'_>, path: &Path);
    fn hears_sends(&self) -> bool;
    fn hears_later_losses(&self) -> bool;
    fn hears_others(&self) -> bool;
    fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes>;
    fn layout(&self) -> Layout;
}

impl<A: Avoidance + fmt::Debug + Send + Sync + 'static> AnyAvoidance for A {
    fn copy(&self) -> OutsideLaw {
        OutsideLaw::new(self.clone())
    }

    fn enter(&mut self, exit: &Exit, path: &Path) {
        Avoidance::enter(self, exit, path);
    }

    fn on(&mut self, event: &Event<'_>, path: &Path) {
        Avoidance::on(self, event, path);
    }

    fn plan(&self, path: &Path) -> Plan {
        Avoidance::plan(self, path)
    }

    fn forget_path(&mut self) {
        Avoidance::forget_path(self);
    }

    fn overhear(&mut self, event: &Event<'_>, path: &Path) {
        Avoidance::overhear(self, event, path);
    }

    fn hears_sends(&self) -> bool {
        A::HEARS.sends(self)
    }

    fn hears_later_losses(&self) -> bool {
        A::HEARS.later_losses(self)
    }

    fn hears_others(&self) -> bool {
        A::HEARS.others(self)
    }

    fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes> {
        A::HEARS.widen(self, growth, mss)
    }

    fn layout(&self) -> Layout {
        Layout::new::<A>()
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
    const HEARS: Hears<Self> = Hears::<Self>::ALL
        .sends_if(|outside| outside.0.hears_sends())
        .others_if(|outside| outside.0.hears_others())
        .widened_by(|outside, growth, mss| outside.0.widen(growth, mss));

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        self.0.on(event, path)
    }

    fn plan(&self, path: &Path) -> Plan {
        self.0.plan(path)
    }

    fn overhear(&mut self, event: &Event<'_>, path: &Path) -> Option<Learned> {
        self.0.overhear(event, path)
    }
}

impl OutsideLaw {
    /// Boxes a law.
    pub fn new(law: impl Avoidance + fmt::Debug + Send + Sync + 'static) -> Self {
        Self(Box::new(law))
    }

    /// Bytes of state that govern a connection with the scheme `S`, the default restart policy and this law. Only the
    /// box knows the type of the law, so its layout is appended to that of the rest.
    pub(super) fn state_size_after<S>(&self) -> usize {
        let rest = Layout::new::<State<S, Rfc5681, ()>>();
        rest.extend(self.0.layout()).map_or(0, |(whole, _)| whole.pad_to_align().size())
    }
}

impl Avoidance for OutsideLaw {
    const HEARS: Hears<Self> = Hears::<Self>::ALL
        .sends_if(|outside| outside.0.hears_sends())
        .later_losses_if(|outside| outside.0.hears_later_losses())
        .others_if(|outside| outside.0.hears_others())
        .widened_by(|outside, growth, mss| outside.0.widen(growth, mss));

    fn enter(&mut self, exit: &Exit, path: &Path) {
        self.0.enter(exit, path);
    }

    fn on(&mut self, event: &Event<'_>, path: &Path) {
        self.0.on(event, path);
    }

    fn plan(&self, path: &Path) -> Plan {
        self.0.plan(path)
    }

    fn forget_path(&mut self) {
        self.0.forget_path();
    }

    fn overhear(&mut self, event: &Event<'_>, path: &Path) {
        self.0.overhear(event, path);
    }
}

impl Clone for OutsideStartup {
    fn clone(&self) -> Self {
        self.0.copy()
    }
}

impl Clone for OutsideLaw {
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

/// Prints the boxed value.
impl fmt::Debug for OutsideLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl AnyScheme {
    /// Boxes a scheme of a type from outside this crate, as a [`super::SchemeEntry`] of a user does.
    pub fn outside(scheme: impl Startup + fmt::Debug + Send + Sync + 'static) -> Self {
        Self::Plain(AnyPlain::Outside(OutsideStartup::new(scheme)))
    }
}

impl AnyRestart {
    /// Boxes a restart policy of a type from outside this crate.
    pub fn outside(policy: impl Startup + fmt::Debug + Send + Sync + 'static) -> Self {
        Self::Outside(Box::new(OutsideStartup::new(policy)))
    }
}

impl AnyLaw {
    /// Boxes a law of a type from outside this crate.
    pub fn outside(law: impl Avoidance + fmt::Debug + Send + Sync + 'static) -> Self {
        Self::Outside(OutsideLaw::new(law))
    }
}
