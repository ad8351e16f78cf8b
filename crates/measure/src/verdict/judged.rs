//! A result as the verdict sees it.

use serde_json::{Map, Value};

use crate::result::SchemeResult;

/// Throughputs within this much of the best of their group count as equal.
pub(super) const EQUAL: f64 = 0.01;

/// The numbers that decide.
pub(super) struct Judged {
    pub(super) object: Map<String, Value>,
    pub(super) throughput: f64,
    pub(super) su_loss: Option<f64>,
    pub(super) cost: Option<f64>,
    /// There may be a completion time without a cost: beside others who take all of the rate there is no ideal.
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

    /// A number that every run has: a mean over the runs that finished says nothing of those that did not.
    pub(super) fn whole(&self, field: &str) -> Option<f64> {
        self.number(field).filter(|_| !self.object.contains_key(&format!("{field}_runs")))
    }

    pub(super) fn number(&self, field: &str) -> Option<f64> {
        self.object.get(field).and_then(Value::as_f64)
    }

    /// In how many of how many runs the field is defined.
    pub(super) fn runs(&self, field: &str) -> (u64, u64) {
        let count = |field: &str| self.object.get(field).and_then(Value::as_u64);
        let runs = count("runs").unwrap_or(1);
        let one = || u64::from(self.number(field).is_some());
        (count(&format!("{field}_runs")).unwrap_or_else(|| if runs > 1 { runs } else { one() }), runs)
    }

    /// Where not all of several runs have the field, in how many it is defined, in words.
    pub(super) fn some(&self, field: &str) -> String {
        match self.runs(field) {
            (had, runs) if had < runs && had > 0 => format!(" in {had} of {runs} runs"),
            _ => String::new(),
        }
    }
}
