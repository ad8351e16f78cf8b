//! A result in the form that the verdict uses.

use serde_json::{Map, Value};

use crate::result::SchemeResult;
use crate::row::ALONE;

/// The share within which throughputs of a group count as equal to the best.
pub(super) const EQUAL: f64 = 0.01;

/// The numbers of a result that decide the order.
pub(super) struct Judged {
    pub(super) object: Map<String, Value>,
    pub(super) throughput: f64,
    pub(super) su_loss: Option<f64>,
    pub(super) cost: Option<f64>,
    /// The completion time. It may be defined without a cost: there is no ideal if other traffic takes all of the rate.
    pub(super) fct: Option<f64>,
}

impl Judged {
    pub(super) fn of(result: &SchemeResult) -> Self {
        let object = result.object();
        let number = |field: &str| object.get(field).and_then(Value::as_f64);
        let (throughput, su_loss) = (number("throughput_bps").unwrap_or(0.0), number("su_loss"));
        let mut judged = Self { throughput, su_loss, cost: None, fct: None, object };
        (judged.cost, judged.fct) = (judged.whole("cost"), judged.whole("fct_s"));
        judged
    }

    /// Returns the mean of a number that every run has; `None` otherwise, because a mean over the finished runs would hide the unfinished
    /// ones.
    pub(super) fn whole(&self, field: &str) -> Option<f64> {
        self.number(field).filter(|_| !self.object.contains_key(&format!("{field}_runs")))
    }

    pub(super) fn number(&self, field: &str) -> Option<f64> {
        self.object.get(field).and_then(Value::as_f64)
    }

    /// Returns the number of runs in which the field is defined, and the number of all runs.
    pub(super) fn runs(&self, field: &str) -> (u64, u64) {
        let count = |field: &str| self.object.get(field).and_then(Value::as_u64);
        let runs = count("runs").unwrap_or(1);
        let one = || u64::from(self.number(field).is_some());
        (count(&format!("{field}_runs")).unwrap_or_else(|| if runs > 1 { runs } else { one() }), runs)
    }

    /// Returns the number of runs in which the field is defined, in words; empty if all runs, or the only one, have it.
    pub(super) fn some(&self, field: &str) -> String {
        match self.runs(field) {
            (had, runs) if had < runs && had > 0 => format!(" in {had} of {runs} runs"),
            _ => String::new(),
        }
    }
}

/// Returns the help that a result needs beyond the sender.
pub(super) fn deploy(result: &SchemeResult) -> &str {
    match result.rows.first().map(|row| row.deploy.as_str()) {
        None | Some("") => ALONE,
        Some(deploy) => deploy,
    }
}
