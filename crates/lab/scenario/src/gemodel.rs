//! Bursty loss in the form of Linux's netem: `gemodel:1%,10%,70%,0.1%`.

use std::fmt;

use firstflight_sim::LossBursts;

use crate::chance::probability;
use crate::quantity::{self, Decimal, QuantityError, Why, refuse};

/// The parameters of netem's `loss gemodel` (tc-netem(8)), in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gemodel {
    /// netem's `p`: probability of a change from the good state to the bad one, per packet.
    pub p: Decimal,
    /// netem's `r`: probability of a change from the bad state to the good one, per packet. By default `1 - p`.
    pub r: Decimal,
    /// netem's `1-h`: loss in the bad state. By default all.
    pub in_bad: Decimal,
    /// netem's `1-k`: loss in the good state. By default none.
    pub in_good: Decimal,
}

const ALL: Decimal = Decimal::whole(1);

const ALLOWED: &str = "bursty loss has netem's numbers, p, r, 1-h and 1-k with `%`, as in `gemodel:1%,10%` or \
                       `gemodel:1%,10%,70%,0.1%`";

impl Gemodel {
    /// Reads a text that begins with `gemodel`: the parameters follow as in `gemodel:1%,10%` or in netem's form `gemodel 1% 10%`. `None` for
    /// any other text. A number needs its `%`: netem reads `1` as one per cent, and other keys read it as all.
    ///
    /// # Errors
    /// No parameter or more than four, a number without `%` or above 100 %, a `p` of zero, and loss of all packets.
    pub(crate) fn read(text: &str) -> Option<Result<Self, QuantityError>> {
        let parameters = text.trim().strip_prefix("gemodel")?;
        let parameters = parameters.strip_prefix(':').unwrap_or(parameters);
        let shares = parameters.split([',', ' ']).map(str::trim).filter(|share| !share.is_empty());
        let shares: Result<Vec<Decimal>, _> = shares.map(percent).collect();
        Some(shares.and_then(|shares| Self::of(text, &shares)))
    }

    fn of(text: &str, shares: &[Decimal]) -> Result<Self, QuantityError> {
        let (p, more) = shares.split_first().ok_or_else(|| refuse(text, Why::Part, ALLOWED))?;
        if more.len() > 3 {
            return Err(refuse(text, Why::OutOfRange, ALLOWED));
        }
        if p.is_zero() {
            return Err(refuse(
                text,
                Why::Zero,
                "without p the chain stays in its good state, which is `loss` with 1-k alone",
            ));
        }
        let or = |place: usize, default| more.get(place).copied().unwrap_or(default);
        let model = Self { p: *p, r: or(0, p.rest()), in_bad: or(1, ALL), in_good: or(2, Decimal::whole(0)) };
        let ends_lost = model.in_bad == ALL && (model.r.is_zero() || model.in_good == ALL);
        if ends_lost {
            return Err(refuse(
                text,
                Why::OutOfRange,
                "it would lose every packet: an `r` above 0% or a `1-h` below 100% is needed",
            ));
        }
        Ok(model)
    }

    /// Returns the share of packets that is lost in the long run: `p/(p+r) (1-h) + r/(p+r) (1-k)`.
    pub fn loss(self) -> f64 {
        let [p, r, in_bad, in_good] = [self.p, self.r, self.in_bad, self.in_good].map(Decimal::to_f64);
        (p * in_bad + r * in_good) / (p + r)
    }

    /// Returns the model in the form that the simulator takes.
    pub fn bursts(self) -> LossBursts {
        LossBursts {
            to_bad: probability(self.p),
            to_good: probability(self.r),
            in_bad: probability(self.in_bad),
            in_good: probability(self.in_good),
        }
    }

    /// Returns the model in words, for titles.
    pub(crate) fn describe(self) -> String {
        format!("bursty loss of {:.2} % in the mean", 100.0 * self.loss())
    }
}

impl fmt::Display for Gemodel {
    /// Writes all four parameters, in the form in which they are read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p, r, in_bad, in_good] = [self.p, self.r, self.in_bad, self.in_good].map(Decimal::percent);
        write!(f, "gemodel:{p},{r},{in_bad},{in_good}")
    }
}

/// Reads a percentage with its sign.
fn percent(text: &str) -> Result<Decimal, QuantityError> {
    let share = quantity::fraction(if text.ends_with('%') { text } else { return Err(unsigned(text)) });
    share.map_err(|error| QuantityError { allowed: ALLOWED.into(), ..error })
}

/// Returns the error for a number without a percent sign.
fn unsigned(text: &str) -> QuantityError {
    match quantity::fraction(text) {
        Ok(share) if !share.is_zero() => {
            let both = (format!("{text}%"), share.percent());
            refuse(text, Why::Either(Box::new(both)), ALLOWED)
        }
        Ok(_) => refuse(text, Why::Write("0%".to_owned()), ALLOWED),
        Err(error) if error.why == Why::OutOfRange => refuse(text, Why::Write(format!("{text}%")), ALLOWED),
        Err(error) => QuantityError { allowed: ALLOWED.into(), ..error },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Gemodel, QuantityError> {
        Gemodel::read(text).expect("it begins with the word")
    }

    fn shown(text: &str) -> String {
        read(text).expect(text).to_string()
    }

    #[test]
    fn defaults_are_netems_and_its_own_form_is_read_too() {
        assert_eq!(shown("gemodel:1%"), "gemodel:1%,99%,100%,0%");
        assert_eq!(shown("gemodel:1%,10%"), "gemodel:1%,10%,100%,0%");
        assert_eq!(shown("gemodel 1% 10% 70% 0.1%"), "gemodel:1%,10%,70%,0.1%");
        assert_eq!(shown("gemodel: 0.05% , 25%"), "gemodel:0.05%,25%,100%,0%");
        assert!(Gemodel::read("2%").is_none());
    }

    #[test]
    fn the_long_run_loss_is_that_of_the_two_states() {
        let loss = |text| read(text).expect(text).loss();
        assert!((loss("gemodel:1%,9%") - 0.1).abs() < 1e-12);
        assert!((loss("gemodel:1%,9%,50%,1%") - 0.059).abs() < 1e-12);
    }

    #[test]
    fn a_number_without_its_sign_and_a_loss_of_all_are_refused() {
        for (text, says) in [
            ("gemodel:1,10%", "`1` may mean `1%` or `100%`"),
            ("gemodel:0.5", "`0.5` may mean `0.5%` or `50%`"),
            ("gemodel:5%,10", "`10` is written `10%` here"),
            ("gemodel:5%,0", "`0` is written `0%` here"),
            ("gemodel", "`gemodel` is only a part; bursty loss has netem's"),
            ("gemodel:0%,5%", "`gemodel:0%,5%` is zero; without p"),
            ("gemodel:1%,2%,3%,4%,5%", "is out of range; bursty loss"),
            ("gemodel:1%,101%", "`101%` is out of range; bursty loss"),
            ("gemodel:x", "`x` does not begin with a decimal number; bursty loss"),
            ("gemodel:100%", "it would lose every packet"),
            ("gemodel:1%,0%", "it would lose every packet"),
            ("gemodel:1%,5%,100%,100%", "it would lose every packet"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
