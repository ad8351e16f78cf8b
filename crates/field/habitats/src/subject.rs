//! The schemes that are compared: the user's schemes, and the kernel's own schemes.

use firstflight::registry::Registry;
use firstflight_scenario::{ByName, ChoiceError, Scenario, SchemeChoice};

/// A scheme that is compared.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The scheme.
    pub choice: SchemeChoice,
    /// The kernel's congestion control that behaves like this scheme and its avoidance law; `None` if the kernel has none.
    pub congestion_control: Option<&'static str>,
    /// Whether the user named the scheme. Otherwise it has rows only in the kernel and in the simulator with Linux's stack.
    pub is_asked: bool,
}

/// The kernel's congestion controls, and the equivalent schemes here. CUBIC in Linux contains HyStart since version 2.6.29.
const OF_THE_KERNEL: [(&str, &str); 2] =
    [("reno", "slow-start:avoidance=reno"), ("cubic", "hystart-linux:avoidance=cubic-linux")];

/// Returns the schemes in `asked`. If `with_kernel` is set, also returns the kernel's schemes that are not among them, with the names
/// `kernel-reno` and `kernel-cubic`. `scenario` is the path with Linux's stack.
///
/// # Errors
/// The registry does not contain the kernel's schemes.
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

/// Returns whether two choices behave alike on this path, in start-up and after start-up.
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
        let reno = [("avoidance", "reno")];
        assert_eq!(named("slow-start", &reno, true), both);
        assert_eq!(named("slow-start", &reno, false), [("slow-start".to_owned(), None)]);
        let cubic = named("hystart-linux:avoidance=cubic-linux", &[], true);
        assert_eq!(cubic[0], ("hystart-linux".to_owned(), Some("cubic")));
        assert_eq!(cubic[1], ("kernel-reno".to_owned(), Some("reno")));
    }

    #[test]
    fn schemes_with_other_avoidance_or_settings_have_no_kernel_counterpart() {
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
