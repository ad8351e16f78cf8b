//! Which schemes race, and with which parameters: `NAME[:k=v[,k=v]…][,NAME…]`, `all`, and `-NAME`, which takes one away.

use firstflight::registry::{self, AnyScheme, Missing, Needs, Offers, Registry, SchemeEntry, Value};
use firstflight::schemes::Initial;
use firstflight_tcp::{Growth, SlowStartCounts, Stack};

use crate::keys::{OptionError, key, keys};
use crate::options::Options;
use crate::parameter::{CHECKED, read};
use crate::quantity::{self, QuantityError, Why, refuse};
use crate::restart::RestartChoice;
use crate::suggest::{SCHEMES, meant};
use crate::words::{growth_name, slow_start_counts_name, stack_if_not_rfc};

/// The parameter of a scheme that resumes an earlier connection: the window that the connection saved.
pub const SAVED_WINDOW: &str = "saved";
/// The parameter of a scheme that resumes an earlier connection: the round-trip time that the connection saved.
pub const SAVED_RTT: &str = "rtt";

/// A scheme that races, with its parameters.
#[derive(Clone, Debug)]
pub struct SchemeChoice {
    /// The scheme.
    pub entry: &'static SchemeEntry,
    /// The label given with `as=`.
    pub label: Option<String>,
    /// The parameters that were set.
    settings: Vec<(&'static str, Value)>,
    /// Keys of the path that this scheme sets for its own flows, and their texts. A scheme's parameter takes precedence
    /// over a key of that name.
    pub(crate) own: Options,
    own_text: Vec<(&'static str, String)>,
}

/// Why a list of schemes cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// An empty item between two commas, or an empty list.
    #[error("a scheme is missing; as in `slow-start,paced:first=10` or `all`")]
    Empty,
    /// An unknown scheme.
    #[error("unknown scheme `{found}`; {hint}")]
    Unknown {
        /// The name found.
        found: String,
        /// What to write instead, or the schemes that there are.
        hint: String,
    },
    /// A parameter before any scheme, or after `all`.
    #[error("the parameter `{found}` belongs to no scheme; write `NAME:{found}`")]
    Stray {
        /// The item found.
        found: String,
    },
    /// A scheme to take away that is not in the list before it.
    #[error("`-{name}` takes nothing away: `{name}` is not in the list before it")]
    NotListed {
        /// The name found.
        name: String,
    },
    /// Parameters behind a scheme to take away.
    #[error("`-{found}` has parameters; `-NAME` is wanted, with a scheme's name or a row's label")]
    TakenWithParameters {
        /// The item found, without the dash.
        found: String,
    },
    /// A list from which everything was taken away.
    #[error("nothing is left to race; a scheme is wanted, as in `slow-start` or `all,-vegas`")]
    NothingLeft,
    /// A text after a colon that is not `name=value`.
    #[error("`{found}` is no parameter; `name=value` is wanted, as in `paced:first=10`")]
    NotAParameter {
        /// The item found.
        found: String,
    },
    /// A parameter's value that cannot be read.
    #[error("{scheme}: {name}: {error}")]
    Value {
        /// The scheme.
        scheme: &'static str,
        /// The parameter.
        name: String,
        /// What is wrong.
        error: QuantityError,
    },
    /// A parameter that the scheme does not take, or a value out of range.
    #[error("{0}")]
    Parameter(String),
    /// An option of the path that cannot be read.
    #[error("{scheme}: {error}")]
    Own {
        /// The scheme.
        scheme: &'static str,
        /// What is wrong.
        error: OptionError,
    },
    /// A label that cannot be part of a file name.
    #[error("the label `{found}` must be of letters, digits, `-`, `_`, `+` and `.`, and not begin with `.`")]
    Label {
        /// The label found.
        found: String,
    },
    /// Two rows with one name.
    #[error("`{name}` is in the list twice; tell them apart with `as=label`")]
    Twice {
        /// The name.
        name: String,
    },
    /// A scheme that needs what the simulated host cannot do.
    #[error("{0}")]
    Host(Missing),
}

/// What the simulated host can do: everything.
pub const OFFERS: Offers = Offers::all("the simulator");

fn names(registry: Registry) -> String {
    registry.schemes().map(|entry| entry.name).collect::<Vec<_>>().join(", ")
}

/// Every built-in scheme, with its defaults.
pub fn all_schemes() -> Vec<SchemeChoice> {
    all(Registry::builtin()).collect()
}

fn all(registry: Registry) -> impl Iterator<Item = SchemeChoice> {
    registry.schemes().map(move |entry| SchemeChoice::of(registry, entry))
}

/// [`crate::ByName::parse_choices`].
pub(crate) fn parse(registry: Registry, list: &str) -> Result<Vec<SchemeChoice>, ChoiceError> {
    let mut choices: Vec<SchemeChoice> = Vec::new();
    let mut open = false;
    for (index, item) in list.split(',').map(str::trim).enumerate() {
        if item == "all" {
            choices.extend(all(registry));
            open = false;
        } else if let Some(name) = item.strip_prefix('-') {
            if index == 0 {
                choices.extend(all(registry));
            }
            take_away(registry, &mut choices, name)?;
            open = false;
        } else if item.contains('=') && !item.contains(':') {
            let stray = || ChoiceError::Stray { found: quantity::in_a_line(item) };
            choices.last_mut().filter(|_| open).ok_or_else(stray)?.set(item)?;
        } else {
            let (name, first) = item.split_once(':').map_or((item, None), |(name, rest)| (name, Some(rest)));
            let mut choice = SchemeChoice::of(registry, find(registry, name)?);
            if let Some(parameter) = first {
                choice.set(parameter)?;
            }
            choices.push(choice);
            open = true;
        }
    }
    if choices.is_empty() {
        return Err(ChoiceError::NothingLeft);
    }
    for (index, choice) in choices.iter().enumerate() {
        if choices.iter().take(index).any(|before| before.name() == choice.name()) {
            return Err(ChoiceError::Twice { name: choice.name().to_owned() });
        }
        choice.entry.check(&choice.settings, OFFERS).map_err(ChoiceError::Host)?;
    }
    Ok(choices)
}

/// Takes the rows away that are of this name: the row of a label, or else every row of a scheme.
fn take_away(registry: Registry, choices: &mut Vec<SchemeChoice>, name: &str) -> Result<(), ChoiceError> {
    let name = name.trim();
    if name.contains([':', '=']) {
        return Err(ChoiceError::TakenWithParameters { found: quantity::in_a_line(name) });
    }
    let is_label = choices.iter().any(|choice| choice.label.as_deref() == Some(name));
    if !is_label {
        find(registry, name)?;
    }
    let before = choices.len();
    choices.retain(|choice| if is_label { choice.name() != name } else { choice.entry.name != name });
    if choices.len() == before {
        return Err(ChoiceError::NotListed { name: quantity::in_a_line(name) });
    }
    Ok(())
}

/// Whether a list names this scheme by itself, and not only as one of `all`.
pub fn is_named(list: &str, choice: &SchemeChoice) -> bool {
    let names = list.split(',').map(|item| item.split(':').next().unwrap_or_default().trim());
    names.into_iter().any(|name| name == choice.entry.name)
}

/// Writes `choices` as a list that [`crate::ByName::parse_choices`] reads.
pub fn show_choices(choices: &[SchemeChoice]) -> String {
    choices.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn find(registry: Registry, name: &str) -> Result<&'static SchemeEntry, ChoiceError> {
    if name.is_empty() {
        return Err(ChoiceError::Empty);
    }
    if let Some(entry) = registry.scheme(name) {
        return Ok(entry);
    }
    let all = || format!("there are {}", names(registry));
    let hint = meant(name, SCHEMES, registry.schemes().map(|entry| entry.name)).unwrap_or_else(all);
    Err(ChoiceError::Unknown { found: quantity::in_a_line(name), hint })
}

impl SchemeChoice {
    /// A scheme with its defaults.
    pub fn plain(entry: &'static SchemeEntry) -> Self {
        Self::of(Registry::builtin(), entry)
    }

