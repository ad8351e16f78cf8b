//! The environments in which schemes are compared.

use firstflight_tcp::Stack;

/// An environment in which schemes run: a kind of host with its stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Habitat {
    /// The name of the environment, as in results and lists.
    pub name: &'static str,
    /// A description in one line.
    pub what: &'static str,
    /// The stack that the environment's sender follows where the RFCs and Linux differ.
    pub stack: Stack,
    /// The program that runs in the environment.
    pub runs: Runs,
}

/// The program that runs in an environment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Runs {
    /// The endpoint, in the simulator.
    Simulated,
    /// The endpoint on UDP sockets, over the emulated path.
    Live,
    /// The kernel's own TCP over the emulated path, with one of the kernel's own schemes.
    Kernel,
    /// The kernel's own TCP over the emulated path, with a scheme of this project loaded as BPF.
    Bpf,
}

/// All environments, in the order of results. The rows of an environment are compared with the rows of the simulator with the same stack.
pub const HABITATS: [Habitat; 6] = [
    Habitat {
        name: "sim-rfc",
        what: "the simulator, with --stack rfc",
        stack: Stack::Rfc,
        runs: Runs::Simulated,
    },
    Habitat {
        name: "live-rfc",
        what: "the endpoint on UDP sockets over the emulated path, with stack=rfc",
        stack: Stack::Rfc,
        runs: Runs::Live,
    },
    Habitat {
        name: "sim-linux",
        what: "the simulator, with --stack linux",
        stack: Stack::Linux,
        runs: Runs::Simulated,
    },
    Habitat {
        name: "live-linux",
        what: "the endpoint on UDP sockets over the emulated path, with stack=linux",
        stack: Stack::Linux,
        runs: Runs::Live,
    },
    Habitat {
        name: "kernel",
        what: "this machine's kernel over the emulated path",
        stack: Stack::Linux,
        runs: Runs::Kernel,
    },
    Habitat {
        name: "kernel-bpf",
        what: "this machine's kernel over the emulated path, with the scheme loaded as BPF",
        stack: Stack::Linux,
        runs: Runs::Bpf,
    },
];

impl Habitat {
    /// Returns whether the environment's packets are real, which requires an emulated path.
    pub const fn is_real(&self) -> bool {
        !matches!(self.runs, Runs::Simulated)
    }

    /// Returns the name of the environment's stack as in `--stack`.
    pub const fn stack_name(&self) -> &'static str {
        match self.stack {
            Stack::Rfc => "rfc",
            Stack::Linux => "linux",
        }
    }
}

/// Reads a list of environments: names separated by commas, in any order, or `all`.
///
/// # Errors
/// The first item that does not name an environment.
pub fn habitats(list: &str) -> Result<Vec<Habitat>, String> {
    let mut named = Vec::new();
    for item in list.split(',').map(str::trim) {
        match HABITATS.iter().find(|habitat| habitat.name == item) {
            _ if item == "all" => named.extend(HABITATS.map(|habitat| habitat.name)),
            Some(habitat) => named.push(habitat.name),
            None => return Err(item.to_owned()),
        }
    }
    Ok(HABITATS.into_iter().filter(|habitat| named.contains(&habitat.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn habitat_lists_are_sorted_in_table_order_without_duplicates() {
        let names = |list| habitats(list).map(|found| found.iter().map(|one| one.name).collect::<Vec<_>>());
        assert_eq!(names("kernel, sim-rfc,kernel"), Ok(vec!["sim-rfc", "kernel"]));
        assert_eq!(names("all").map(|all| all.len()), Ok(HABITATS.len()));
        assert_eq!(names("sim-rfc,moon"), Err("moon".to_owned()));
        assert_eq!(names(""), Err(String::new()));
    }

    #[test]
    fn every_habitat_has_a_simulator_of_its_stack() {
        for habitat in HABITATS {
            let is_like = |other: &Habitat| other.stack == habitat.stack && other.runs == Runs::Simulated;
            assert_eq!(HABITATS.iter().filter(|other| is_like(other)).count(), 1, "{}", habitat.name);
        }
    }
}
