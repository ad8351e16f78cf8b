//! The restart policies and their parameters: `NAME[/k=v]…`, several with commas, or `all`.

use firstflight::registry::{self, AnyRestart, ParameterError, Registry, RestartEntry, Value};
use firstflight::schemes::Initial;

use crate::parameter::{CHECKED, read};
use crate::quantity::{QuantityError, Why, refuse};
use crate::suggest::meant;

/// A restart policy with its parameters.
#[derive(Clone, Debug)]
pub struct RestartChoice {
    /// The policy.
    pub entry: &'static RestartEntry,
    /// The parameters that were set.
    settings: Vec<(&'static str, Value)>,
}

impl PartialEq for RestartChoice {
    fn eq(&self, other: &Self) -> bool {
        (self.entry.name, &self.settings) == (other.entry.name, &other.settings)
    }
}

impl Eq for RestartChoice {}

impl Default for RestartChoice {
    /// Returns the policy of RFC 5681.
    fn default() -> Self {
        Self::plain(&registry::restarts()[0])
    }
}

impl std::fmt::Display for RestartChoice {
    /// Writes the policy as on the command line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.entry.name)?;
        self.settings.iter().try_for_each(|(name, value)| write!(f, "/{name}={value}"))
    }
}

impl RestartChoice {
    /// Returns a policy with its defaults.
    pub const fn plain(entry: &'static RestartEntry) -> Self {
        Self { entry, settings: Vec::new() }
    }

    /// Returns the parameters that were set, in the order in which they were given.
    pub fn settings(&self) -> &[(&'static str, Value)] {
        &self.settings
    }

    /// Builds the policy.
    ///
    /// # Errors
    /// A parameter that the policy does not take. Parsing has already refused it.
    pub fn build(&self, initial: Initial) -> Result<AnyRestart, ParameterError<'_>> {
        self.entry.build(initial, &self.settings)
    }

    /// Reads `NAME[/k=v]…`.
    fn parse(registry: Registry, text: &str) -> Result<Self, QuantityError> {
        let mut parts = text.split('/').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let entry = registry.restart(name).ok_or_else(|| unknown(registry, name))?;
        let mut choice = Self::plain(entry);
        for part in parts {
            choice.set(part)?;
        }
        Ok(choice)
    }

    fn set(&mut self, part: &str) -> Result<(), QuantityError> {
        let policy = self.entry.name;
        let wanted = || {
            let names: Vec<&str> = self.entry.parameters.iter().map(|parameter| parameter.name).collect();
            match names.as_slice() {
                [] => format!("the restart policy {policy} has no parameters"),
                names => format!("the restart policy {policy} has {}, as in `/NAME=VALUE`", names.join(", ")),
            }
        };
        let (name, text) = part.split_once('=').ok_or_else(|| refuse(part, Why::UnknownWord, wanted()))?;
        let (name, text) = (name.trim(), text.trim());
        let parameter = self.entry.parameter(name).ok_or_else(|| refuse(name, Why::UnknownWord, wanted()))?;
        if self.settings.iter().any(|(before, _)| *before == name) {
            return Err(refuse(part, Why::Conflict, wanted()));
        }
        let value = read(parameter, text)?;
        self.settings.push((parameter.name, value));
        let built = self.entry.build(CHECKED, &self.settings);
        built.map(drop).map_err(|error| refuse(text, Why::OutOfRange, error.to_string()))
    }
}

/// [`crate::ByName::parse_restarts`].
pub(crate) fn parse(registry: Registry, text: &str) -> Result<Vec<RestartChoice>, QuantityError> {
    if text.trim() == "all" {
        return Ok(registry.restarts().map(RestartChoice::plain).collect());
    }
    let choices =
        text.split(',').map(|text| RestartChoice::parse(registry, text)).collect::<Result<Vec<_>, _>>()?;
    for (index, choice) in choices.iter().enumerate() {
        if choices.iter().take(index).any(|before| before == choice) {
            return Err(refuse(&choice.to_string(), Why::Conflict, "a policy is wanted once"));
        }
    }
    Ok(choices)
}

fn unknown(registry: Registry, name: &str) -> QuantityError {
    let names = || registry.restarts().map(|entry| entry.name);
    let all = || format!("restart policies are `all` or of {}", names().collect::<Vec<_>>().join(", "));
    refuse(name, Why::UnknownWord, meant(name, &[], names()).unwrap_or_else(all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_restarts;

    fn fault(text: &str) -> String {
        parse_restarts(text).expect_err(text).to_string()
    }

    #[test]
    fn all_is_every_policy_and_the_first_is_rfc_5681s() {
        let all = parse_restarts("all").expect("all");
        assert_eq!(all.len(), registry::restarts().len());
        assert_eq!(all[0], RestartChoice::default());
        assert_eq!(RestartChoice::default().to_string(), "rfc5681");
    }

    #[test]
    fn parameters_follow_with_slashes_and_read_back() {
        let text = "ssr/since=received,rbp-rate/scale=100%/after=cut,rbp-rate";
        let choices = parse_restarts(text).expect("three");
        let shown: Vec<String> = choices.iter().map(ToString::to_string).collect();
        assert_eq!(shown.join(","), text);
        for choice in choices {
            assert!(choice.build(CHECKED).is_ok());
        }
    }

    #[test]
    fn invalid_restart_policies_are_refused_with_allowed_values() {
        assert_eq!(fault("nsr"), "`nsr` is not known; is `nssr` meant?");
        assert!(fault("zzzzzzzz").contains("restart policies are `all` or of rfc5681, ssr, nssr"));
        assert!(fault("nssr/scale=1").contains("the restart policy nssr has no parameters"));
        assert!(fault("rbp-rate/scal=50%").contains("has scale, rounding, rtt, over, after, burst, expires"));
        assert!(fault("rbp-rate/scale=200%").contains("allowed is a fraction from 1% to 100%"));
        assert!(fault("cwv/rule=2861").contains("rfc7661, rfc2861, linux"));
        assert!(fault("ssr,ssr").contains("wanted once"));
    }
}
