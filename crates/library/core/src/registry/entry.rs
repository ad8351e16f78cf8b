//! The entries of schemes, restart policies and laws that can be chosen by name.
//!
//! Each scheme declares its entry, so this file is below the schemes. What an entry builds is above them: [`AnyScheme`] has a member for
//! each scheme. The entry therefore names the type through the trait [`Family`], and `any_startup.rs` and `any_law.rs` say which it is.
//!
//! [`AnyScheme`]: crate::registry::AnyScheme

use crate::registry::needs::{Missing, Needs, Offers, check};
use crate::registry::numbers::Numbers;
use crate::registry::parameter::{Parameter, ParameterError, Value};
use crate::registry::settings::Settings;
use crate::schemes::Initial;

/// A kind of parts that are chosen by name.
pub trait Family {
    /// The type that holds any part of this kind.
    type Any;
}

/// The start-up schemes.
#[derive(Clone, Copy, Debug)]
pub enum Schemes {}

/// The restart policies.
#[derive(Clone, Copy, Debug)]
pub enum Restarts {}

/// The avoidance laws.
#[derive(Clone, Copy, Debug)]
pub enum Laws {}

/// [`AnyScheme`](crate::registry::AnyScheme).
type SchemeMade = <Schemes as Family>::Any;
/// [`AnyRestart`](crate::registry::AnyRestart).
type RestartMade = <Restarts as Family>::Any;
/// [`AnyLaw`](crate::registry::AnyLaw).
type LawMade = <Laws as Family>::Any;

/// A start-up scheme that can be chosen by name.
#[derive(Clone, Copy, Debug)]
pub struct SchemeEntry {
    /// The name by which a user chooses it.
    pub name: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// The paper, RFC or code that defines it.
    pub source: &'static str,
    /// The name of the default avoidance law of the scheme.
    pub law: &'static str,
    /// The parameters that a user may set.
    pub parameters: &'static [Parameter],
    /// The needs of the scheme: abilities of the host, the receiver and the network.
    pub needs: Needs,
    /// Builds the scheme from settings that were checked, as an [`AnyScheme`](crate::registry::AnyScheme).
    pub make: fn(Initial, &Settings<'_>) -> SchemeMade,
}

/// A restart policy that can be chosen by name.
#[derive(Clone, Copy, Debug)]
pub struct RestartEntry {
    /// The name by which a user chooses it.
    pub name: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// The paper, RFC or code that defines it.
    pub source: &'static str,
    /// The parameters that a user may set.
    pub parameters: &'static [Parameter],
    /// The needs of the policy: abilities of the host, the receiver and the network.
    pub needs: Needs,
    /// Builds the policy from settings that were checked, as an [`AnyRestart`](crate::registry::AnyRestart).
    pub make: fn(Initial, &Settings<'_>) -> RestartMade,
}

/// An avoidance law that can be chosen by name.
#[derive(Clone, Copy, Debug)]
pub struct LawEntry {
    /// The name by which a user chooses it.
    pub name: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// The paper, RFC or code that defines it.
    pub source: &'static str,
    /// The needs of the law: abilities of the host, the receiver and the network.
    pub needs: Needs,
    /// Builds the law, as an [`AnyLaw`](crate::registry::AnyLaw).
    pub make: fn() -> LawMade,
}

impl SchemeEntry {
    /// Returns the parameter of this name; `None` if the scheme has none.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Returns these settings as the numbers that the constructor of the scheme's type takes, for a host that names its types:
    ///
    /// ```
    /// use firstflight::registry::{self, Value};
    /// use firstflight::schemes::{HyStartPlus, Initial};
    ///
    /// let entry = registry::scheme("hystart++").expect("a built-in scheme");
    /// let numbers = entry.numbers(&[("divisor", Value::Count(2))]).expect("a parameter of it");
    /// let scheme = HyStartPlus::from_numbers(Initial { segments: 10, ssthresh: None }, &numbers);
    /// # let _ = scheme;
    /// ```
    ///
    /// # Errors
    /// Returns the first setting that the scheme does not accept.
    pub fn numbers<'a>(&self, settings: &'a [(&'a str, Value)]) -> Result<Numbers, ParameterError<'a>> {
        Ok(Settings::check(self.name, self.parameters, settings)?.numbers())
    }

    /// Builds the scheme with these settings. A parameter that is not set has its default.
    ///
    /// # Errors
    /// Returns the first setting that the scheme does not accept.
    pub fn build<'a>(
        &self,
        initial: Initial,
        settings: &'a [(&'a str, Value)],
    ) -> Result<SchemeMade, ParameterError<'a>> {
        let settings = Settings::check(self.name, self.parameters, settings)?;
        Ok((self.make)(initial, &settings))
    }
}

impl RestartEntry {
    /// Returns the parameter of this name; `None` if the policy has none.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// Checks that a host can run this policy.
    ///
    /// # Errors
    /// Returns the first ability that the policy needs and the host does not have.
    pub fn check(&self, offers: Offers) -> Result<(), Missing> {
        check(self.name, self.needs, offers)
    }

    /// Builds the policy with these settings. A parameter that is not set has its default. `initial` gives the restart window.
    ///
    /// # Errors
    /// Returns the first setting that the policy does not accept.
    pub fn build<'a>(
        &self,
        initial: Initial,
        settings: &'a [(&'a str, Value)],
    ) -> Result<RestartMade, ParameterError<'a>> {
        let settings = Settings::check(self.name, self.parameters, settings)?;
        Ok((self.make)(initial, &settings))
    }
}

impl LawEntry {
    /// Checks that a host can run this law.
    ///
    /// # Errors
    /// Returns the first ability that the law needs and the host does not have.
    pub fn check(&self, offers: Offers) -> Result<(), Missing> {
        check(self.name, self.needs, offers)
    }

    /// Returns the law.
    pub fn build(&self) -> LawMade {
        (self.make)()
    }
}
