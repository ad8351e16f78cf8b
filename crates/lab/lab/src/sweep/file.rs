//! Reads sweep files, which are TOML. They say what to draw, and have the options of the path.

use std::borrow::Cow;
use std::ops::Range;

use firstflight::registry::Registry;
use firstflight_scenario::keys::{Key, keys};
use firstflight_scenario::kind::Kind;
use firstflight_scenario::suggest::{OPTIONS, meant};
use firstflight_scenario::{ByName, FileError, quantity, scalar, schemes};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::path_list::MAX_PATHS;
use super::value::{Between, Law, Value};
use super::{Axis, Sweep, population};

/// The keys of a sweep file other than the options of the path.
const OWN: [&str; 8] = ["paths", "population", "seed", "runs", "part", "give-up", "schemes", "path"];

/// The options whose rate may be a share of the path's rate.
const SHARES: [&str; 3] = ["access-rate", "receiver-access-rate", "reverse-rate"];

/// The default number of paths in a part.
const PART: u64 = 10;

impl Sweep {
    /// Reads a sweep file with the names of a registry.
    ///
    /// `paths` is the number of draws. `population` names a list of paths instead: a CSV file, or `mlab:…`. `seed`, `runs` and `part` are whole numbers. `give-up` is in ideal completion times. `schemes` is a
    /// list as in a scenario file. The table `path` holds the options of the path. An option is a value as on the command line, a list (all
    /// combinations), or a table with one key. That key is `one-of` with a list of values, `uniform` or `log-uniform` with two ends, or a
    /// share of the path's rate: `cbr` for `cross`, and `share` for the rates of other links.
    ///
    /// # Errors
    /// Returns the first fault in the file: TOML that cannot be parsed, an unknown key, or a value that cannot be read.
    pub fn parse(registry: Registry, text: &str) -> Result<Self, FileError> {
        Self::parse_over(registry, text, None)
    }

    /// Reads a sweep file as [`Sweep::parse`] does, over the paths of this population, if there is one, in place of the file's.
    ///
    /// # Errors
    /// Fails as [`Sweep::parse`] does.
    pub fn parse_over(registry: Registry, text: &str, over: Option<&str>) -> Result<Self, FileError> {
        let table = DeTable::parse(text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            FileError::new(text, span, error.message().lines().collect::<Vec<_>>().join(", "))
        })?;
        let reader = Reader { registry, text };
        let mut sweep = Self {
            registry,
            seed: 1,
            runs: 1,
            part: PART,
            give_up: None,
            choices: Vec::new(),
            draws: 1,
            population: None,
            axes: Vec::new(),
        };
        let mut asked = None;
        let mut over = over.map(|over| (over.to_owned(), 0..0));
        let mut list = ("all".to_owned(), 0..0);
        for (key, value) in in_order(table.get_ref()) {
            let name: &str = key.get_ref();
            match name {
                "paths" => asked = Some((reader.whole(name, value, 1, MAX_PATHS)?, value.span())),
                "population" => {
                    let of = scalar(value.get_ref())
                        .ok_or_else(|| reader.fault(value.span(), "population: a text is wanted"))?;
                    over = over.or_else(|| Some((of, value.span())));
                }
                "seed" => sweep.seed = reader.whole(name, value, 0, u64::MAX)?,
                "runs" => sweep.runs = reader.small(name, value, 1_000)?,
                "part" => sweep.part = reader.whole(name, value, 1, 100_000)?,
                "give-up" => sweep.give_up = Some(reader.small(name, value, 1_000_000)?),
                "schemes" => list = (schemes(text, value)?, value.span()),
                "path" => sweep.axes = reader.axes(value)?,
                _ => return Err(reader.fault(key.span(), unknown(name, &OWN))),
            }
        }
        let (list, span) = list;
        sweep.choices =
            registry.parse_choices(&list).map_err(|error| reader.fault(span, format!("schemes: {error}")))?;
        if let Some((of, span)) = over {
            let list = population::named(registry, &of, sweep.seed)
                .map_err(|error| reader.fault(span.clone(), format!("population: {error}")))?;
            if let Some(axis) = sweep.axes.iter().find(|axis| list.keys.contains(&axis.key)) {
                let message = format!("{}: `population` and `path` both have it", axis.key);
                return Err(reader.fault(span, message));
            }
            if let Some((_, span)) = asked {
                let message = "paths: the population says how many there are";
                return Err(reader.fault(span, message));
            }
            sweep.draws = list.paths.len() as u64;
            sweep.population = Some(list);
        }
        let drawn = sweep.axes.iter().find(|axis| axis.value.is_drawn());
        match (asked, drawn.filter(|_| sweep.population.is_none())) {
            (Some((times, _)), Some(_)) => sweep.draws = times,
            (Some((_, span)), None) => {
                return Err(reader.fault(span, "paths: nothing is drawn, so that there is nothing to repeat"));
            }
            (None, Some(axis)) => {
                let message = format!("{} is drawn: say how often with `paths = 100`", axis.key);
                return Err(reader.fault(0..0, message));
            }
            (None, None) => {}
        }
        if sweep.paths() > MAX_PATHS {
            let message = format!("{} paths are too many; at most {MAX_PATHS} are allowed", sweep.paths());
            return Err(reader.fault(0..0, message));
        }
        Ok(sweep)
    }
}

