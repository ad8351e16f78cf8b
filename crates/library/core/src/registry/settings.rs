//! Settings of parameters, and their values with the defaults.

use crate::registry::numbers::Numbers;
use crate::registry::parameter::{Parameter, ParameterError, Problem, Value};
use crate::units::Span;

/// Settings that were checked against an entry's parameters.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    parameters: &'static [Parameter],
    given: &'a [(&'a str, Value)],
}

impl<'a> Settings<'a> {
    /// Checks every setting: its name, that it is set once, its kind and its range.
    ///
    /// # Errors
    /// Returns the first setting that is not allowed.
    pub fn check(
        owner: &'static str,
        parameters: &'static [Parameter],
        given: &'a [(&'a str, Value)],
    ) -> Result<Self, ParameterError<'a>> {
        for (index, &(name, found)) in given.iter().enumerate() {
            let problem = match parameters.iter().find(|parameter| parameter.name == name) {
                None => Problem::Unknown(parameters),
                Some(_) if given.iter().take(index).any(|(before, _)| *before == name) => Problem::Twice,
                Some(parameter) if !parameter.kind.allows(found) => {
                    Problem::NotAllowed { found, allowed: parameter.kind }
                }
                Some(_) => continue,
            };
            return Err(ParameterError { owner, name, problem });
        }
        Ok(Self { parameters, given })
    }

    /// Returns the value of the parameter `name` that was set; `None` if it was not set.
    pub fn given(&self, name: &str) -> Option<Value> {
        self.given.iter().find(|(given, _)| *given == name).map(|(_, value)| *value)
    }

    /// Returns the value set for the parameter `name`, or its default. `None` only if no parameter has this name.
    pub fn value(&self, name: &str) -> Option<Value> {
        let default = || self.parameters.iter().find(|parameter| parameter.name == name).map(|p| p.default);
        let value = self.given(name).or_else(default);
        debug_assert!(value.is_some(), "{name} is not a parameter");
        value
    }

    /// Returns all parameters as numbers, in the order of the entry's list.
    pub fn numbers(&self) -> Numbers {
        Numbers::of(self.parameters, |name| self.given(name))
    }

    /// Returns the value of the parameter `name`, a whole number.
    pub fn count(&self, name: &str) -> u64 {
        match self.value(name) {
            Some(Value::Count(count)) => count,
            _ => 0,
        }
    }

    /// Returns the value of the parameter `name`, a length of time.
    pub fn span(&self, name: &str) -> Span {
        match self.value(name) {
            Some(Value::Span(span)) => span,
            _ => Span::ZERO,
        }
    }

    /// Returns the value of the parameter `name`, a fraction in millionths.
    pub fn ppm(&self, name: &str) -> u32 {
        match self.value(name) {
            Some(Value::Fraction { ppm }) => ppm,
            _ => 0,
        }
    }

    /// Returns the value of the parameter `name`, a word.
    pub fn word(&self, name: &str) -> &'static str {
        match self.value(name) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }
}