    /// A scheme with its defaults, whose options of the path take names from this registry.
    fn of(registry: Registry, entry: &'static SchemeEntry) -> Self {
        Self { entry, label: None, settings: Vec::new(), own: Options::of(registry), own_text: Vec::new() }
    }

    /// Slow start with its defaults.
    pub fn slow_start() -> Self {
        Self::plain(&registry::schemes()[0])
    }

    /// Slow start with this choice's options of the path.
    pub fn slow_start_instead(&self) -> Self {
        Self { entry: Self::slow_start().entry, label: None, settings: Vec::new(), ..self.clone() }
    }

    /// The parameters that were set, in the order in which they were given.
    pub fn settings(&self) -> &[(&'static str, Value)] {
        &self.settings
    }

    /// The keys of the path that this choice sets for its own flows.
    pub fn own_keys(&self) -> impl Iterator<Item = &'static str> {
        self.own_text.iter().map(|(key, _)| *key)
    }

    /// Whether this parameter was set.
    pub(crate) fn sets(&self, name: &str) -> bool {
        self.settings.iter().any(|(set, _)| *set == name)
    }

    /// Sets a parameter unless it was set before. A parameter that the scheme does not take is ignored.
    pub fn set_default(&mut self, name: &'static str, value: Value) {
        let allowed = self.entry.parameter(name).is_some_and(|parameter| parameter.kind.allows(value));
        if allowed && !self.sets(name) {
            self.settings.push((name, value));
        }
    }

