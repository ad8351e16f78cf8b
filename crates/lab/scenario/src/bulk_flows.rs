//! Bulk TCP flows of cross traffic as text: their number, their scheme, and the avoidance law that follows it.

use std::fmt;

use firstflight::registry::{Help, Registry};

use crate::quantity::{QuantityError, Why, refuse};
use crate::suggest::{LAWS, SCHEMES, meant};

/// Bulk TCP flows. All have one scheme and one law, which do not depend on the measured scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bulk {
    /// The number of flows.
    pub flows: u32,
    /// The scheme that starts each of them.
    pub scheme: &'static str,
    /// The avoidance law that follows the scheme. `None` for the path's law, or for the scheme's own law if the path has none.
    pub law: Option<&'static str>,
}

/// The default scheme of cross-traffic flows.
pub(crate) const PLAIN: &str = "slow-start";

/// Common names of bulk flows. Each entry has the name, the scheme and the law. CUBIC starts with HyStart, as in Linux.
const NAMED: &[(&str, &str, &str)] = &[
    ("cubic", "hystart-linux", "cubic-linux"),
    ("linux", "hystart-linux", "cubic-linux"),
    ("reno", "slow-start", "reno"),
    ("newreno", "slow-start", "reno"),
    ("bbr", "bbr", "bbr"),
    ("bbrv3", "bbr", "bbr"),
];

/// Maximum number of flows.
const MOST: u32 = 1_000;

const BULK: &str = "bulk TCP flows are as in `cubic:2`, `bbr:1`, `reno:4` or `tcp:4` (at most 1000), with a scheme as in \
                    `tcp:4,hystart`, a law as in `tcp:4,cubic`, or both as in `tcp:4,hystart,cubic`";

impl Bulk {
    /// Returns this many flows of slow start.
    pub const fn plain(flows: u32) -> Self {
        Self { flows, scheme: PLAIN, law: None }
    }

    /// Returns the flows' scheme with its law, in the form of a list of schemes.
    pub fn choice(self) -> String {
        choice(self.scheme, self.law)
    }

    /// Returns the flows in words, for titles.
    pub(crate) fn describe(self) -> String {
        let count = match self.flows {
            1 => "one bulk TCP flow".to_owned(),
            flows => format!("{flows} bulk TCP flows"),
        };
        match (self.scheme, self.law) {
            ("hystart-linux", Some("cubic-linux")) => format!("{count} of Linux's CUBIC across"),
            ("bbr", Some("bbr")) => format!("{count} of BBR across"),
            (PLAIN, None) => format!("{count} across"),
            (scheme, None) => format!("{count} of {scheme} across"),
            (scheme, Some(law)) => format!("{count} of {scheme} and {law} across"),
        }
    }

    /// Reads `NAME:N` or `NxNAME`: N flows of `cubic`, `linux`, `reno` or `bbr`, or of a scheme with the path's law. Returns `None` if the
    /// text has another form, and `Some(Ok(None))` if the count is 0.
    ///
    /// # Errors
    /// Too many flows, or a scheme that cross traffic cannot have.
    pub(crate) fn by_name(registry: Registry, text: &str) -> Option<Result<Option<Self>, QuantityError>> {
        let (name, count) = match text.split_once(':') {
            Some((name, count)) => (name, count),
            None => text.split_once('x').map(|(count, name)| (name, count))?,
        };
        let (name, flows) = (name.trim(), count.trim().parse::<u32>().ok()?);
        let known = NAMED.iter().find(|(word, ..)| *word == name);
        let (scheme, law) = match known {
            Some((_, scheme, law)) => (*scheme, Some(*law)),
            None => match scheme(registry, name).transpose()? {
                Ok(scheme) => (scheme, None),
                Err(error) => return Some(Err(error)),
            },
        };
        if flows > MOST {
            return Some(Err(refuse(text, Why::TooLarge, BULK)));
        }
        Some(Ok((flows > 0).then_some(Self { flows, scheme, law })))
    }

    /// Reads `N`, `N,SCHEME`, `N,LAW` or `N,SCHEME,LAW`; `None` if there are no flows. A name that both a scheme and a law have means the
    /// scheme.
    pub(crate) fn parse(registry: Registry, text: &str) -> Result<Option<Self>, QuantityError> {
        let mut parts = text.split(',').map(str::trim);
        let flows = match parts.next().unwrap_or_default().parse::<u32>() {
            Ok(flows) if flows <= MOST => flows,
            Ok(_) => return Err(refuse(text, Why::TooLarge, BULK)),
            Err(_) => return Err(refuse(text, Why::UnknownWord, BULK)),
        };
        let law = |name: &str| registry.law(name).map(|law| law.name);
        let (scheme, law) = match (parts.next(), parts.next(), parts.next()) {
            (None, ..) => (PLAIN, None),
            (Some(name), None, _) => match (scheme(registry, name)?, law(name)) {
                (Some(scheme), _) => (scheme, None),
                (None, Some(law)) => (PLAIN, Some(law)),
                (None, None) => return Err(unknown(registry, name)),
            },
            (Some(name), Some(after), None) => {
                let scheme = scheme(registry, name)?.ok_or_else(|| unknown(registry, name))?;
                (scheme, Some(law(after).ok_or_else(|| unknown(registry, after))?))
            }
            (Some(_), Some(_), Some(more)) => return Err(refuse(more, Why::Conflict, BULK)),
        };
        Ok((flows > 0).then_some(Self { flows, scheme, law }))
    }
}

