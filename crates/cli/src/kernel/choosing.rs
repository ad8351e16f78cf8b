//! Finds the scheme to load from the text on the command line.

use firstflight::registry::Registry;
use firstflight_kernel::{Handover, KernelError, NAMES, Order, name_of, schemes, why_not};
use firstflight_scenario::suggest::{SCHEMES, meant};
use firstflight_scenario::{Alone, AloneError};

use super::options::{Chosen, Law};
use crate::failure::{Failure, Place};

/// A chosen scheme or restart policy, as read by the registry.
pub(super) struct Choice {
    pub(super) scheme: &'static str,
    /// The scheme with its parameters.
    pub(super) alone: Alone,
    pub(super) handover: Handover,
    /// The name given by the user, if any.
    name: Option<String>,
}

impl Choice {
    /// Reads a scheme or restart policy and its parameters, in the form of `race --schemes`.
    pub(super) fn of(chosen: &Chosen, registry: Registry, arguments: &[String]) -> Result<Self, Failure> {
        let text = &chosen.scheme;
        let refuse = |message: String| Failure::usage(message).at(Place::argument(arguments, text));
        let name = text.split([':', ',', '/']).next().unwrap_or_default().trim();
        if registry.scheme(name).is_none() && registry.restart(name).is_none() {
            return Err(refuse(unknown(name)));
        }
        let chosen_one = Alone::parse(registry, text).map_err(|error| refuse(why(&error)))?;
        let scheme = chosen_one.name();
        if !schemes().any(|other| other == scheme) {
            return Err(refuse(cannot_be_hosted(scheme)));
        }
        if let Some(name) = &chosen.name {
            firstflight_kernel::check_name(name).map_err(|error| {
                Failure::usage(format!("--name: {error}")).at(Place::value(arguments, "--name", name))
            })?;
        }
        Ok(Self {
            scheme,
            alone: chosen_one,
            handover: handover(chosen.handover.unwrap_or(Law::Cubic)),
            name: chosen.name.clone(),
        })
    }

    /// Returns the name to register: the name given by the user, or the scheme's own name.
    pub(super) fn name(&self) -> String {
        let own = || name_of(self.scheme).unwrap_or_default().to_owned();
        self.name.clone().unwrap_or_else(own)
    }

    /// Returns a warning if the kernel loses what the scheme finds, or finds it wrongly on a busy host.
    pub(super) fn warning(&self) -> Option<String> {
        match self.scheme {
            "leap" | "leap-saved" if self.handover == Handover::Bbr => Some(format!(
                "--handover bbr: the kernel's bbr begins its own start-up, and fills the queue that {} spared; cubic and reno do not",
                self.scheme
            )),
            "paced" => Some(
                "paced: a pause of a few ms in a train makes its rate wrong: above some 50 Mbit/s it needs an idle host".to_owned(),
            ),
            _ => None,
        }
    }

    /// Returns a name that is not registered yet: the name given by the user, the scheme's own name, or a generated one.
    pub(super) fn free_name(&self) -> Result<String, KernelError> {
        let taken = firstflight_kernel::available()?;
        let is_free = |name: &String| !taken.contains(name);
        let made_up = (1..1000).map(|number| format!("ff_run_{number}"));
        let own = Some(self.name()).filter(|name| self.name.is_some() || is_free(name));
        Ok(own.or_else(|| made_up.into_iter().find(is_free)).unwrap_or_default())
    }

    /// Returns the order to load the scheme as `name`.
    pub(super) fn order<'a>(&'a self, name: &'a str) -> Order<'a> {
        let Self { scheme, alone, handover, .. } = self;
        Order { scheme, parameters: alone.settings(), name, handover: *handover, is_traced: false }
    }
}

/// Describes the error in the text of a scheme or policy.
fn why(error: &AloneError) -> String {
    match error {
        AloneError::Label(_) => format!("{error}; --name is the name in the kernel"),
        _ => error.to_string(),
    }
}

fn unknown(name: &str) -> String {
    let known: Vec<&str> = NAMES.iter().map(|(scheme, _)| *scheme).chain(["quick-start"]).collect();
    let hint = meant(name, SCHEMES, known.iter().copied()).unwrap_or_else(|| {
        format!("those that can be loaded are {}", schemes().collect::<Vec<_>>().join(", "))
    });
    format!("unknown scheme `{name}`; {hint}")
}

/// Describes why a scheme cannot be loaded into the kernel.
fn cannot_be_hosted(scheme: &str) -> String {
    let there = schemes().collect::<Vec<_>>().join(", ");
    if let Some(why) = why_not(scheme) {
        format!("Linux's TCP cannot host {scheme}: {why}; those that can be loaded are {there}")
    } else if there.is_empty() {
        format!(
            "{scheme} has no object in this program, which was built without any; `make kernel` builds them"
        )
    } else {
        format!("{scheme} has no object; those that have one are {there}")
    }
}

pub(super) fn handover(law: Law) -> Handover {
    match law {
        Law::Cubic => Handover::Cubic,
        Law::Reno => Handover::Reno,
        Law::Bbr => Handover::Bbr,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(scheme: &str, handover: Law) -> Option<String> {
        let chosen = Chosen { scheme: scheme.to_owned(), handover: Some(handover), name: None };
        let choice = Choice::of(&chosen, Registry::builtin(), &[]);
        choice.map_err(|failure| failure.to_string()).expect("it can be loaded").warning()
    }

    #[test]
    fn leap_warns_of_bbr_after_it_and_paced_of_a_busy_host() {
        for scheme in ["leap", "leap-saved:saved=1MB,rtt=50ms"] {
            let text = warning(scheme, Law::Bbr).expect("a warning");
            let name = scheme.split(':').next().expect("a name");
            assert!(
                text.starts_with("--handover bbr: ") && text.contains(&format!("that {name} spared")),
                "{text}"
            );
            assert_eq!(warning(scheme, Law::Cubic), None);
            assert_eq!(warning(scheme, Law::Reno), None);
        }
        let text = warning("paced", Law::Cubic).expect("a warning");
        assert!(text.starts_with("paced: ") && text.contains("needs an idle host"), "{text}");
        assert_eq!(warning("hystart++", Law::Bbr), None);
    }
}
