//! Loads schemes into the kernel for the habitat `kernel-bpf`, and for figures of papers.

use std::sync::atomic::{AtomicU32, Ordering};

use firstflight_compare::Loaded;
use firstflight_kernel::{Handover, Order, check, name_in_process, schemes};
use firstflight_scenario::SchemeChoice;

/// The kernel's congestion control that goes on as a law does.
const HANDOVERS: [(&str, Handover); 3] =
    [("reno", Handover::Reno), ("cubic-linux", Handover::Cubic), ("bbr", Handover::Bbr)];

/// Why no scheme can be loaded here; `None` if that is not known before one is.
pub(crate) fn why_none_loads() -> Option<String> {
    if schemes().next().is_none() {
        return Some("this program was built without objects; `make kernel` builds them".to_owned());
    }
    check().err().map(|error| error.to_string())
}

/// The kernel's congestion control that goes on as this law does.
pub(crate) fn handover_of(law: &str) -> Result<Handover, String> {
    let handover = HANDOVERS.iter().find(|(of, _)| *of == law).map(|(_, handover)| *handover);
    handover.ok_or_else(|| {
        let all = HANDOVERS.map(|(law, _)| law).join(", ");
        format!("the kernel does not go on with avoidance={law}; it has {all}")
    })
}

/// A name that no scheme has, and of this process alone.
pub(crate) fn own_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    name_in_process(std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// Loads a scheme, until what is returned is dropped. Its name is not a scheme's own, and of this process alone.
pub(super) fn load(choice: &SchemeChoice, law: &'static str) -> Result<Loaded, String> {
    let handover = handover_of(law)?;
    let name = own_name();
    let order = Order {
        scheme: choice.entry.name,
        parameters: choice.settings(),
        name: &name,
        handover,
        is_traced: false,
    };
    let keeper = firstflight_kernel::load(&order).map_err(|error| error.to_string())?;
    Ok(Loaded { name, keeper: Box::new(keeper) })
}