/// Returns a scheme with its law, in the form of a list of schemes.
pub(crate) fn choice(scheme: &str, law: Option<&str>) -> String {
    law.map_or_else(|| scheme.to_owned(), |law| format!("{scheme}:avoidance={law}"))
}

/// Returns the scheme of this name, if there is one. Schemes that need routers' answers or an earlier connection are refused, because only
/// the measured flow has those.
pub(crate) fn scheme(registry: Registry, name: &str) -> Result<Option<&'static str>, QuantityError> {
    const ALONE: &str = "a scheme of cross traffic needs no routers' answers and no earlier connection";
    let Some(entry) = registry.scheme(name) else { return Ok(None) };
    if entry.needs.help().any(|help| matches!(help, Help::Routers | Help::Memory)) {
        return Err(refuse(name, Why::OutOfRange, ALONE));
    }
    Ok(Some(entry.name))
}

pub(crate) fn unknown(registry: Registry, name: &str) -> QuantityError {
    let known: Vec<&str> =
        registry.schemes().map(|entry| entry.name).chain(registry.laws().map(|law| law.name)).collect();
    let tables = [&[], SCHEMES, LAWS].into_iter();
    let mut hints = tables.filter_map(|table| meant(name, table, known.iter().copied()));
    // A known name is a law in place of a scheme, or a scheme in place of a law.
    let hint = hints.next().filter(|_| !known.contains(&name));
    refuse(name, Why::UnknownWord, hint.unwrap_or_else(|| BULK.to_owned()))
}

impl fmt::Display for Bulk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.scheme, self.law) {
            (PLAIN, None) => write!(f, "tcp:{}", self.flows),
            (scheme, None) => write!(f, "tcp:{},{scheme}", self.flows),
            (scheme, Some(law)) => write!(f, "tcp:{},{scheme},{law}", self.flows),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Bulk>, String> {
        Bulk::parse(Registry::builtin(), text).map_err(|error| error.to_string())
    }

    #[test]
    fn bulk_flows_accept_a_scheme_or_a_law_or_both() {
        let bulk = |flows, scheme, law| Ok(Some(Bulk { flows, scheme, law }));
        assert_eq!(read("4"), bulk(4, "slow-start", None));
        assert_eq!(read("2,hystart"), bulk(2, "hystart", None));
        assert_eq!(read("2,cubic"), bulk(2, "slow-start", Some("cubic")));
        assert_eq!(read("2, hystart, cubic"), bulk(2, "hystart", Some("cubic")));
        assert_eq!(read("2,vegas"), bulk(2, "vegas", None), "vegas is a scheme and a law");
        assert_eq!(read("0,cubic"), Ok(None));
    }

    #[test]
    fn people_name_neighbours_by_their_stack() {
        let named = |text: &str| {
            Bulk::by_name(Registry::builtin(), text).map(|read| read.map_err(|error| error.to_string()))
        };
        let bulk = |flows, scheme, law| Some(Ok(Some(Bulk { flows, scheme, law })));
        for text in ["cubic:2", "2xcubic", "linux:2", "2xlinux"] {
            assert_eq!(named(text), bulk(2, "hystart-linux", Some("cubic-linux")), "{text}");
        }
        assert_eq!(named("bbr:1"), bulk(1, "bbr", Some("bbr")));
        assert_eq!(named("reno:3"), bulk(3, "slow-start", Some("reno")));
        assert_eq!(named("suss:2"), bulk(2, "suss", None), "and the path's law");
        assert_eq!(named("cubic:0"), Some(Ok(None)));
        assert_eq!(named("web:30%"), None);
        assert!(named("cubic:1001").is_some_and(|read| read.is_err_and(|error| error.contains("too large"))));
        assert!(
            named("quick-start:1").is_some_and(|read| read.is_err_and(|error| error.contains("routers")))
        );
    }

    #[test]
    fn bulk_flows_read_back_as_what_they_show_and_name_a_choice() {
        for (text, choice) in [
            ("4", "slow-start"),
            ("2,hystart", "hystart"),
            ("2,slow-start,cubic", "slow-start:avoidance=cubic"),
            ("2,hystart,vegas", "hystart:avoidance=vegas"),
        ] {
            let bulk = read(text).expect(text).expect("flows");
            assert_eq!(bulk.to_string(), format!("tcp:{text}"));
            assert_eq!(bulk.choice(), choice);
        }
    }

    #[test]
    fn unknown_bulk_names_are_refused_with_a_suggestion() {
        for (text, says) in [
            ("2,hystrat", "`hystrat` is not known; is `hystart` meant?"),
            ("2,cubci", "`cubci` is not known; is `cubic` meant?"),
            ("2,zzzzzzzz", "`zzzzzzzz` is not known; bulk TCP flows are as in"),
            ("2,cubic,hystart", "`cubic` is not known; bulk TCP flows are as in"),
            ("2,hystart,cubic,reno", "`reno`"),
            ("2,", "``"),
            ("2,quick-start", "`quick-start` is out of range; a scheme of cross traffic needs no routers"),
            ("2,careful-resume", "`careful-resume` is out of range; a scheme of cross traffic needs no"),
            ("1001", "`1001` is too large; bulk TCP flows are"),
            ("x", "`x` is not known; bulk TCP flows are"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(says) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