/// Reads a sweep file as [`Sweep::parse`] does, with the built-in names.
///
/// # Errors
/// Fails as [`Sweep::parse`] does.
pub fn parse_sweep(text: &str) -> Result<Sweep, FileError> {
    Sweep::parse(Registry::builtin(), text)
}

/// Returns a table's entries in the order of the file.
fn in_order<'t, 'v>(table: &'t DeTable<'v>) -> Vec<(&'t Spanned<Cow<'v, str>>, &'t Spanned<DeValue<'v>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn unknown(found: &str, known: &[&str]) -> String {
    let all = || format!("there are {}", known.join(", "));
    let hint = meant(found, OPTIONS, known.iter().copied()).unwrap_or_else(all);
    format!("there is no key `{found}` here; {hint}")
}

/// Reads the values in a file's text.
struct Reader<'t> {
    registry: Registry,
    text: &'t str,
}

impl Reader<'_> {
    fn fault(&self, span: Range<usize>, message: impl Into<String>) -> FileError {
        FileError::new(self.text, span, message)
    }

    fn whole(
        &self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        least: u64,
        most: u64,
    ) -> Result<u64, FileError> {
        let number = match value.get_ref() {
            DeValue::Integer(number) => number.to_string().replace('_', "").parse::<u64>().ok(),
            _ => None,
        };
        number.filter(|number| (least..=most).contains(number)).ok_or_else(|| {
            self.fault(value.span(), format!("{key}: allowed is a whole number from {least} to {most}"))
        })
    }

    fn small(&self, key: &str, value: &Spanned<DeValue<'_>>, most: u32) -> Result<u32, FileError> {
        let number = self.whole(key, value, 1, u64::from(most))?;
        Ok(u32::try_from(number).unwrap_or(most))
    }

    fn axes(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<Axis>, FileError> {
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.fault(value.span(), "path: a table of options is wanted, as in `[path]`"));
        };
        let swept = || keys().filter(|key| key.sweeps);
        let mut axes = Vec::new();
        for (name, value) in in_order(table) {
            let Some(key) = swept().find(|key| key.name == name.get_ref()) else {
                let known: Vec<&str> = swept().map(|key| key.name).collect();
                return Err(self.fault(name.span(), unknown(name.get_ref(), &known)));
            };
            let value = match value.get_ref() {
                DeValue::Array(items) => Value::List(self.several(key, value, items)?),
                _ => self.value(key, value)?,
            };
            axes.push(Axis { key: key.name, value });
        }
        Ok(axes)
    }

    fn several(
        &self,
        key: &Key,
        list: &Spanned<DeValue<'_>>,
        items: &[Spanned<DeValue<'_>>],
    ) -> Result<Vec<Value>, FileError> {
        if items.is_empty() {
            return Err(self.fault(list.span(), format!("{}: an empty list leaves no paths", key.name)));
        }
        items.iter().map(|item| self.value(key, item)).collect()
    }

    /// Reads the value of a key. The value is not a list.
    fn value(&self, key: &Key, value: &Spanned<DeValue<'_>>) -> Result<Value, FileError> {
        const WANTED: &str = "a value, a list, or `{ one-of = […] }`, `{ uniform = [low, high] }` or \
                              `{ log-uniform = [low, high] }` is wanted";
        if let Some(text) = scalar(value.get_ref()) {
            let set = self.registry.options().set(key.name, &text);
            return set
                .map(|()| Value::Text(text))
                .map_err(|error| self.fault(value.span(), error.to_string()));
        }
        let DeValue::Table(table) = value.get_ref() else {
            return Err(self.fault(value.span(), format!("{}: {WANTED}", key.name)));
        };
        let entries = in_order(table);
        let [(how, what)] = entries[..] else {
            return Err(self.fault(value.span(), format!("{}: one key is wanted here; {WANTED}", key.name)));
        };
        match (&**how.get_ref(), what.get_ref()) {
            ("one-of", DeValue::Array(items)) => Ok(Value::OneOf(self.several(key, what, items)?)),
            ("uniform", DeValue::Array(ends)) => self.between(key, Law::Uniform, what, ends),
            ("log-uniform", DeValue::Array(ends)) => self.between(key, Law::LogUniform, what, ends),
            ("cbr", _) if key.name == "cross" => Ok(Value::Share(Box::new(self.share(key, what)?))),
            ("share", _) if SHARES.contains(&key.name) => Ok(Value::Share(Box::new(self.share(key, what)?))),
            ("one-of" | "uniform" | "log-uniform", _) => {
                Err(self.fault(what.span(), format!("{}: a list is wanted here", key.name)))
            }
            (found, _) => Err(self.fault(
                how.span(),
                format!(
                    "{}: {}",
                    key.name,
                    unknown(found, &["one-of", "uniform", "log-uniform", "cbr", "share"])
                ),
            )),
        }
    }

    fn between(
        &self,
        key: &Key,
        law: Law,
        list: &Spanned<DeValue<'_>>,
        ends: &[Spanned<DeValue<'_>>],
    ) -> Result<Value, FileError> {
        let texts: Vec<String> = ends.iter().filter_map(|end| scalar(end.get_ref())).collect();
        let [low, high] = &texts[..] else {
            return Err(
                self.fault(list.span(), format!("{}: two ends are wanted, as in `[low, high]`", key.name))
            );
        };
        Between::new(key.kind, law, low, high).map(Value::Between).map_err(|error| {
            let at = ends
                .iter()
                .find(|end| scalar(end.get_ref()).is_some_and(|text| text.trim() == error.found.trim()));
            self.fault(at.unwrap_or(list).span(), format!("{}: {error}", key.name))
        })
    }

    /// Reads a share of the rate: a fraction, or a distribution of a fraction.
    fn share(&self, key: &Key, value: &Spanned<DeValue<'_>>) -> Result<Value, FileError> {
        if let Some(text) = scalar(value.get_ref()) {
            return match quantity::fraction(&text) {
                Ok(share) if share.is_zero() => {
                    Err(self.fault(value.span(), format!("{}: a share of nothing is no rate", key.name)))
                }
                Ok(_) => Ok(Value::Text(text)),
                Err(error) => Err(self.fault(value.span(), format!("{}: {error}", key.name))),
            };
        }
        let DeValue::Table(_) = value.get_ref() else {
            let how = if key.name == "cross" { "cbr" } else { "share" };
            let message = format!("{}: a share of the rate is wanted, as in `{how} = \"40%\"`", key.name);
            return Err(self.fault(value.span(), message));
        };
        match self.value(&Key { kind: Kind::Share, ..*key }, value)? {
            share @ Value::Between(_) => Ok(share),
            _ => {
                Err(self
                    .fault(value.span(), format!("{}: a share is a fraction, or a range of them", key.name)))
            }
        }
    }
}
