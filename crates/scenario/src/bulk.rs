//! Bulk TCP flows of cross traffic as text: how many, with which scheme, and which law follows it.

use std::fmt;

use firstflight::registry::{Help, Registry};

use crate::quantity::{QuantityError, Why, refuse};
use crate::suggest::{LAWS, SCHEMES, meant};

/// Bulk TCP flows, all with one scheme and one law, whatever is measured beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bulk {
    /// The number of flows.
    pub flows: u32,
    /// The scheme that starts each of them.
    pub scheme: &'static str,
    /// The law that follows the scheme; `None` for the path's law or else the scheme's own.
    pub law: Option<&'static str>,
}

/// The scheme of flows across that name none.
pub(crate) const PLAIN: &str = "slow-start";

/// The most flows.
const MOST: u32 = 1_000;

const BULK: &str = "bulk TCP flows are as in `tcp:4` (at most tcp:1000), with a scheme as in `tcp:4,hystart`, a law as in \
                    `tcp:4,cubic`, or both as in `tcp:4,hystart,cubic`";

impl Bulk {
    /// This many flows of slow start.
    pub const fn plain(flows: u32) -> Self {
        Self { flows, scheme: PLAIN, law: None }
    }

    /// The flows' scheme with its law, as a list of schemes has it.
    pub fn choice(self) -> String {
        choice(self.scheme, self.law)
    }

    /// The flows in words, for titles.
    pub(crate) fn describe(self) -> String {
        let count = match self.flows {
            1 => "one bulk TCP flow".to_owned(),
            flows => format!("{flows} bulk TCP flows"),
        };
        match (self.scheme, self.law) {
            (PLAIN, None) => format!("{count} across"),
            (scheme, None) => format!("{count} of {scheme} across"),
            (scheme, Some(law)) => format!("{count} of {scheme} and {law} across"),
        }
    }

    /// Reads `N`, `N,SCHEME`, `N,LAW` or `N,SCHEME,LAW`; `None` if there are no flows. A name that both a scheme and a law
    /// have is the scheme's.
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

/// A scheme with its law, as a list of schemes has it.
pub(crate) fn choice(scheme: &str, law: Option<&str>) -> String {
    law.map_or_else(|| scheme.to_owned(), |law| format!("{scheme}:avoidance={law}"))
}

/// The scheme of this name, if there is one. Routers answer the measured flow alone, and only that has an earlier connection.
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
    // A name that is known is a law where a scheme is wanted, or a scheme where a law is.
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
    fn one_name_is_a_schemes_or_else_a_laws_and_two_are_a_scheme_and_its_law() {
        let bulk = |flows, scheme, law| Ok(Some(Bulk { flows, scheme, law }));
        assert_eq!(read("4"), bulk(4, "slow-start", None));
        assert_eq!(read("2,hystart"), bulk(2, "hystart", None));
        assert_eq!(read("2,cubic"), bulk(2, "slow-start", Some("cubic")));
        assert_eq!(read("2, hystart, cubic"), bulk(2, "hystart", Some("cubic")));
        assert_eq!(read("2,vegas"), bulk(2, "vegas", None), "vegas is a scheme and a law");
        assert_eq!(read("0,cubic"), Ok(None));
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
    fn a_name_that_is_neither_a_schemes_nor_a_laws_is_told_what_to_write() {
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
