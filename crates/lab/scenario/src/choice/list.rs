//! A list of schemes as text: names with their parameters, `all`, and `-NAME`.

use firstflight::registry::{Registry, SchemeEntry};

use super::{ChoiceError, OFFERS, SchemeChoice};
use crate::quantity;
use crate::quic::{OWN_CONTROLLERS, own_controller, split_own};
use crate::suggest::{SCHEMES, meant};

/// [`crate::ByName::parse_choices`].
pub(crate) fn parse(registry: Registry, list: &str) -> Result<Vec<SchemeChoice>, ChoiceError> {
    let mut choices: Vec<SchemeChoice> = Vec::new();
    let mut open = false;
    for (index, item) in list.split(',').map(str::trim).enumerate() {
        if item == "all" {
            choices.extend(all(registry));
            open = false;
        } else if let Some(name) = item.strip_prefix('-') {
            if index == 0 {
                choices.extend(all(registry));
            }
            take_away(registry, &mut choices, name)?;
            open = false;
        } else if item.contains('=') && !item.contains(':') {
            let stray = || ChoiceError::Stray { found: quantity::in_a_line(item) };
            choices.last_mut().filter(|_| open).ok_or_else(stray)?.set(item)?;
        } else {
            let (name, first) = parts(item);
            let mut choice = match own_controller(name) {
                Some(own) => SchemeChoice::of_controller(registry, own),
                None => SchemeChoice::of(registry, find(registry, name)?),
            };
            if let Some(parameter) = first {
                choice.set(parameter)?;
            }
            choices.push(choice);
            open = true;
        }
    }
    if choices.is_empty() {
        return Err(ChoiceError::NothingLeft);
    }
    for (index, choice) in choices.iter().enumerate() {
        if choices.iter().take(index).any(|before| before.name() == choice.name()) {
            return Err(ChoiceError::Twice { name: choice.name().to_owned() });
        }
        choice.entry.check(&choice.settings, OFFERS).map_err(ChoiceError::Host)?;
    }
    Ok(choices)
}

/// Removes the row with this label. If no row has this label, removes every row of the scheme with this name.
fn take_away(registry: Registry, choices: &mut Vec<SchemeChoice>, name: &str) -> Result<(), ChoiceError> {
    let name = name.trim();
    if parts(name).1.is_some() || name.contains('=') {
        return Err(ChoiceError::TakenWithParameters { found: quantity::in_a_line(name) });
    }
    let is_label = choices.iter().any(|choice| choice.label.as_deref() == Some(name));
    if !is_label && own_controller(name).is_none() {
        find(registry, name)?;
    }
    let before = choices.len();
    choices.retain(|choice| if is_label { choice.name() != name } else { choice.entry.name != name });
    if choices.len() == before {
        return Err(ChoiceError::NotListed { name: quantity::in_a_line(name) });
    }
    Ok(())
}

/// Splits an item into the name and the first parameter.
fn parts(item: &str) -> (&str, Option<&str>) {
    split_own(item)
        .or_else(|| item.split_once(':').map(|(name, first)| (name, Some(first))))
        .unwrap_or((item, None))
}

fn find(registry: Registry, name: &str) -> Result<&'static SchemeEntry, ChoiceError> {
    if name.is_empty() {
        return Err(ChoiceError::Empty);
    }
    if let Some(entry) = registry.scheme(name) {
        return Ok(entry);
    }
    if let Some((stack, scheme)) = name.split_once(':') {
        let own = OWN_CONTROLLERS.iter().filter(|own| own.stack.name() == stack);
        let own: Vec<&str> = own.map(|own| own.entry.name).collect();
        let hint = format!(
            "controllers of {stack} are {}; a scheme of Firstflight runs in {stack} as `{scheme}:stack={stack}`",
            own.join(", ")
        );
        return Err(ChoiceError::Unknown { found: quantity::in_a_line(name), hint });
    }
    let all = || format!("there are {}", names(registry));
    let hint = meant(name, SCHEMES, registry.schemes().map(|entry| entry.name)).unwrap_or_else(all);
    Err(ChoiceError::Unknown { found: quantity::in_a_line(name), hint })
}

/// Returns the names of all schemes, with commas between them.
pub(super) fn names(registry: Registry) -> String {
    registry.schemes().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

/// Returns every built-in scheme, with its defaults.
pub fn all_schemes() -> Vec<SchemeChoice> {
    all(Registry::builtin()).collect()
}

fn all(registry: Registry) -> impl Iterator<Item = SchemeChoice> {
    registry.schemes().map(move |entry| SchemeChoice::of(registry, entry))
}

/// Checks whether a list names this scheme explicitly, and not only as one of `all`.
pub fn is_named(list: &str, choice: &SchemeChoice) -> bool {
    let names = list.split(',').map(|item| parts(item.trim()).0.trim());
    names.into_iter().any(|name| name == choice.entry.name)
}

/// Writes `choices` as a list that [`crate::ByName::parse_choices`] reads.
pub fn show_choices(choices: &[SchemeChoice]) -> String {
    choices.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
