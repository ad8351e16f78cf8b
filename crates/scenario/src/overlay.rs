//! Options of a path over those of a file: what is given replaces what the file says.

use crate::keys::{Key, OptionError, key, keys};
use crate::options::Options;

/// A key of the file that an option over it replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The key that the file says.
    pub key: &'static str,
    /// The option that stands in its place.
    pub by: &'static str,
}

/// What a scenario is about: another option does not replace them, because other keys of the file go with them.
pub const SUBJECTS: [&str; 3] = ["rounds", "flows", "flow"];

impl Options {
    /// These options with others over them, and the keys that the others replace beside their own: keys that exclude each other
    /// (`size` and `duration`), a constant rate and its trace, and keys that need one of those. `rounds`, `flows` and `flow` are
    /// replaced only by themselves (`none` takes them away).
    ///
    /// # Errors
    /// A value that cannot be read.
    pub fn with(&self, over: &[(&'static str, String)]) -> Result<(Self, Vec<Replaced>), OptionError> {
        let given: Vec<_> =
            over.iter().filter_map(|(name, text)| Some((key(name)?, text.as_str()))).collect();
        let kept = |own: &&Key| !given.iter().any(|(other, _)| other.name == own.name);
        let mut replaced: Vec<Replaced> = Vec::new();
        for own in keys().filter(|own| self.says(own.name)).filter(kept) {
            if let Some((by, _)) = given.iter().find(|(by, text)| !by.is_off(text) && replaces(by, own)) {
                replaced.push(Replaced { key: own.name, by: by.name });
            }
        }
        // What needs a key that is gone goes with it.
        for own in keys().filter(|own| self.says(own.name)).filter(kept) {
            let Some(need) = own.needs else { continue };
            if let Some((by, _)) = given.iter().find(|(by, text)| by.name == need.other && by.is_off(text)) {
                replaced.push(Replaced { key: own.name, by: by.name });
            }
        }
        let mut both = Self::of(self.registry);
        for name in keys().map(|key| key.name).filter(|name| !replaced.iter().any(|one| one.key == *name)) {
            let text = over.iter().rev().find(|(given, _)| *given == name).map(|(_, text)| text.as_str());
            if let Some(text) = text.or(self.given(name)) {
                both.set(name, text)?;
            }
        }
        Ok((both, replaced))
    }

    /// Whether the key is set to something, and not to none.
    fn says(&self, name: &str) -> bool {
        self.given(name).is_some_and(|text| key(name).is_some_and(|key| !key.is_off(text)))
    }
}

/// Whether an option replaces a key that a file says.
fn replaces(by: &Key, own: &Key) -> bool {
    const RATES: [&str; 2] = ["rate", "rate-trace"];
    let excludes =
        |one: &Key, other: &Key| one.excludes.iter().any(|exclusion| exclusion.other == other.name);
    let is_about = |key: &Key| SUBJECTS.contains(&key.name);
    if is_about(own) {
        return false;
    }
    let are_rates = RATES.contains(&by.name) && RATES.contains(&own.name);
    are_rates || excludes(by, own) || (excludes(own, by) && !is_about(by))
}

#[cfg(test)]
mod tests {
    use crate::{Scenario, parse_file};

    /// The scenario of a file with options over it, and `key<by` for what they replace.
    fn over(file: &str, given: &[(&'static str, &str)]) -> (Result<Scenario, String>, String) {
        let file = parse_file(file).expect(file).options;
        let given: Vec<_> = given.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
        let (both, replaced) = file.with(&given).expect("values that can be read");
        let replaced: Vec<_> = replaced.iter().map(|one| format!("{}<{}", one.key, one.by)).collect();
        (Scenario::resolve(&both).map_err(|error| error.to_string()), replaced.join(" "))
    }

    fn alone(file: &str) -> Result<Scenario, String> {
        Scenario::resolve(&parse_file(file).expect(file).options).map_err(|error| error.to_string())
    }

    const FILE: &str =
        "rate = \"10mbit\"\nrtt = \"40ms\"\nsize = \"100kB\"\nlimit = \"60s\"\nmss = 1000\nseed = 3\n";

    #[test]
    fn an_option_takes_the_place_of_the_files_own() {
        let (scenario, replaced) = over(FILE, &[("rate", "20mbit"), ("seed", "9")]);
        assert_eq!(scenario, alone(&FILE.replace("10mbit", "20mbit").replace("seed = 3", "seed = 9")));
        assert_eq!(replaced, "");
        assert_eq!(over(FILE, &[]).0, alone(FILE));
    }

    #[test]
    fn an_option_replaces_what_it_excludes() {
        let (scenario, replaced) = over(FILE, &[("duration", "5s"), ("packet", "1500B")]);
        assert_eq!(
            scenario,
            alone("rate = \"10mbit\"\nrtt = \"40ms\"\nduration = \"5s\"\npacket = \"1500B\"\nseed = 3\n")
        );
        assert_eq!(replaced, "mss<packet size<duration limit<duration");
    }

    #[test]
    fn a_rate_and_its_trace_replace_each_other() {
        let trace = ("rate-trace", "0s=10mbit,1s=5mbit");
        let (scenario, replaced) = over("rate = \"50mbit\"\nrtt = \"40ms\"\n", &[trace]);
        assert_eq!(scenario, alone("rate-trace = \"0s=10mbit,1s=5mbit\"\nrtt = \"40ms\"\n"));
        assert_eq!(replaced, "rate<rate-trace");
        let file = "rate-trace = \"0s=10mbit,1s=5mbit\"\nrtt = \"40ms\"\n";
        let (scenario, replaced) = over(file, &[("rate", "50mbit")]);
        assert_eq!(scenario, alone("rate = \"50mbit\"\nrtt = \"40ms\"\n"));
        assert_eq!(replaced, "rate-trace<rate");
        let (scenario, replaced) = over(file, &[("rate-trace", "none"), ("rate", "50mbit")]);
        assert_eq!((scenario, replaced.as_str()), (alone("rate = \"50mbit\"\nrtt = \"40ms\"\n"), ""));
    }

    #[test]
    fn what_a_scenario_is_about_is_not_replaced_and_none_takes_it_away() {
        let rounds = "rtt = \"40ms\"\nrounds = 3\nidle = \"5s\"\nclients = 2\n";
        let (scenario, replaced) = over(rounds, &[("duration", "5s")]);
        assert!(scenario.expect_err("rounds").starts_with("rounds: it and duration exclude each other"));
        assert_eq!(replaced, "");
        let (scenario, replaced) = over(rounds, &[("rounds", "none"), ("duration", "5s")]);
        assert_eq!(scenario, alone("rtt = \"40ms\"\nduration = \"5s\"\n"));
        assert_eq!(replaced, "idle<rounds clients<rounds");

        let flows = "rtt = \"40ms\"\ntopology = \"dumbbell:hosts=4\"\nflows = 20\narrivals = \"every:1s\"\n";
        for given in [("rounds", "3"), ("ack-aggregation", "4")] {
            let (scenario, _) = over(flows, &[given]);
            assert!(scenario.expect_err("flows").contains("flows exclude each other"), "{given:?}");
        }
        let (scenario, replaced) = over(flows, &[("flows", "none"), ("topology", "single")]);
        assert_eq!((scenario, replaced.as_str()), (alone("rtt = \"40ms\"\n"), "arrivals<flows"));
    }

    #[test]
    fn a_value_that_cannot_be_read_is_refused() {
        let options = parse_file(FILE).expect("a scenario").options;
        assert!(options.with(&[("rate", "fast".to_owned())]).is_err());
    }
}
