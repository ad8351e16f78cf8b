//! The schemes of a race and their parameters: `NAME[:k=v[,k=v]…][,NAME…]`, `all`, and `-NAME`, which removes a scheme.

mod error;
mod list;
mod set;

pub use error::ChoiceError;
pub(crate) use list::parse;
pub use list::{all_schemes, is_named, show_choices};

use std::sync::Arc;

use firstflight::registry::{self, AnyScheme, Needs, Offers, Registry, SchemeEntry, Value};
use firstflight::schemes::Initial;
use firstflight_tcp::{Growth, SlowStartCounts, Stack};

use crate::keywords::{growth_name, slow_start_counts_name, stack_if_not_rfc};
use crate::options::Options;
use crate::quic::{OwnController, own_controller};
use crate::restart::RestartChoice;
use crate::stacks::Stacks;

/// The parameter for the congestion window that an earlier connection saved. A scheme that resumes that connection takes it.
pub const SAVED_WINDOW: &str = "saved";
/// The parameter for the round-trip time that an earlier connection saved. A scheme that resumes that connection takes it.
pub const SAVED_RTT: &str = "rtt";

/// A scheme of a race, with its parameters.
#[derive(Clone, Debug)]
pub struct SchemeChoice {
    /// The scheme.
    pub entry: &'static SchemeEntry,
    /// The label given with `as=`.
    pub label: Option<String>,
    /// The parameters that were set.
    settings: Vec<(&'static str, Value)>,
    /// Keys of the path that this scheme sets for its own flows, and their texts. If the scheme has a parameter with the name of a key, the
    /// name means the parameter.
    pub(crate) own: Options,
    own_text: Vec<(&'static str, String)>,
    /// The provider of hosts for a QUIC stack.
    stacks: Option<Arc<dyn Stacks>>,
}

/// The capabilities of the simulated host: it can run everything.
pub const OFFERS: Offers = Offers::all("the simulator");

impl SchemeChoice {
    /// Returns a scheme with its defaults.
    pub fn plain(entry: &'static SchemeEntry) -> Self {
        Self::of(Registry::builtin(), entry)
    }

    /// Creates a choice of a scheme with its defaults. Its path options take names from this registry.
    fn of(registry: Registry, entry: &'static SchemeEntry) -> Self {
        Self {
            entry,
            label: None,
            settings: Vec::new(),
            own: Options::of(registry),
            own_text: Vec::new(),
            stacks: None,
        }
    }

    /// Returns the choice of a controller of a QUIC stack.
    fn of_controller(registry: Registry, own: &'static OwnController) -> Self {
        let mut choice = Self::of(registry, &own.entry);
        (choice.own.stack, choice.own.quic) = (Some(Stack::Rfc), Some(own.stack));
        choice
    }

    /// Returns the name that the controller has in its QUIC stack, if this is the choice of one.
    pub fn own_controller(&self) -> Option<&'static str> {
        Some(own_controller(self.entry.name)?.name)
    }

    /// Returns the choice with this provider of hosts. A flow runs in a QUIC stack only if its choice has a provider.
    pub fn with_stacks(self, stacks: Arc<dyn Stacks>) -> Self {
        Self { stacks: Some(stacks), ..self }
    }

    /// Returns the provider of hosts for a QUIC stack.
    pub fn stacks(&self) -> Option<&dyn Stacks> {
        self.stacks.as_deref()
    }

    /// Returns slow start with its defaults.
    pub fn slow_start() -> Self {
        Self::plain(&registry::schemes()[0])
    }

    /// Returns slow start with this choice's options of the path.
    pub fn slow_start_instead(&self) -> Self {
        Self { entry: Self::slow_start().entry, label: None, settings: Vec::new(), ..self.clone() }
    }

    /// Returns the parameters that were set, in the order in which they were given.
    pub fn settings(&self) -> &[(&'static str, Value)] {
        &self.settings
    }

    /// Returns the keys of the path that this choice sets for its own flows.
    pub fn own_keys(&self) -> impl Iterator<Item = &'static str> {
        self.own_text.iter().map(|(key, _)| *key)
    }

    /// Checks whether this parameter was set.
    pub(crate) fn sets(&self, name: &str) -> bool {
        self.settings.iter().any(|(set, _)| *set == name)
    }

    /// Sets a parameter unless it was set before. A parameter that the scheme does not take is ignored.
    pub fn set_default(&mut self, name: &'static str, value: Value) {
        let allowed = self.entry.parameter(name).is_some_and(|parameter| parameter.kind.allows(value));
        if allowed && !self.sets(name) {
            self.settings.push((name, value));
        }
    }

    /// Returns the name of the scheme's row: the label, or the scheme's name.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(self.entry.name)
    }

