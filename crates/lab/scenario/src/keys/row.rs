//! A row of the table of keys.

use crate::kind::Kind;
use crate::options::Options;
use crate::quantity::QuantityError;
use crate::scenario::Scenario;

/// A key of a path: `--rate` on the command line, `rate` in a scenario file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The name, without leading dashes.
    pub name: &'static str,
    /// The heading of the help under which the key is listed.
    pub heading: Heading,
    /// The kind of the key's value.
    pub kind: Kind,
    /// The placeholder of the value in the help; empty for a flag.
    pub placeholder: &'static str,
    /// The meaning of the key in one line that begins with a capital and ends without a full stop. The help adds the words
    /// of a [`Kind::Word`].
    pub help: &'static str,
    /// The key's line in the short help, of at most 54 characters with its default; empty if the short help leaves the key
    /// out.
    pub brief: &'static str,
    /// The default on the user's own path.
    pub default: Option<&'static str>,
    /// The default on the built-in path, if it differs.
    pub built_in: Option<&'static str>,
    /// The default in words, for the help, if `default` and `built_in` do not describe it completely.
    pub unset: &'static str,
    /// Further values of the key, as [`Key::show`] writes them.
    pub examples: &'static [&'static str],
    /// The key that must be given together with this one.
    pub needs: Option<Need>,
    /// Keys that may not be given together with this one.
    pub excludes: &'static [Exclusion],
    /// Whether a scheme may set the key for its own flows, as in `slow-start:recovery=sack`.
    pub schemes: bool,
    /// Whether a sweep may set the key for its paths.
    pub sweeps: bool,
    /// Whether a path for real packets takes the key. All other keys describe a simulated host.
    pub real: bool,
    /// Whether the key may be given several times on the command line. The texts are then joined with `;`.
    pub repeats: bool,
    /// The place of the key in the canonical text, from one. A place never changes, because the text is hashed. A new key takes the next
    /// free place.
    pub place: u8,
    /// Sets the key from its text.
    pub parse: fn(&mut Options, &str) -> Result<(), QuantityError>,
    /// The key's value in the canonical text of a scenario. A key added after the first hashes shows nothing at its
    /// default, so that old hashes stay valid.
    pub show: fn(&Scenario) -> Option<String>,
    /// The part of a result's title that the key adds at the end.
    pub title: fn(&Scenario) -> Option<String>,
}

/// Keys outside the headings of the endpoints that describe flows: what they carry, when they arrive, how they are measured.
const OF_FLOWS: [&str; 18] = [
    "size",
    "duration",
    "rounds",
    "idle",
    "spread",
    "clients",
    "flow",
    "flows",
    "arrivals",
    "sizes",
    "warm-up",
    "mixed",
    "mixed-share",
    "app",
    "qs-hops",
    "qs-router",
    "qs-access",
    "windows",
];

impl Key {
    /// Checks whether the key applies to flows or their endpoints, and so not to probe trains.
    pub fn is_of_flows(&self) -> bool {
        const TRAINS_TOO: [&str; 1] = ["timestamps"];
        let of_ends = matches!(self.heading, Heading::Schemes | Heading::Endpoints);
        of_ends && !TRAINS_TOO.contains(&self.name) || OF_FLOWS.contains(&self.name)
    }
}

/// A heading of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// The links, and what is sent over them.
    Path,
    /// The schemes that are compared, and the law after start-up.
    Schemes,
    /// The two endpoints.
    Endpoints,
    /// The number of runs, their seeds and their measurements. These keys are neither hashed nor swept.
    Runs,
}

impl Heading {
    /// Returns the heading as the help shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Path => "Path",
            Self::Schemes => "Schemes",
            Self::Endpoints => "Endpoints",
            Self::Runs => "Runs",
        }
    }
}

/// A key that must be given together with another.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// The other key.
    pub other: &'static str,
    /// The error if the other key is missing, and its remedy.
    pub without: &'static str,
}

/// A key that may not be given together with another.
#[derive(Clone, Copy, Debug)]
pub struct Exclusion {
    /// The other key.
    pub other: &'static str,
    /// The reason.
    pub why: &'static str,
    /// Values of the excluding key that have no effect together with the other key, and so are allowed.
    pub except: &'static [&'static str],
}

/// Returns a key with the default values of a heading. Most keys of the heading share them.
pub(super) const fn row(heading: Heading) -> Key {
    Key {
        name: "",
        heading,
        kind: Kind::Text("TEXT"),
        placeholder: "",
        help: "",
        brief: "",
        default: None,
        built_in: None,
        unset: "",
        examples: &[],
        needs: None,
        excludes: &[],
        schemes: false,
        sweeps: !matches!(heading, Heading::Runs),
        real: false,
        repeats: false,
        place: 0,
        parse: |_, _| Ok(()),
        show: |_| None,
        title: |_| None,
    }
}

impl Key {
    /// Checks whether this text turns the key off, as if the key were not given: `none`, `0`, `false`, or `all` (the application writes all
    /// at once). A key that is off needs no other key and excludes none.
    pub fn is_off(&self, text: &str) -> bool {
        const OFF: [&str; 4] = ["none", "0", "all", "false"];
        let Some(default) = self.default.filter(|default| OFF.contains(default)) else { return false };
        let read = |text: &str| {
            let mut options = Options::default();
            (self.parse)(&mut options, text).ok().map(|()| options)
        };
        read(text).is_some_and(|options| Some(options) == read(default))
    }

    /// Checks whether the key is a flag, which takes no value.
    pub fn is_flag(&self) -> bool {
        self.kind == Kind::FLAG
    }

    /// Returns the placeholder of the key's value in the help.
    pub fn value_name(&self) -> &'static str {
        if self.placeholder.is_empty() { self.kind.placeholder() } else { self.placeholder }
    }

    /// Returns the key's line in the help: its meaning, the words that it takes, and its default.
    pub fn help_line(&self) -> String {
        let words = match self.kind {
            Kind::Word(words) if !self.is_flag() => format!(": {}", words.join(", ")),
            _ => String::new(),
        };
        let unset = match (self.unset, self.built_in, self.default) {
            _ if self.is_flag() => String::new(),
            ("", Some(built_in), Some(default)) => format!(" [built-in path: {built_in}; else {default}]"),
            ("", Some(built_in), None) => format!(" [built-in path: {built_in}]"),
            ("", None, Some(default)) => format!(" [{default}]"),
            ("", None, None) => String::new(),
            (unset, ..) => format!(" [{unset}]"),
        };
        format!("{}{words}{unset}", self.help)
    }
}
