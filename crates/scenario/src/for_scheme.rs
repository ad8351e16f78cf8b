//! What of a scenario a scheme has for itself.

use crate::choice::SchemeChoice;
use crate::scenario::Scenario;

impl Scenario {
    /// The scenario as this scheme meets it: with the options that the scheme has for itself.
    pub fn for_scheme(&self, choice: &SchemeChoice) -> Self {
        let own = &choice.own;
        let ssthresh = own
            .ssthresh
            .map_or(self.ssthresh, |amount| amount.and_then(|amount| amount.in_bytes(u64::from(self.mss))));
        Scenario {
            iw: own.iw.unwrap_or(self.iw),
            ssthresh,
            avoidance: own.avoidance.or(self.avoidance),
            recovery: own.recovery.unwrap_or(self.recovery),
            stack: own.stack.unwrap_or(self.stack),
            // A stack comes with its least timeout, unless the path says another.
            min_rto: match own.stack {
                Some(stack) if self.min_rto == self.stack.min_rto() => stack.min_rto(),
                _ => self.min_rto,
            },
            restart: own.restart_or(&self.restart),
            ..own.over(self)
        }
    }
}
