//! One start-up scheme or one restart policy, with its parameters. It is for a host that has no other part of a controller, such as a
//! kernel.

use std::fmt;

use firstflight::registry::{Numbers, Parameter, Registry, Value};

use crate::choice::{self, ChoiceError, SchemeChoice};
use crate::quantity::{QuantityError, in_a_line};
use crate::restart::{self, RestartChoice};

/// A start-up scheme or a restart policy, without the rest of a controller.
#[derive(Clone, Debug)]
pub enum Alone {
    /// A start-up scheme without path options and without a label.
    Startup(Box<SchemeChoice>),
    /// A restart policy.
    Restart(RestartChoice),
}

/// Why a text is not one scheme or policy.
#[derive(Debug, thiserror::Error)]
pub enum AloneError {
    /// A scheme that cannot be read.
    #[error(transparent)]
    Scheme(#[from] ChoiceError),
    /// A restart policy that cannot be read.
    #[error(transparent)]
    Policy(#[from] QuantityError),
    /// Several schemes or policies where one is expected.
    #[error("one {0} is wanted, and `{1}` is {2}")]
    Several(&'static str, String, usize),
    /// A key of the path, which the host decides.
    #[error("{0}: {1} is decided by the host; behind the scheme its own parameters may stand")]
    OfThePath(&'static str, &'static str),
    /// A label (`as=`), which only a row of a race has.
    #[error("{0}: as= labels a row of a race, and there is none")]
    Label(&'static str),
}

impl Alone {
    /// Reads `NAME[:PARAMETER=VALUE,...]`. The parameters of a restart policy may have slashes before them instead. If a scheme and a
    /// policy share a name, the name means the scheme.
    ///
    /// # Errors
    /// An unknown name, a parameter that it does not have, a value that is not allowed, or more than one scheme or policy.
    pub fn parse(registry: Registry, text: &str) -> Result<Self, AloneError> {
        let name = text.split([':', ',', '/']).next().unwrap_or_default().trim();
        if registry.scheme(name).is_none() && registry.restart(name).is_some() {
            let mut policies = restart::parse(registry, &text.replace([':', ','], "/"))?;
            return match (policies.pop(), policies.len()) {
                (Some(policy), 0) => Ok(Self::Restart(policy)),
                (_, more) => Err(AloneError::Several("restart policy", in_a_line(text), more + 1)),
            };
        }
        let mut choices = choice::parse(registry, text)?;
        let choice = match (choices.pop(), choices.len()) {
            (Some(choice), 0) => choice,
            (_, more) => return Err(AloneError::Several("scheme", in_a_line(text), more + 1)),
        };
        if let Some(key) = choice.own_keys().next() {
            return Err(AloneError::OfThePath(choice.entry.name, key));
        }
        if choice.label.is_some() {
            return Err(AloneError::Label(choice.entry.name));
        }
        Ok(Self::Startup(Box::new(choice)))
    }

    /// Returns the name of the scheme or policy.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Startup(choice) => choice.entry.name,
            Self::Restart(choice) => choice.entry.name,
        }
    }

    /// Returns the parameters that were set, in the order in which they were given.
    pub fn settings(&self) -> &[(&'static str, Value)] {
        match self {
            Self::Startup(choice) => choice.settings(),
            Self::Restart(choice) => choice.settings(),
        }
    }

    /// Returns all parameters, in the order of the scheme's or policy's parameter list.
    pub fn numbers(&self) -> Numbers {
        let known: &[Parameter] = match self {
            Self::Startup(choice) => choice.entry.parameters,
            Self::Restart(choice) => choice.entry.parameters,
        };
        let given =
            |name: &str| self.settings().iter().find(|(set, _)| *set == name).map(|(_, value)| *value);
        Numbers::of(known, given)
    }

    /// Returns the text that reads back as this scheme or policy with these parameters.
    pub fn text_with(&self, settings: &[(&'static str, Value)]) -> String {
        let [first, further] = match self {
            Self::Startup(_) => [':', ','],
            Self::Restart(_) => ['/', '/'],
        };
        let each = settings.iter().enumerate().map(|(place, (name, value))| {
            let before = if place == 0 { first } else { further };
            format!("{before}{name}={value}")
        });
        std::iter::once(self.name().to_owned()).chain(each).collect()
    }
}

impl fmt::Display for Alone {
    /// Writes the scheme or policy as on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text_with(self.settings()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Alone, String> {
        Alone::parse(Registry::builtin(), text).map_err(|error| error.to_string())
    }

    #[test]
    fn parsed_schemes_and_policies_are_displayed_in_a_form_that_parses_equally() {
        for (text, shown) in [
            ("hystart", "hystart"),
            ("limited:max-ssthresh=20,division=truncate", "limited:max-ssthresh=20,division=truncate"),
            (
                "careful-resume:saved=100000B,rtt=40000us,beta=50%",
                "careful-resume:saved=100kB,rtt=40ms,beta=50%",
            ),
            ("rbp-rate:scale=50%,after=cut", "rbp-rate/scale=50%/after=cut"),
            ("cwv/nvp=1s", "cwv/nvp=1s"),
        ] {
            let one = parse(text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(one.to_string(), shown);
            let again = parse(shown).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((again.name(), again.numbers()), (one.name(), one.numbers()));
        }
    }

    #[test]
    fn input_other_than_one_scheme_or_policy_is_refused_in_one_line() {
        for (text, part) in [
            ("hystart,vegas", "one scheme is wanted, and `hystart,vegas` is 2"),
            ("all", "one scheme is wanted"),
            ("limited:max-sthresh=50", "max-sthresh"),
            ("limited:max-ssthresh=zero", "zero"),
            ("hystart:iw=20", "hystart: iw is decided by the host"),
            ("hystart:as=h", "as= labels a row"),
            ("cwv:no=1", "no"),
            ("", "a scheme is missing"),
        ] {
            let refused = parse(text).expect_err(text);
            assert!(refused.contains(part) && refused.lines().count() == 1, "{text}: {refused}");
        }
    }
}
