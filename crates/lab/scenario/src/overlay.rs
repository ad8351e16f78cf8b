//! Combines the options of a file with given options. The given options replace those of the file.

use crate::keys::{Key, OptionError, key, keys};
use crate::options::Options;
use crate::presets::preset;

/// A key of the file that a given option replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// The key that is set in the file.
    pub key: &'static str,
    /// The given option that replaces the key.
    pub by: &'static str,
}

/// The keys that determine which flows a scenario has. No other option replaces them, because other keys of the file depend on them.
pub const SUBJECTS: [&str; 3] = ["rounds", "flows", "flow"];

/// The key that names a preset.
const PATH: &str = "path";

impl Options {
    /// Returns these options, overridden with `over`, and the other keys that an override removes. An option removes keys that it excludes
    /// or that exclude it (`size` and `duration`). `rate` and `rate-trace` remove each other. An option that is turned off (`none`) removes
    /// the keys that need it. A preset (`path`) removes the keys that its words set or exclude. `rounds`, `flows` and `flow` are removed only if they are turned off themselves.
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
        // A preset replaces the keys of the file that its words set or exclude.
        let path =
            given.iter().rev().find(|(by, _)| by.name == PATH).and_then(|(_, text)| preset(text.trim()));
        let words = || path.iter().flat_map(|path| path.words).filter_map(|(name, _)| key(name));
        for own in keys().filter(|own| self.says(own.name)).filter(kept) {
            let is_replaced = words().any(|word| word.name == own.name || replaces(word, own));
            if is_replaced && !replaced.iter().any(|one| one.key == own.name) {
                replaced.push(Replaced { key: own.name, by: PATH });
            }
        }
        // If a given option turns a key off, the keys that need this key are removed as well.
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

    /// Checks whether the key is set to a value that does not turn it off.
    fn says(&self, name: &str) -> bool {
        self.given(name).is_some_and(|text| key(name).is_some_and(|key| !key.is_off(text)))
    }
}

/// Checks whether an option replaces a key of the file.
fn replaces(by: &Key, own: &Key) -> bool {
    let is_about = |key: &Key| SUBJECTS.contains(&key.name);
    !is_about(own) && (are_rates(by, own) || excludes(by, own) || (excludes(own, by) && !is_about(by)))
}

/// Checks whether two keys cannot both apply: they exclude each other, or are a rate and a rate over time.
pub(crate) fn conflicts(one: &Key, other: &Key) -> bool {
    are_rates(one, other) || excludes(one, other) || excludes(other, one)
}

fn are_rates(one: &Key, other: &Key) -> bool {
    const RATES: [&str; 2] = ["rate", "rate-trace"];
    one.name != other.name && RATES.contains(&one.name) && RATES.contains(&other.name)
}

fn excludes(one: &Key, other: &Key) -> bool {
    one.excludes.iter().any(|exclusion| exclusion.other == other.name)
}

#[cfg(test)]
mod tests {
    use crate::{Scenario, parse_file};

    /// Returns the scenario of a file overlaid with options, and `key<by` for each replaced key.
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
    fn population_and_rounds_are_not_replaced_implicitly_but_removed_by_none() {
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