    /// Returns the choice with `stack` as its own setting, unless `stack` is the default.
    pub(crate) fn of_stack(mut self, stack: Stack) -> Self {
        if let Some(name) = stack_if_not_rfc(stack).filter(|_| self.own.stack.is_none()) {
            self.own.stack = Some(stack);
            self.own_text.push(("stack", name.to_owned()));
        }
        self
    }

    /// Returns the rule by which the window grows while the application limits it. Only this choice's own settings count, not the path's.
    pub(crate) fn own_growth(&self) -> Growth {
        self.own.plain.growth.unwrap_or_else(|| self.own.stack.unwrap_or(Stack::Rfc).growth())
    }

    /// Returns the choice with `growth` as its own setting. A choice that sets its growth itself stays unchanged.
    pub(crate) fn of_growth(mut self, growth: Option<Growth>) -> Self {
        const KEY: &str = "app-limited-growth";
        if let Some(growth) = growth.filter(|_| self.own.given(KEY).is_none()) {
            let text = growth_name(Some(growth)).to_owned();
            self.own.plain.growth = Some(growth);
            self.own.remember(KEY, &text);
            self.own_text.push((KEY, text));
        }
        self
    }

    /// Returns byte-counting slow start with this choice's path options.
    pub fn slow_start_counting_bytes(&self) -> Self {
        const KEY: &str = "slow-start-counts";
        let (counts, mut choice) = (SlowStartCounts::Bytes, self.slow_start_instead());
        let text = slow_start_counts_name(Some(counts)).to_owned();
        choice.own.plain.slow_start_counts = Some(counts);
        choice.own.remember(KEY, &text);
        choice.own_text.retain(|(key, _)| *key != KEY);
        choice.own_text.push((KEY, text));
        choice
    }

    /// Returns the needs of the scheme, with its parameters: of the sending host, the receiver and the network.
    pub(crate) fn needs(&self) -> Needs {
        self.entry.needs_with(&self.settings)
    }

    /// Returns the choice without its label.
    pub(crate) fn unlabelled(&self) -> Self {
        Self { label: None, ..self.clone() }
    }

    /// Returns the parameters that were set, as on the command line, in the scheme's order; none if all are at their defaults. One
    /// parameter may decide another's default (`profile=paper`), so a parameter at its default is left out only together with all others.
    pub fn params(&self) -> String {
        let set = self.entry.parameters.iter().filter_map(|parameter| {
            let (name, value) = self.settings.iter().find(|(name, _)| *name == parameter.name)?;
            Some((parameter, format!("{name}={value}"), *value))
        });
        let plain = set.clone().all(|(parameter, _, value)| value == parameter.default);
        let own = self.own_text.iter().map(|(key, text)| format!("{key}={text}"));
        set.filter(|_| !plain).map(|(_, text, _)| text).chain(own).collect::<Vec<_>>().join(",")
    }

    /// Checks whether the scheme resumes an earlier connection and lacks one of the two parameters for it, `saved` and `rtt` (RFC 9959
    /// section 3.1).
    pub fn lacks_saved(&self) -> bool {
        let saved = [SAVED_WINDOW, SAVED_RTT];
        saved.iter().all(|name| self.entry.parameter(name).is_some())
            && !saved.iter().all(|name| self.sets(name))
    }

    /// Checks whether the choice sets its own restart policy.
    pub(crate) fn has_own_restart(&self) -> bool {
        self.own.restart.is_some()
    }

    /// Returns the choice with this restart policy and this label.
    pub(crate) fn restarting(mut self, policy: &RestartChoice, label: String) -> Self {
        self.own.restart = Some(vec![policy.clone()]);
        self.own_text.push(("restart", policy.to_string()));
        self.label = Some(label);
        self
    }

    /// Returns the avoidance law that follows the scheme: `forced` if it is given, otherwise the scheme's own law.
    pub fn law(&self, forced: Option<&'static str>) -> &'static str {
        forced.unwrap_or(self.entry.law)
    }

    /// Checks that a host that offers `offers` can run the scheme with its parameters.
    ///
    /// # Errors
    /// The first thing that the scheme needs and the host cannot do.
    pub fn check(&self, offers: Offers) -> Result<(), ChoiceError> {
        self.entry.check(&self.settings, offers).map_err(ChoiceError::Host)
    }

    /// Builds the scheme.
    ///
    /// # Errors
    /// A parameter that the scheme does not take. Parsing has already refused it.
    pub fn build(&self, initial: Initial) -> Result<AnyScheme, ChoiceError> {
        let built = self.entry.build(initial, &self.settings);
        built.map_err(|error| ChoiceError::Parameter(error.to_string()))
    }
}

impl std::fmt::Display for SchemeChoice {
    /// Writes the choice as on the command line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let label = self.label.as_ref().map(|label| format!("as={label}"));
        let parameters: Vec<_> =
            [Some(self.params()).filter(|text| !text.is_empty()), label].into_iter().flatten().collect();
        let colon = if parameters.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{}", self.entry.name, parameters.join(","))
    }
}

#[cfg(test)]
mod tests;