    /// The name of the scheme's row: the label, or the scheme's name.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(self.entry.name)
    }

    /// The choice with `stack` as its own setting, unless `stack` is the default.
    pub(crate) fn of_stack(mut self, stack: Stack) -> Self {
        if let Some(name) = stack_if_not_rfc(stack).filter(|_| self.own.stack.is_none()) {
            self.own.stack = Some(stack);
            self.own_text.push(("stack", name.to_owned()));
        }
        self
    }

    /// The rule by which an application-limited window grows, according to this choice's own settings.
    pub(crate) fn own_growth(&self) -> Growth {
        self.own.plain.growth.unwrap_or_else(|| self.own.stack.unwrap_or(Stack::Rfc).growth())
    }

    /// The choice with `growth` as its own setting. A choice that sets its growth, and a stack that grows so by default,
    /// stay as they are.
    pub(crate) fn of_growth(mut self, growth: Option<Growth>) -> Self {
        const KEY: &str = "app-limited-growth";
        if let Some(growth) = growth.filter(|_| self.own.given(KEY).is_none()) {
            let text = growth_name(Some(growth)).to_owned();
            self.own.plain.growth = Some(growth);
            self.own.remember(KEY, &text);
            self.own_text.push((KEY, text));
        }
        self
    }

    /// Slow start that counts bytes, with this choice's options of the path.
    pub fn slow_start_counting_bytes(&self) -> Self {
        const KEY: &str = "slow-start-counts";
        let (counts, mut choice) = (SlowStartCounts::Bytes, self.slow_start_instead());
        let text = slow_start_counts_name(Some(counts)).to_owned();
        choice.own.plain.slow_start_counts = Some(counts);
        choice.own.remember(KEY, &text);
        choice.own_text.retain(|(key, _)| *key != KEY);
        choice.own_text.push((KEY, text));
        choice
    }

    /// What the scheme needs of its host, and beyond it, with its parameters.
    pub(crate) fn needs(&self) -> Needs {
        self.entry.needs_with(&self.settings)
    }

    /// The choice without its label.
    pub(crate) fn unlabelled(&self) -> Self {
        Self { label: None, ..self.clone() }
    }

