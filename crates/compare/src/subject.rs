//! What is compared: the schemes asked for, and those of the kernel.

use firstflight::registry::Registry;
use firstflight_scenario::{ByName, ChoiceError, Scenario, SchemeChoice};

/// A scheme that is compared.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The scheme.
    pub choice: SchemeChoice,
    /// The kernel's congestion control that starts and goes on as this scheme and its law do, if one does.
    pub congestion_control: Option<&'static str>,
    /// Whether it was asked for. The others stand beside the kernel alone.
    pub is_asked: bool,
}

/// What the kernel runs, and which of our schemes does as it does. Linux's HyStart has been part of its CUBIC since 2.6.29.
const OF_THE_KERNEL: [(&str, &str); 2] =
    [("reno", "slow-start:avoidance=reno"), ("cubic", "hystart-linux:avoidance=cubic-linux")];

/// The schemes asked for, and if `with_kernel` those of the kernel that are not among them, under the names `kernel-reno` and
/// `kernel-cubic`. `scenario` is the path with Linux's stack.
///
/// # Errors
/// A registry whose schemes are others.
pub fn subjects(
    asked: &[SchemeChoice],
    scenario: &Scenario,
    with_kernel: bool,
) -> Result<Vec<Subject>, ChoiceError> {
    let asked = asked.iter().map(|choice| Subject {
        choice: choice.clone(),
        congestion_control: None,
        is_asked: true,
    });
    let mut subjects: Vec<Subject> = asked.collect();
    for (name, scheme) in OF_THE_KERNEL.iter().filter(|_| with_kernel) {
        let theirs = only(scenario.registry, &format!("{scheme},as=kernel-{name}"))?;
        match subjects.iter_mut().find(|subject| does_as(&subject.choice, &theirs, scenario)) {
            Some(subject) => subject.congestion_control = Some(name),
            None => {
                subjects.push(Subject { choice: theirs, congestion_control: Some(name), is_asked: false });
            }
        }
    }
    Ok(subjects)
}

fn only(registry: Registry, scheme: &str) -> Result<SchemeChoice, ChoiceError> {
    registry.parse_choices(scheme)?.pop().ok_or(ChoiceError::Empty)
}

/// Whether two choices start and go on alike on this path.
fn does_as(choice: &SchemeChoice, other: &SchemeChoice, scenario: &Scenario) -> bool {
    let law = |choice: &SchemeChoice| choice.law(scenario.for_scheme(choice).avoidance);
    let apart_from_law = |choice: &SchemeChoice| Scenario { avoidance: None, ..scenario.for_scheme(choice) };
    let parameters = |choice: &SchemeChoice| {
        let set = choice.params();
        set.split(',').filter(|set| !set.starts_with("avoidance=")).collect::<Vec<_>>().join(",")
    };
    choice.entry.name == other.entry.name
        && law(choice) == law(other)
        && parameters(choice) == parameters(other)
        && apart_from_law(choice) == apart_from_law(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_scenario::{Options, parse_choices};

    fn named(list: &str, options: &[(&str, &str)], with_kernel: bool) -> Vec<(String, Option<&'static str>)> {
        let mut set = Options::default();
        for (key, value) in [("rate", "20mbit"), ("stack", "linux")].iter().chain(options) {
            set.set(key, value).expect("an option");
        }
        let scenario = Scenario::resolve(&set).expect("a scenario");
        let choices = parse_choices(list).expect("schemes");
        let subjects = subjects(&choices, &scenario, with_kernel).expect("subjects");
        subjects
            .iter()
            .map(|subject| (subject.choice.name().to_owned(), subject.congestion_control))
            .collect()
    }

    #[test]
    fn a_scheme_that_the_kernel_has_stands_beside_it() {
        let both = [("slow-start".to_owned(), Some("reno")), ("kernel-cubic".to_owned(), Some("cubic"))];
        assert_eq!(named("slow-start", &[], true), both);
        assert_eq!(named("slow-start", &[], false), [("slow-start".to_owned(), None)]);
        let cubic = named("hystart-linux:avoidance=cubic-linux", &[], true);
        assert_eq!(cubic[0], ("hystart-linux".to_owned(), Some("cubic")));
        assert_eq!(cubic[1], ("kernel-reno".to_owned(), Some("reno")));
    }

    #[test]
    fn a_scheme_with_another_law_or_other_settings_is_none_of_the_kernels() {
        for list in
            ["slow-start:avoidance=cubic", "slow-start:iw=4", "hystart-linux:avoidance=reno", "hystart"]
        {
            let subjects = named(list, &[], true);
            assert_eq!(subjects[0].1, None, "{list}");
            assert_eq!(subjects.len(), 3, "{list}");
        }
        assert_eq!(named("slow-start", &[("avoidance", "cubic")], true)[0].1, None);
    }
}
