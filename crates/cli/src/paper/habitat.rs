//! The habitats in which figures run other than in the simulator: UDP sockets, and the kernel's TCP.

use firstflight_habitats::{CompareError, real, rows};
use firstflight_measure::Recording;
use firstflight_papers::{Habitat, Ran};
use firstflight_scenario::{Scenario, SchemeChoice};

use crate::failure::Failure;
use crate::kernel;

/// The habitat `live`: the endpoint and the prober run on UDP sockets over emulated paths.
struct Live;

impl Habitat for Live {
    fn rows(
        &self,
        scenario: &Scenario,
        choices: &[SchemeChoice],
        record: &dyn Fn(&Recording, &str),
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Ran, String> {
        let rows = rows::on_sockets(scenario, choices, record, interrupted)?;
        Ok(Ran { rows, flows: Vec::new() })
    }
}

/// The habitat `kernel`: nginx in the kernel's TCP, whose sockets use the schemes, over emulated paths.
#[cfg(all(feature = "kernel", target_os = "linux"))]
struct InKernel;

#[cfg(all(feature = "kernel", target_os = "linux"))]
impl Habitat for InKernel {
    fn rows(
        &self,
        scenario: &Scenario,
        choices: &[SchemeChoice],
        record: &dyn Fn(&Recording, &str),
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Ran, String> {
        let (rows, flows) = rows::in_kernel(scenario, choices, &kernel::Loading, record, interrupted)?;
        Ok(Ran { rows, flows })
    }
}

/// Returns the habitat of this name; `None` if there is none of this name, or if this program cannot run it.
pub(super) fn of(name: &str) -> Option<&'static dyn Habitat> {
    match name {
        "live" => Some(&Live),
        #[cfg(all(feature = "kernel", target_os = "linux"))]
        "kernel" => Some(&InKernel),
        _ => None,
    }
}

/// Describes in a line what this program or this machine lacks for figures like that of `scenario` in a habitat; `None` if nothing.
///
/// # Errors
/// Fails if the path of the scenario cannot be emulated.
pub(super) fn missing(habitat: &str, scenario: &Scenario) -> Result<Option<String>, Failure> {
    let lacks = || kernel::why_none_loads().or_else(|| real::has_server().err());
    if let Some(why) = (habitat == "kernel").then(lacks).flatten() {
        return Ok(Some(why));
    }
    match real::is_possible(scenario) {
        Ok(()) => Ok(None),
        Err(CompareError::Refused(why)) => Ok(Some(why)),
        Err(error) => Err(Failure::usage(error)),
    }
}
