//! The colours and dashes of schemes. A scheme has the same style on every page.

use serde::Serialize;

/// The names of the page's colours, which `report.css` defines for light and dark.
const COLOURS: [&str; 8] = ["blue", "vermillion", "green", "purple", "orange", "sky", "black", "earth"];

/// The dashes of lines, as lengths in pixels. They are so short that the sample next to a name shows them.
const DASHES: [&str; 4] = ["solid", "7px,3px", "2px,3px", "9px,3px,2px,3px"];

/// The maximum number of lines that can be distinguished.
pub(crate) const DISTINCT: usize = COLOURS.len() * DASHES.len();

/// The schemes whose styles are fixed, each with its place: the colour counts first, then the dash. Related schemes share a colour.
const FIXED: [(&str, usize); 18] = [
    ("leap", 0),
    ("leap-saved", 8),
    ("bbr", 1),
    ("quick-start", 9),
    ("hystart++", 2),
    ("hystart", 10),
    ("hystart-linux", 3),
    ("vegas", 11),
    ("rapid-start", 4),
    ("careful-resume", 12),
    ("suss", 5),
    ("search", 13),
    ("slow-start", 6),
    ("slow-start-paced", 14),
    ("limited", 22),
    ("paced", 7),
    ("packet-pair", 15),
    ("adaptive", 17),
];

/// The style of a line: a colour of the page and a dash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Style {
    pub(crate) colour: &'static str,
    pub(crate) dash: &'static str,
}

impl Style {
    fn at(place: usize) -> Self {
        Self { colour: COLOURS[place % COLOURS.len()], dash: DASHES[place / COLOURS.len() % DASHES.len()] }
    }

    /// Returns the number of the dash, from 0 for a solid line.
    pub(crate) fn dash_number(self) -> usize {
        DASHES.iter().position(|dash| *dash == self.dash).unwrap_or(0)
    }
}

/// Returns a style for each line, all different; `None` for lines beyond those that can be distinguished. `schemes` has the scheme of each
/// line, with or without parameters. The first line of a scheme has the scheme's fixed style. All others take the first styles that are free.
pub(crate) fn styles<'a>(schemes: impl Iterator<Item = &'a str> + Clone) -> Vec<Option<Style>> {
    let fixed = |scheme: &str| {
        let bare = scheme.split(':').next().unwrap_or_default();
        FIXED.iter().find(|(name, _)| *name == bare).map(|(_, place)| *place)
    };
    let mut is_taken = [false; DISTINCT];
    let mut places: Vec<Option<usize>> = Vec::new();
    for scheme in schemes {
        let place = fixed(scheme).filter(|place| !is_taken[*place]);
        if let Some(place) = place {
            is_taken[place] = true;
        }
        places.push(place);
    }
    for place in places.iter_mut().filter(|place| place.is_none()) {
        *place = is_taken.iter().position(|is| !is);
        if let Some(place) = place {
            is_taken[*place] = true;
        }
    }
    places.into_iter().map(|place| place.map(Style::at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_has_one_style_whatever_is_drawn_with_it() {
        let leap = styles(["leap"].into_iter())[0];
        for others in
            [&["bbr", "leap"][..], &["mine", "leap:x=1", "leap"], &["own", "own", "slow-start", "leap"]]
        {
            let styles = styles(others.iter().copied());
            let at = others.iter().position(|name| name.starts_with("leap")).unwrap();
            assert_eq!(styles[at], leap, "{others:?}");
        }
    }

    #[test]
    fn styles_differ_until_all_are_taken() {
        let names: Vec<String> = FIXED
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .chain((0..20).map(|at| format!("own-{at}")))
            .collect();
        let styles = styles(names.iter().map(String::as_str));
        assert_eq!(styles.iter().filter(|style| style.is_none()).count(), names.len() - DISTINCT);
        for (at, style) in styles.iter().enumerate().filter(|(_, style)| style.is_some()) {
            assert!(!styles[..at].contains(style), "{} {style:?}", names[at]);
        }
    }
}