    /// The parameters that were set, as on the command line, in the scheme's order; none if all are at their defaults. One
    /// parameter may decide another's default (`profile=paper`), so a parameter at its default is left out only together
    /// with all others.
    pub fn params(&self) -> String {
        let set = self.entry.parameters.iter().filter_map(|parameter| {
            let (name, value) = self.settings.iter().find(|(name, _)| *name == parameter.name)?;
            Some((parameter, format!("{name}={value}"), *value))
        });
        let plain = set.clone().all(|(parameter, _, value)| value == parameter.default);
        let own = self.own_text.iter().map(|(key, text)| format!("{key}={text}"));
        set.filter(|_| !plain).map(|(_, text, _)| text).chain(own).collect::<Vec<_>>().join(",")
    }

    /// Whether the scheme resumes an earlier connection and lacks one of the two parameters for it, `saved` and `rtt` (RFC
    /// 9959 section 3.1).
    pub fn lacks_saved(&self) -> bool {
        let saved = [SAVED_WINDOW, SAVED_RTT];
        saved.iter().all(|name| self.entry.parameter(name).is_some())
            && !saved.iter().all(|name| self.sets(name))
    }

    /// Whether the choice sets its own restart policy.
    pub(crate) fn has_own_restart(&self) -> bool {
        self.own.restart.is_some()
    }

    /// The choice with this restart policy and this label.
    pub(crate) fn restarting(mut self, policy: &RestartChoice, label: String) -> Self {
        self.own.restart = Some(vec![policy.clone()]);
        self.own_text.push(("restart", policy.to_string()));
        self.label = Some(label);
        self
    }

    /// The avoidance law that takes over after the scheme: the forced one if there is one, else the scheme's own.
    pub fn law(&self, forced: Option<&'static str>) -> &'static str {
        forced.unwrap_or(self.entry.law)
    }

    /// Checks that another host than the simulator can run the scheme with its parameters.
    ///
    /// # Errors
    /// The first thing that the scheme needs and the host cannot do.
    pub fn check(&self, offers: Offers) -> Result<(), ChoiceError> {
        self.entry.check(&self.settings, offers).map_err(ChoiceError::Host)
    }

    /// Builds the scheme.
    ///
    /// # Errors
    /// A parameter that the scheme does not take. Parsing has refused such a parameter before.
    pub fn build(&self, initial: Initial) -> Result<AnyScheme, ChoiceError> {
        let built = self.entry.build(initial, &self.settings);
        built.map_err(|error| ChoiceError::Parameter(error.to_string()))
    }

    fn set(&mut self, item: &str) -> Result<(), ChoiceError> {
        let (name, text) = item
            .split_once('=')
            .ok_or_else(|| ChoiceError::NotAParameter { found: quantity::in_a_line(item) })?;
        let (name, text) = (name.trim(), text.trim());
        let scheme = self.entry.name;
        // The registry refuses a scheme's own parameter that is set twice.
        if self.own_text.iter().any(|(before, _)| *before == name) || name == "as" && self.label.is_some() {
            return Err(ChoiceError::Parameter(format!("{scheme}: {name} is set twice")));
        }
        if name == "as" {
            return self.set_label(text);
        }
        let Some(parameter) = self.entry.parameter(name) else {
            if let Some(key) = key(name).filter(|key| key.schemes) {
                return self.set_own(key.name, text);
            }
            if let Some(key) = key(name) {
                let own: Vec<_> = keys().filter(|key| key.schemes).map(|key| key.name).collect();
                return Err(ChoiceError::Parameter(format!(
                    "{scheme}: {} is a key of the whole path, --{}; behind a scheme's name may stand the scheme's parameters and {}",
                    key.name,
                    key.name,
                    own.join(", ")
                )));
            }
            let own = keys().filter(|key| key.schemes).map(|key| key.name).chain(["as"]);
            let known = self.entry.parameters.iter().map(|parameter| parameter.name).chain(own);
            if let Some(hint) = meant(name, &[], known) {
                let name = quantity::in_a_line(name);
                return Err(ChoiceError::Parameter(format!("{scheme} has no parameter {name}; {hint}")));
            }
            // The registry writes this error.
            let given = [(name, Value::Count(0))];
            let error = self.entry.build(CHECKED, &given).err().map(|error| error.to_string());
            return Err(ChoiceError::Parameter(quantity::in_a_line(&error.unwrap_or_default())));
        };
        let value = read(parameter, text).map_err(|error| ChoiceError::Value {
            scheme,
            name: name.to_owned(),
            error,
        })?;
        self.settings.push((parameter.name, value));
        self.build(CHECKED).map(drop)
    }

    fn set_own(&mut self, key: &'static str, text: &str) -> Result<(), ChoiceError> {
        let scheme = self.entry.name;
        self.own.set(key, text).map_err(|error| ChoiceError::Own { scheme, error })?;
        if self.own.restart.as_ref().is_some_and(|policies| policies.len() > 1) {
            let error = refuse(text, Why::Conflict, "a scheme has one restart policy for itself");
            return Err(ChoiceError::Own { scheme, error: OptionError::Value { key, error } });
        }
        self.own_text.push((key, text.to_owned()));
        Ok(())
    }

    fn set_label(&mut self, label: &str) -> Result<(), ChoiceError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_+.".contains(c);
        if label.is_empty() || label.starts_with('.') || !label.chars().all(plain) {
            return Err(ChoiceError::Label { found: quantity::in_a_line(label) });
        }
        self.label = Some(label.to_owned());
        Ok(())
    }
}

