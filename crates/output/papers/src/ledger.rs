//! The ledger: the figures of all papers, read from this library or from a folder.

use std::fs;
use std::path::{Path, PathBuf};

use firstflight::registry::Registry;
use firstflight_scenario::{FileError, read_text, suggest::closest};

use crate::figure::Figure;
use crate::rows::{self, Row};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/ledger.rs"));
}

/// The papers, in the order in which they are listed: the folder and the title of each.
pub const PAPERS: [(&str, &str); 6] = [
    ("past", "Hu and Steenkiste, Improving TCP startup performance using active measurements (ICNP 2003)"),
    ("rbp", "Visweswaraiah and Heidemann, Improving restart of idle TCP connections (1997)"),
    ("hystart", "Ha and Rhee, Taming the elephants: new TCP slow start (2011)"),
    (
        "adaptive-start",
        "Wang, Pau, Sanadidi and Gerla, Improving TCP start-up over high bandwidth delay paths (2003)",
    ),
    ("quick-start", "Scharf, Performance analysis of the Quick-Start TCP extension (2007)"),
    (
        "bbr",
        "Cardwell, Swett and Beshay, BBR congestion control: the draft's test cases (draft-ietf-ccwg-bbr)",
    ),
];

/// The figures of all papers.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// The figures, by paper, in the order of their names.
    pub figures: Vec<Figure>,
    /// The contents of each paper, and the files that reproduce them. Empty if a folder has no `rows.toml`.
    pub rows: Vec<Row>,
}

/// Why the ledger cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// A file or folder that cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The system's error message.
        error: String,
    },
    /// A file with a fault.
    #[error("{}: {}", name, error.message)]
    File {
        /// The file.
        name: String,
        /// The text of the file.
        text: String,
        /// The fault.
        error: FileError,
    },
    /// A folder without figures.
    #[error("{} has no figures; a ledger is a folder of files `PAPER/FIGURE.toml`, as in `past/figure-8b.toml`", path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// A file name that the ledger does not allow.
    #[error("{name}: {message}")]
    Name {
        /// The name.
        name: String,
        /// The fault, and what is allowed.
        message: String,
    },
}

/// A name that is not a paper, figure or claim.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} `{found}`; {hint}")]
pub struct UnknownId {
    /// The kind of name: paper, figure or claim.
    pub what: &'static str,
    /// The name.
    pub found: String,
    /// The nearest known name, or the place that lists all.
    pub hint: String,
}

impl Ledger {
    /// Returns the ledger that is embedded in the library.
    ///
    /// # Errors
    /// A file with a fault.
    pub fn embedded(registry: Registry) -> Result<Self, LedgerError> {
        let files = embedded::LEDGER.iter().filter(|(name, _)| name.contains('/'));
        let figures = files.map(|(name, text)| figure(registry, name, name, text));
        let figures = in_order(figures.collect::<Result<_, _>>()?);
        Ok(Self { figures, rows: table(rows::FILE, embedded_text(rows::FILE).unwrap_or_default())? })
    }

    /// Returns the figures that run in another environment, one of [`HABITATS`](crate::HABITATS), as they are there.
    #[must_use]
    pub fn in_habitat(&self, habitat: &str) -> Self {
        let there = |figure: &Figure| figure.elsewhere.iter().find(|there| there.habitat == habitat).cloned();
        Self { figures: self.figures.iter().filter_map(there).collect(), rows: self.rows.clone() }
    }

    /// Returns the ledger of a folder: `PAPER/FIGURE.toml`, and `rows.toml` if there is one.
    ///
    /// # Errors
    /// A folder or file that cannot be read, a folder without figures, or a file with a fault.
    pub fn read(registry: Registry, folder: &Path) -> Result<Self, LedgerError> {
        let fail = |path: &Path, error: &std::io::Error| LedgerError::Read {
            path: path.to_owned(),
            error: error.to_string(),
        };
        let list = |folder: &Path| -> Result<Vec<PathBuf>, LedgerError> {
            let entries = fs::read_dir(folder).map_err(|error| fail(folder, &error))?;
            let mut paths: Vec<PathBuf> = entries
                .map(|entry| entry.map(|entry| entry.path()).map_err(|error| fail(folder, &error)))
                .collect::<Result<_, _>>()?;
            paths.sort();
            Ok(paths)
        };
        let mut figures = Vec::new();
        for paper in list(folder)?.into_iter().filter(|path| path.is_dir()) {
            for path in
                list(&paper)?.into_iter().filter(|path| path.extension().is_some_and(|end| end == "toml"))
            {
                let part = |path: &Path| {
                    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
                };
                let inside = format!("{}/{}", part(&paper), part(&path));
                let text = read_text(&path)
                    .map_err(|error| LedgerError::Read { path: path.clone(), error: error.to_string() })?;
                figures.push(figure(registry, &path.display().to_string(), &inside, &text)?);
            }
        }
        if figures.is_empty() {
            return Err(LedgerError::Empty { path: folder.to_owned() });
        }
        let path = folder.join(rows::FILE);
        let rows = if path.is_file() {
            let text = read_text(&path)
                .map_err(|error| LedgerError::Read { path: path.clone(), error: error.to_string() })?;
            table(&path.display().to_string(), &text)?
        } else {
            Vec::new()
        };
        Ok(Self { figures: in_order(figures), rows })
    }

