//! The names under which the kernel knows the schemes.

use std::fs;
use std::path::Path;

use crate::error::{KernelError, LONGEST_NAME};

const PREFIX: &str = "ff_";
/// The congestion controls of the kernel, all that are registered.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Each scheme or restart policy, and its default name in the kernel. A test compares docs/guide/kernel.md with this table.
pub const NAMES: &[(&str, &str)] = &[
    ("slow-start", "ff_slow_start"),
    ("slow-start-paced", "ff_slow_paced"),
    ("limited", "ff_limited"),
    ("vegas", "ff_vegas"),
    ("packet-pair", "ff_packet_pair"),
    ("adaptive", "ff_adaptive"),
    ("paced", "ff_paced"),
    ("hystart", "ff_hystart"),
    ("hystart-linux", "ff_hystart_lnx"),
    ("hystart++", "ff_hystart_pp"),
    ("suss", "ff_suss"),
    ("rapid-start", "ff_rapid_start"),
    ("search", "ff_search"),
    ("bbr", "ff_bbr"),
    ("careful-resume", "ff_careful"),
    ("leap", "ff_leap"),
    ("leap-saved", "ff_leap_saved"),
    ("rfc5681", "ff_rfc5681"),
    ("ssr", "ff_ssr"),
    ("nssr", "ff_nssr"),
    ("rbp-rate", "ff_rbp_rate"),
    ("rbp-cwnd", "ff_rbp_cwnd"),
    ("cwv", "ff_cwv"),
];

/// Returns the name of a scheme in the kernel.
pub fn name_of(scheme: &str) -> Option<&'static str> {
    NAMES.iter().find(|(of, _)| *of == scheme).map(|(_, name)| *name)
}

/// Returns a name for load number `number` of process `process`, which no other process uses.
pub fn name_in_process(process: u32, number: u32) -> String {
    format!("{PREFIX}c{process:x}_{number:x}")
}

/// Checks that a name can be registered: `ff_` and at most twelve characters.
///
/// # Errors
/// [`KernelError::Name`].
pub fn check(name: &str) -> Result<(), KernelError> {
    let word = name.strip_prefix(PREFIX).unwrap_or_default();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if word.is_empty() || !word.bytes().all(plain) || name.len() > LONGEST_NAME {
        return Err(KernelError::Name { name: name.to_owned() });
    }
    Ok(())
}

/// Returns the names of all congestion controls that are registered.
///
/// # Errors
/// A list that cannot be read.
pub fn available() -> Result<Vec<String>, KernelError> {
    let path = Path::new(AVAILABLE);
    let text = fs::read_to_string(path).map_err(KernelError::io(path))?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight::registry;

    #[test]
    fn every_congestion_control_has_a_valid_unique_kernel_name() {
        let policies = registry::restarts().iter().map(|entry| entry.name);
        let all = registry::schemes().iter().map(|entry| entry.name).chain(policies);
        for scheme in all.filter(|name| *name != "quick-start") {
            let name = name_of(scheme).unwrap_or_else(|| panic!("{scheme} has no name"));
            check(name).unwrap_or_else(|error| panic!("{error}"));
            let same = NAMES.iter().filter(|(_, other)| *other == name);
            assert_eq!(same.count(), 1, "{name}");
        }
    }

    #[test]
    fn the_page_has_the_table() {
        let page = include_str!("../../../docs/guide/kernel.md");
        for (scheme, name) in NAMES {
            assert!(
                page.contains(&format!("\n| {scheme} | `{name}` |\n")),
                "{scheme} in docs/guide/kernel.md"
            );
        }
    }

    #[test]
    fn process_specific_names_are_valid_for_sixty_thousand_loads() {
        let largest_process = 4_194_304;
        for number in [0, 1000, 60_000] {
            let name = name_in_process(largest_process, number);
            assert!(check(&name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_name_is_ours_by_its_first_letters_and_short() {
        for good in ["ff_x", "ff_hystart_lnx", "ff_0123456789ab"] {
            check(good).unwrap_or_else(|error| panic!("{error}"));
        }
        for bad in ["", "ff_", "cubic", "FF_x", "ff_X", "ff_a-b", "ff_0123456789abc", "ff_é", "ff_a b"] {
            assert!(matches!(check(bad), Err(KernelError::Name { .. })), "{bad}");
        }
    }
}