impl std::fmt::Display for SchemeChoice {
    /// Writes the choice as on the command line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let label = self.label.as_ref().map(|label| format!("as={label}"));
        let parameters: Vec<_> =
            [Some(self.params()).filter(|text| !text.is_empty()), label].into_iter().flatten().collect();
        let colon = if parameters.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{}", self.entry.name, parameters.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_choices;
    use crate::scenario::Scenario;
    use firstflight::Bytes;
    use firstflight::registry::Kind;

    fn fault(list: &str) -> String {
        parse_choices(list).expect_err(list).to_string()
    }

    #[test]
    fn slow_start_is_that_of_the_registry() {
        assert_eq!(SchemeChoice::slow_start().name(), "slow-start");
    }

    #[test]
    fn all_is_every_scheme_that_is_built() {
        let all = parse_choices("all").expect("all");
        assert_eq!(all.len(), registry::schemes().len());
        let listed = names(Registry::builtin()).replace(", ", ",");
        assert_eq!(show_choices(&all), listed);
        assert_eq!(show_choices(&parse_choices(&listed).expect("all by name")), listed);
    }

    #[test]
    fn a_dash_takes_a_scheme_away_from_what_is_listed_before_it() {
        let listed = |list: &str| {
            let choices = parse_choices(list).unwrap_or_else(|error| panic!("{list}: {error}"));
            show_choices(&choices)
        };
        let all = names(Registry::builtin()).replace(", ", ",");
        assert_eq!(listed("all,-vegas"), all.replace(",vegas", ""));
        assert_eq!(listed("-vegas,-paced"), all.replace(",vegas", "").replace(",paced,", ","), "of all");
        assert_eq!(listed("all,-paced,paced:first=4"), all.replace(",paced,", ",") + ",paced:first=4");
        assert_eq!(listed("vegas,paced,-vegas"), "paced");
        let two = "slow-start,paced:as=a,paced:first=4,as=b";
        assert_eq!(listed(&format!("{two},-a")), "slow-start,paced:first=4,as=b", "a label is one row");
        assert_eq!(listed(&format!("{two},-paced")), "slow-start", "a scheme is all its rows");
        for (list, says) in [
            ("all,-vegsa", "unknown scheme `vegsa`; is `vegas` meant?"),
            ("all,-", "a scheme is missing; as in"),
            ("slow-start,-vegas", "`-vegas` takes nothing away: `vegas` is not in the list before it"),
            ("all,-vegas,-vegas", "`-vegas` takes nothing away"),
            ("all,-paced:first=4", "`-paced:first=4` has parameters; `-NAME` is wanted"),
            ("all,-vegas,first=4", "the parameter `first=4` belongs to no scheme"),
            ("vegas,-vegas", "nothing is left to race; a scheme is wanted"),
        ] {
            assert!(fault(list).starts_with(says), "{list}: {}", fault(list));
        }
    }