    /// Returns the figures and claims that an identifier names: `PAPER`, `PAPER/FIGURE` or `PAPER/FIGURE/CLAIM`. Each figure comes with the
    /// name of the claim if the identifier names one.
    ///
    /// # Errors
    /// An unknown name, with the nearest one.
    pub fn find(&self, id: &str) -> Result<Vec<(&Figure, Option<&str>)>, UnknownId> {
        let id = id.trim().trim_end_matches('/');
        let mut parts = id.splitn(3, '/');
        let (paper, figure, claim) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        let figures: Vec<&Figure> = self.figures.iter().filter(|one| one.paper == paper).collect();
        if figures.is_empty() {
            let papers = PAPERS.iter().map(|(name, _)| *name);
            if !papers.clone().any(|known| known == paper) {
                return Err(unknown("paper", paper, papers));
            }
            let found = paper.to_owned();
            return Err(UnknownId {
                what: "figure of",
                found,
                hint: "this ledger has none of the paper".to_owned(),
            });
        }
        let Some(figure) = figure else { return Ok(figures.into_iter().map(|one| (one, None)).collect()) };
        let Some(found) = figures.iter().find(|one| one.id == figure) else {
            let names: Vec<String> = figures.iter().map(|one| one.name()).collect();
            return Err(unknown("figure", &format!("{paper}/{figure}"), names.iter().map(String::as_str)));
        };
        let Some(claim) = claim else { return Ok(vec![(found, None)]) };
        if let Some(one) = found.claims.iter().find(|one| one.id == claim) {
            return Ok(vec![(found, Some(one.id.as_str()))]);
        }
        let names: Vec<String> =
            found.claims.iter().map(|one| format!("{}/{}", found.name(), one.id)).collect();
        Err(unknown("claim", id, names.iter().map(String::as_str)))
    }
}

/// Reads the rows of the reproduction checklist. Error messages use `name` as the file's name.
fn table(name: &str, text: &str) -> Result<Vec<Row>, LedgerError> {
    rows::parse(text).map_err(|message| LedgerError::Name { name: name.to_owned(), message })
}

/// Returns the text of an embedded file, by its name within the ledger.
pub(crate) fn embedded_text(name: &str) -> Option<&'static str> {
    embedded::LEDGER.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Returns the title of a paper.
pub fn paper_title(paper: &str) -> &'static str {
    PAPERS.iter().find(|(name, _)| *name == paper).map_or("", |(_, title)| *title)
}

fn unknown<'a>(what: &'static str, found: &str, known: impl Iterator<Item = &'a str> + Clone) -> UnknownId {
    let hint = match closest(found, known.clone()) {
        Some(near) => format!("is `{near}` meant?"),
        None if known.clone().next().is_none() => "the figure has no claims".to_owned(),
        None => {
            let mut all: Vec<String> = Vec::new();
            for name in known.map(|name| format!("`{name}`")) {
                if !all.contains(&name) {
                    all.push(name);
                }
            }
            if all.len() > 8 {
                "`firstflight paper list` lists all".to_owned()
            } else {
                format!("there are {}", all.join(", "))
            }
        }
    };
    UnknownId { what, found: found.to_owned(), hint }
}

/// Reads the figure of a file. `inside` is the file's name within the ledger. Error messages use `name`.
fn figure(registry: Registry, name: &str, inside: &str, text: &str) -> Result<Figure, LedgerError> {
    let wrong = |message: String| LedgerError::Name { name: name.to_owned(), message };
    let Some((paper, id)) = inside.strip_suffix(".toml").and_then(|inside| inside.split_once('/')) else {
        return Err(wrong("a file of the ledger is `PAPER/FIGURE.toml`".into()));
    };
    if !PAPERS.iter().any(|(known, _)| *known == paper) {
        let all = PAPERS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        return Err(wrong(format!("there is no paper `{paper}`; there are {all}")));
    }
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if !id.chars().all(is_plain) {
        return Err(wrong(format!("`{id}` is not allowed as a name; small letters, digits and `-` are")));
    }
    Figure::parse(registry, paper, id, text).map_err(|error| LedgerError::File {
        name: name.to_owned(),
        text: text.to_owned(),
        error,
    })
}

/// Sorts figures by paper, then by name with numbers as numbers.
fn in_order(mut figures: Vec<Figure>) -> Vec<Figure> {
    let paper = |figure: &Figure| PAPERS.iter().position(|(name, _)| *name == figure.paper);
    figures.sort_by_cached_key(|figure| (paper(figure), natural(&figure.id)));
    figures
}

/// Splits a name into parts in which digits are numbers, so that `figure-8b` sorts before `figure-11`.
fn natural(name: &str) -> Vec<(String, u64)> {
    name.split('-')
        .map(|part| {
            let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
            (part[digits.len()..].to_owned(), digits.parse().unwrap_or(0))
        })
        .map(
            |(word, number)| {
                if number > 0 { (String::new(), number, word) } else { (word, 0, String::new()) }
            },
        )
        .flat_map(|(word, number, rest)| [(word, number), (rest, 0)])
        .collect()
}
