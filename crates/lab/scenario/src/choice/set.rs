//! One item after a scheme's name: a parameter of the scheme, a key of the path for its own flows, or a label.

use firstflight::registry::Value;

use super::{ChoiceError, SchemeChoice};
use crate::keys::{OptionError, key, keys};
use crate::parameter::{CHECKED, read};
use crate::quantity::{self, Why, refuse};
use crate::suggest::meant;

impl SchemeChoice {
    /// Applies the item `name=value` that follows the scheme's name.
    pub(super) fn set(&mut self, item: &str) -> Result<(), ChoiceError> {
        let (name, text) = item
            .split_once('=')
            .ok_or_else(|| ChoiceError::NotAParameter { found: quantity::in_a_line(item) })?;
        let (name, text) = (name.trim(), text.trim());
        let scheme = self.entry.name;
        // The registry rejects a parameter of the scheme that is set twice.
        if self.own_text.iter().any(|(before, _)| *before == name) || name == "as" && self.label.is_some() {
            return Err(ChoiceError::Parameter(format!("{scheme}: {name} is set twice")));
        }
        if name == "as" {
            return self.set_label(text);
        }
        let Some(parameter) = self.entry.parameter(name) else {
            if let Some(key) = key(name).filter(|key| key.schemes) {
                return self.set_own(key.name, text);
            }
            if let Some(key) = key(name) {
                let own: Vec<_> = keys().filter(|key| key.schemes).map(|key| key.name).collect();
                return Err(ChoiceError::Parameter(format!(
                    "{scheme}: {} is a key of the whole path, --{}; behind a scheme's name may stand the scheme's parameters and {}",
                    key.name,
                    key.name,
                    own.join(", ")
                )));
            }
            let own = keys().filter(|key| key.schemes).map(|key| key.name).chain(["as"]);
            let known = self.entry.parameters.iter().map(|parameter| parameter.name).chain(own);
            if let Some(hint) = meant(name, &[], known) {
                let name = quantity::in_a_line(name);
                return Err(ChoiceError::Parameter(format!("{scheme} has no parameter {name}; {hint}")));
            }
            // The registry writes this error.
            let given = [(name, Value::Count(0))];
            let error = self.entry.build(CHECKED, &given).err().map(|error| error.to_string());
            return Err(ChoiceError::Parameter(quantity::in_a_line(&error.unwrap_or_default())));
        };
        let value = read(parameter, text).map_err(|error| ChoiceError::Value {
            scheme,
            name: name.to_owned(),
            error,
        })?;
        self.settings.push((parameter.name, value));
        self.build(CHECKED).map(drop)
    }

    fn set_own(&mut self, key: &'static str, text: &str) -> Result<(), ChoiceError> {
        let scheme = self.entry.name;
        self.own.set(key, text).map_err(|error| ChoiceError::Own { scheme, error })?;
        if self.own.restart.as_ref().is_some_and(|policies| policies.len() > 1) {
            let error = refuse(text, Why::Conflict, "a scheme has one restart policy for itself");
            return Err(ChoiceError::Own { scheme, error: OptionError::Value { key, error } });
        }
        self.own_text.push((key, text.to_owned()));
        Ok(())
    }

    fn set_label(&mut self, label: &str) -> Result<(), ChoiceError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_+.".contains(c);
        if label.is_empty() || label.starts_with(['.', '-', '+']) || !label.chars().all(plain) {
            return Err(ChoiceError::Label { found: quantity::in_a_line(label) });
        }
        self.label = Some(label.to_owned());
        Ok(())
    }
}