    #[test]
    fn a_scheme_from_elsewhere_is_told_the_name_here() {
        for (name, here) in [
            ("newreno", "write `slow-start:avoidance=reno`"),
            ("bbr2", "write `bbr`, which is BBRv3's start-up"),
            ("BBRv3", "write `bbr`, which is BBRv3's start-up"),
            ("hystartpp", "write `hystart++`"),
            ("cubic", "write `hystart-linux`, whose law is CUBIC, or `slow-start:avoidance=cubic`"),
            ("HyStart_Linux", "is `hystart-linux` meant?"),
        ] {
            assert_eq!(fault(name), format!("unknown scheme `{name}`; {here}"));
        }
    }

    #[test]
    fn a_list_names_what_stands_in_it_by_itself() {
        let choice = |name| parse_choices(name).expect(name).remove(0);
        assert!(is_named("all,-vegas,paced:first=4,as=x", &choice("paced")));
        for list in ["all", "all,-vegas", "-vegas", "slow-start:as=vegas"] {
            assert!(!is_named(list, &choice("vegas")), "{list}");
        }
    }

    #[test]
    fn the_same_scheme_twice_takes_a_label() {
        assert!(fault("slow-start,slow-start").contains("twice"));
        let two = parse_choices("slow-start,slow-start:as=again").expect("two");
        assert_eq!((two[0].name(), two[1].name()), ("slow-start", "again"));
        assert_eq!(show_choices(&two), "slow-start,slow-start:as=again");
        assert!(fault("slow-start:as=x,slow-start:as=x").contains("twice"));
        assert!(fault("slow-start:as=../x").contains("label"));
    }

    #[test]
    fn an_item_with_a_sign_belongs_to_the_scheme_before_it() {
        let two = parse_choices("slow-start,as=first,slow-start").expect("two");
        assert_eq!((two[0].name(), two[1].name()), ("first", "slow-start"));
        assert!(fault("as=first,slow-start").contains("belongs to no scheme"));
        assert!(fault("all,as=first").contains("belongs to no scheme"));
    }

    #[test]
    fn a_scheme_may_have_options_of_the_path_for_itself() {
        let list = "slow-start,slow-start:recovery=sack,iw=10p,ssthresh=5p,as=literal";
        let choices = parse_choices(list).expect("two");
        assert_eq!(choices[1].params(), "recovery=sack,iw=10p,ssthresh=5p");
        assert_eq!(show_choices(&choices), list);
        let base = Scenario::default();
        assert_eq!(base.for_scheme(&choices[0]), base);
        let own = base.for_scheme(&choices[1]);
        assert_eq!((own.iw, own.ssthresh), (10, Some(Bytes::new(5 * 960))));
        assert_eq!(own.recovery, firstflight_tcp::Recovery::Sack);
        assert!(fault("slow-start:recovery=magic").starts_with("slow-start: recovery: "));
    }

    #[test]
    fn what_is_set_twice_is_refused_whoever_has_it() {
        for (list, wanted) in [
            ("paced:first=10,first=11", "paced: first is set twice"),
            ("slow-start:iw=4p,iw=4p", "slow-start: iw is set twice"),
            ("vegas:restart=ssr,as=x,restart=nssr", "vegas: restart is set twice"),
            ("limited:as=x,as=y", "limited: as is set twice"),
        ] {
            assert_eq!(fault(list), wanted);
        }
    }

