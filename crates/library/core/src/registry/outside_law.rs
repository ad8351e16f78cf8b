//! Laws from outside this crate, each in a box.
//!
//! [`AnyLaw`](super::AnyLaw) stores the types of this crate inline, and any other type that implements [`Avoidance`] in a box. A user's own
//! law therefore runs wherever a law is chosen by name.

use alloc::boxed::Box;
use core::alloc::Layout;
use core::fmt;

use crate::controller::State;
use crate::interest::Interest;
use crate::interface::{Avoidance, Event, Exit, Path, Plan};
use crate::restart::Rfc5681;
use crate::units::Bytes;

/// An avoidance law of any type, in a box.
pub struct OutsideLaw(Box<dyn AnyAvoidance>);

/// [`Avoidance`] as an object-safe trait: without the constant, and with a boxed copy for `Clone`.
trait AnyAvoidance: fmt::Debug + Send + Sync {
    fn copy(&self) -> OutsideLaw;
    fn enter(&mut self, exit: &Exit, path: &Path);
    fn on(&mut self, event: &Event<'_>, path: &Path);
    fn plan(&self, path: &Path) -> Plan;
    fn forget_path(&mut self);
    fn observe(&mut self, event: &Event<'_>, path: &Path);
    fn needs_sends(&self) -> bool;
    fn needs_later_losses(&self) -> bool;
    fn needs_others(&self) -> bool;
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

    fn observe(&mut self, event: &Event<'_>, path: &Path) {
        Avoidance::observe(self, event, path);
    }

    fn needs_sends(&self) -> bool {
        A::INTEREST.sends(self)
    }

    fn needs_later_losses(&self) -> bool {
        A::INTEREST.later_losses(self)
    }

    fn needs_others(&self) -> bool {
        A::INTEREST.others(self)
    }

    fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes> {
        A::INTEREST.widen(self, growth, mss)
    }

    fn layout(&self) -> Layout {
        Layout::new::<A>()
    }
}

impl OutsideLaw {
    /// Boxes a law.
    pub fn new(law: impl Avoidance + fmt::Debug + Send + Sync + 'static) -> Self {
        Self(Box::new(law))
    }

    /// Returns the size in bytes of a connection's state with the scheme `S`, the default restart policy and this law.
    /// Only the box knows the type of the law, so its layout is appended to that of the other parts.
    pub(super) fn state_size_after<S>(&self) -> usize {
        let rest = Layout::new::<State<S, Rfc5681, ()>>();
        rest.extend(self.0.layout()).map_or(0, |(whole, _)| whole.pad_to_align().size())
    }
}

impl Avoidance for OutsideLaw {
    const INTEREST: Interest<Self> = Interest::<Self>::ALL
        .sends_if(|outside| outside.0.needs_sends())
        .later_losses_if(|outside| outside.0.needs_later_losses())
        .others_if(|outside| outside.0.needs_others())
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

    fn observe(&mut self, event: &Event<'_>, path: &Path) {
        self.0.observe(event, path);
    }
}

impl Clone for OutsideLaw {
    fn clone(&self) -> Self {
        self.0.copy()
    }
}

/// Prints the boxed value.
impl fmt::Debug for OutsideLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
