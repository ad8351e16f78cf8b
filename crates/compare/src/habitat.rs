//! The habitats in which schemes are compared.

use firstflight_tcp::Stack;

/// A habitat: a host that runs a scheme.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Habitat {
    /// The name, as in results and lists.
    pub name: &'static str,
    /// What it is, in a line.
    pub what: &'static str,
    /// The stack whose behaviour its sender has where the RFCs and Linux differ.
    pub stack: Stack,
    /// What runs there.
    pub runs: Runs,
}

/// What runs in a habitat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Runs {
    /// The endpoint, in the simulator.
    Simulated,
    /// The endpoint on UDP sockets, over the emulated path.
    Live,
    /// The kernel's own TCP over the emulated path: the schemes that it has.
    Kernel,
    /// The kernel's own TCP over the emulated path, with our scheme loaded into it as BPF.
    Bpf,
}

/// All habitats, in the order of results. The rows of a habitat are compared with those of the simulator of the same stack.
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
    /// Whether its packets are real, which needs an emulated path.
    pub const fn is_real(&self) -> bool {
        !matches!(self.runs, Runs::Simulated)
    }

    /// The name of its stack, as `--stack` takes it.
    pub const fn stack_name(&self) -> &'static str {
        match self.stack {
            Stack::Rfc => "rfc",
            Stack::Linux => "linux",
        }
    }
}

/// Reads a list of habitats: names between commas, in whatever order, or `all`. Returns the name that is none otherwise.
///
/// # Errors
/// The first item that names no habitat.
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
    fn a_list_of_habitats_is_in_the_order_of_the_table_and_each_once() {
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