    #[test]
    fn nothing_needs_no_unit_and_what_is_refused_is_told_the_parameters_own_range() {
        let params = |list| parse_choices(list).expect(list)[0].params();
        assert_eq!(params("paced:slack=0"), "slack=0ns");
        assert_eq!(params("careful-resume:saved=0,rtt=0"), "");
        assert_eq!(
            fault("paced:slack=-1ms"),
            "paced: slack: `-1ms` is negative; allowed is a time from 0ns to 1s"
        );
        assert!(fault("quick-start:request=100tbit").ends_with("allowed is a rate from 0bit to 1.31072gbit"));
    }

    #[test]
    fn a_parameter_set_to_its_default_is_shown_beside_one_that_changes_defaults() {
        let params = |list| parse_choices(list).expect(list)[0].params();
        assert_eq!(params("paced:profile=paper,first=10"), "profile=paper,first=10");
        assert_eq!(params("search:variant=00,threshold=26%"), "variant=00,threshold=26%");
        assert_eq!(params("paced:first=10,profile=practical"), "profile=practical,first=10");
        assert_eq!(params("paced:first=iw,profile=practical"), "");
    }

    #[test]
    fn every_bound_of_a_parameter_can_be_written() {
        let schemes = registry::schemes().iter().flat_map(|entry| entry.parameters);
        let restarts = registry::restarts().iter().flat_map(|entry| entry.parameters);
        for parameter in schemes.chain(restarts) {
            let bounds = match parameter.kind {
                Kind::Count { least, most } | Kind::CountOr { least, most, .. } => {
                    [Value::Count(least), Value::Count(most)]
                }
                Kind::Span { least, most } => [Value::Span(least), Value::Span(most)],
                Kind::Rate { least, most } => [Value::Rate(least), Value::Rate(most)],
                Kind::Bytes { least, most } => [Value::Bytes(least), Value::Bytes(most)],
                Kind::Fraction { least_ppm, most_ppm } => {
                    [Value::Fraction { ppm: least_ppm }, Value::Fraction { ppm: most_ppm }]
                }
                Kind::Word(_) => continue,
            };
            for bound in bounds {
                assert_eq!(read(parameter, &bound.to_string()), Ok(bound), "{}", parameter.name);
            }
        }
    }

    #[test]
    fn every_default_of_a_parameter_can_be_written() {
        let schemes = registry::schemes().iter().flat_map(|entry| entry.parameters);
        let restarts = registry::restarts().iter().flat_map(|entry| entry.parameters);
        for parameter in schemes.chain(restarts) {
            let shown = parameter.default.to_string();
            assert_eq!(read(parameter, &shown), Ok(parameter.default), "{}={shown}", parameter.name);
        }
    }

    #[test]
    fn unknown_schemes_are_refused_by_name() {
        assert_eq!(fault("slow-strat"), "unknown scheme `slow-strat`; is `slow-start` meant?");
        assert!(fault("zzzzzzzzzzzzzzzzz").contains("; there are slow-start"));
        assert!(fault("").contains("missing"));
        assert!(fault("slow-start,").contains("missing"));
        assert!(fault("slow-start:").contains("no parameter"));
        assert!(fault("slow-start:nonsense=1").contains("slow-start has no parameter nonsense"));
        assert_eq!(fault("paced:frist=3"), "paced has no parameter frist; is `first` meant?");
        assert_eq!(fault("paced:recovry=sack"), "paced has no parameter recovry; is `recovery` meant?");
        let of_the_path = fault("slow-start:initial-rto=2s");
        assert!(
            of_the_path.contains("initial-rto is a key of the whole path, --initial-rto"),
            "{of_the_path}"
        );
        assert!(of_the_path.contains("rto-floor"), "what a scheme may have is listed: {of_the_path}");
    }
}
