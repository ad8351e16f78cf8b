//! A figure or table of a paper: where it is in the paper, its runs, its plots, and its claims.

use firstflight::registry::Registry;
use firstflight_scenario::{FileError, quantity};
use toml::Spanned;

use crate::expectation::{Expectation, WANTED};
use crate::expression::{Expression, parse, parse_with};
use crate::file::{self, ClaimFile, FigureFile, HabitatFile, PlotFile, fault_within};
use crate::names;
use crate::points::{Points, points};
use crate::words::{Kind, OverRuns, Setup, Source, Status};

/// A figure or table.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The paper's folder.
    pub paper: String,
    /// The name of the figure within the paper.
    pub id: String,
    /// A short title, which is not the paper's.
    pub title: String,
    /// The section of the paper.
    pub section: String,
    /// The figure's name as printed.
    pub figure: String,
    /// Where the paper measured: in a simulator, in a laboratory, or on the Internet.
    pub setup: Setup,
    /// Whether the tests of every build check the figure, because its runs are fast.
    pub fast: bool,
    /// Our choices where the paper does not specify a value.
    pub choices: Vec<String>,
    /// The claims, in the order of the file.
    pub claims: Vec<Claim>,
    /// The plots, in the order of the file.
    pub(crate) plots: Vec<Plot>,
    /// The width of the time slots over which rates are averaged, in nanoseconds.
    pub(crate) slot: u64,
    /// The runs of the figure.
    pub(crate) points: Points,
    /// The environment of the runs: [`SIMULATOR`], or one of [`HABITATS`].
    pub habitat: &'static str,
    /// The same figure in the other environments that its file describes.
    pub(crate) elsewhere: Vec<Figure>,
}

/// The environment in which figures run by default.
pub const SIMULATOR: &str = "simulator";

/// The other environments that figures may have. Both use an emulated path: `live` is the endpoint on UDP sockets, `kernel` a web server
/// over this machine's TCP.
pub const HABITATS: [&str; 2] = ["live", "kernel"];

/// A claim.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The name of the claim within the figure.
    pub id: String,
    /// The claim in words.
    pub says: String,
    /// The source of the claimed value in the paper.
    pub source: Source,
    /// The reason for the tolerance.
    pub tolerance: String,
    /// The outcome that the file records.
    pub status: Status,
    /// Why the claim does not hold or is not testable.
    pub why: String,
    /// The measured expression, as the file writes it.
    pub measured: String,
    /// The expectation of the measured value.
    pub expected: Option<Expectation>,
    pub(crate) over_runs: OverRuns,
    pub(crate) expression: Option<Expression>,
}

/// A plot.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) kind: Kind,
    pub(crate) curves: Vec<Curve>,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    pub(crate) x_unit: f64,
    pub(crate) y_unit: f64,
    pub(crate) log_x: bool,
    pub(crate) log_y: bool,
    pub(crate) x_range: Option<[f64; 2]>,
    pub(crate) y_range: Option<[f64; 2]>,
}

/// A curve of a plot.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) label: String,
    pub(crate) x: Option<Expression>,
    pub(crate) y: Expression,
}

/// The default width of a time slot, in nanoseconds.
const SLOT: u64 = 100_000_000;

impl Figure {
    /// Reads the file of a figure.
    ///
    /// # Errors
    /// The first fault: TOML that cannot be parsed, an unknown key, a scenario that cannot be run, or an expression that has no meaning for
    /// the scenario.
    pub(crate) fn parse(registry: Registry, paper: &str, id: &str, text: &str) -> Result<Self, FileError> {
        let file = file::parse(text)?;
        let slot = match &file.slot {
            None => SLOT,
            Some(slot) => quantity::span(slot.get_ref())
                .map_err(|error| FileError::new(text, slot.span(), format!("slot: {error}")))?
                .nanos()
                .max(1),
        };
        let points = points(registry, text, &file.scenario, &file.vary)?;
        let plots = plots(text, &file, &points)?;
        let mut claims: Vec<Claim> = Vec::new();
        for one in &file.claim {
            let claim = claim(text, one, None, &points)?;
            if claims.iter().any(|before| before.id == claim.id) {
                let message = format!("id: there are two claims `{}`; each needs a separate name", claim.id);
                return Err(FileError::new(text, one.get_ref().id.span(), message));
            }
            claims.push(claim);
        }
        let figure = Self {
            paper: paper.to_owned(),
            id: id.to_owned(),
            title: file.title.clone(),
            section: file.section.clone(),
            figure: file.figure.clone(),
            setup: file.setup,
            fast: file.fast,
            choices: file.choices.clone(),
            claims,
            plots,
            slot,
            points,
            habitat: SIMULATOR,
            elsewhere: Vec::new(),
        };
        let there = |(name, there)| figure.there(registry, text, &file, name, there);
        let elsewhere = file.habitat.iter().map(there).collect::<Result<_, _>>()?;
        Ok(Self { elsewhere, ..figure })
    }

    /// Returns the figure in another environment, with the keys and the claims that the file states for this environment.
    fn there(
        &self,
        registry: Registry,
        text: &str,
        file: &FigureFile,
        name: &Spanned<String>,
        there: &HabitatFile,
    ) -> Result<Self, FileError> {
        let Some(habitat) = HABITATS.into_iter().find(|habitat| habitat == name.get_ref()) else {
            let message =
                format!("habitat: there is no `{}`; there are {}", name.get_ref(), HABITATS.join(", "));
            return Err(FileError::new(text, name.span(), message));
        };
        let mut scenario = file.scenario.clone();
        for (key, value) in &there.scenario {
            scenario.remove(key);
            scenario.insert(key.clone(), value.clone());
        }
        let vary = there.vary.as_ref().unwrap_or(&file.vary);
        let points = points(registry, text, &scenario, vary)?;
        let mut claims = Vec::new();
        for (id, recorded) in &there.claims {
            let at_id = |message: String| FileError::new(text, id.span(), format!("claims: {message}"));
            let said = file.claim.iter().find(|claim| claim.get_ref().id.get_ref() == id.get_ref());
            let Some(said) = said else { return Err(at_id(format!("there is no claim `{}`", id.get_ref()))) };
            if recorded.status != Status::Holds && recorded.why.trim().is_empty() {
                let message = "a claim that does not hold or is not testable says `why`, from evidence";
                return Err(at_id(message.to_owned()));
            }
            let of_here = self.claims.iter().find(|claim| claim.id == *id.get_ref()).cloned();
            let measured = recorded.measured.as_ref().or(said.get_ref().measured.as_ref());
            if recorded.status != Status::NotTestable
                && measured.is_none_or(|_| said.get_ref().expected.is_none())
            {
                let message = "a claim that is tested has `expected`, and `measured`, there or in the figure";
                return Err(at_id(message.to_owned()));
            }
            let claim = match of_here {
                // Nothing is measured in this environment.
                Some(claim) if recorded.status == Status::NotTestable => Claim { expression: None, ..claim },
                _ => claim(text, said, recorded.measured.as_ref(), &points)?,
            };
            claims.push(Claim { status: recorded.status, why: recorded.why.clone(), ..claim });
        }
        // The claims are in the order of the file.
        claims.sort_by_key(|claim| self.claims.iter().position(|one| one.id == claim.id));
        let choices = self.choices.iter().chain(&there.choices).cloned().collect();
        let plots = plots(text, file, &points)?;
        Ok(Self { fast: false, choices, claims, plots, points, habitat, ..self.clone() })
    }

    /// Returns the identifier `PAPER/FIGURE`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.paper, self.id)
    }

    /// Returns one of the figure's scenarios; `None` if the figure runs none.
    pub fn a_scenario(&self) -> Option<&firstflight_scenario::Scenario> {
        self.points.all.iter().find_map(|point| Some(&point.run.as_ref()?.0))
    }

    /// Returns every expression of the figure.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let of_plots = self
            .plots
            .iter()
            .flat_map(|plot| &plot.curves)
            .flat_map(|curve| curve.x.iter().chain([&curve.y]));
        self.claims.iter().filter_map(|claim| claim.expression.as_ref()).chain(of_plots)
    }
}

/// Reads an expression, and checks it against the names of the figure.
fn expression(
    text: &str,
    said: &Spanned<String>,
    label: Option<&str>,
    points: &Points,
) -> Result<Expression, FileError> {
    let read = match label {
        None => parse(said.get_ref()),
        Some(label) => parse_with(said.get_ref(), Some(label)),
    };
    let expression =
        read.map_err(|error| fault_within(text, &said.span(), (error.from, error.to), error.message))?;
    names::check(&expression, points).map_err(|(name, message)| {
        let from = said.get_ref().find(&name).filter(|_| !name.is_empty());
        match from {
            Some(from) => fault_within(text, &said.span(), (from, from + name.len()), message),
            None => FileError::new(text, said.span(), message),
        }
    })?;
    Ok(expression)
}

/// Reads a claim of the file. `measured` replaces the expression in the file, if it is given.
fn claim(
    text: &str,
    spanned: &Spanned<ClaimFile>,
    measured: Option<&Spanned<String>>,
    points: &Points,
) -> Result<Claim, FileError> {
    let file = spanned.get_ref();
    let measured = measured.or(file.measured.as_ref());
    let id = file.id.get_ref();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '.';
    if id.is_empty() || !id.chars().all(is_plain) {
        let message = format!("id: `{id}` is not allowed; letters, digits, `-` and `.` are");
        return Err(FileError::new(text, file.id.span(), message));
    }
    let status = *file.status.get_ref();
    let at_status = |message: &str| FileError::new(text, file.status.span(), message);
    if status != Status::Holds && file.why.trim().is_empty() {
        return Err(at_status(
            "status: a claim that does not hold or is not testable says `why`, from evidence",
        ));
    }
    if status != Status::NotTestable && (measured.is_none() || file.expected.is_none()) {
        return Err(at_status("status: a claim without `measured` and `expected` is `not_testable`"));
    }
    if file.expected.is_some() && status != Status::NotTestable && file.tolerance.trim().is_empty() {
        let message =
            "tolerance: it is missing; the reason of the bound or the tolerance is wanted, in words";
        return Err(FileError::new(text, file.id.span(), message));
    }
    let expected = match &file.expected {
        None => None,
        Some(said) => Some(Expectation::parse(said.get_ref()).ok_or_else(|| {
            FileError::new(
                text,
                said.span(),
                format!("expected: `{}` has no meaning; {WANTED}", said.get_ref()),
            )
        })?),
    };
    let read = |said: &Spanned<String>| expression(text, said, None, points);
    Ok(Claim {
        id: id.clone(),
        says: file.says.clone(),
        source: file.source,
        tolerance: file.tolerance.clone(),
        status,
        why: file.why.clone(),
        measured: measured.map(|said| said.get_ref().clone()).unwrap_or_default(),
        expected,
        over_runs: file.over_runs.unwrap_or_default(),
        expression: measured.map(read).transpose()?,
    })
}

fn plots(text: &str, file: &FigureFile, points: &Points) -> Result<Vec<Plot>, FileError> {
    file.plot.0.iter().map(|plot| self::plot(text, plot, points)).collect()
}

fn plot(text: &str, file: &PlotFile, points: &Points) -> Result<Plot, FileError> {
    let mut curves = Vec::new();
    let all = points.labels();
    let shown = match &file.schemes {
        None => all.clone(),
        Some(list) => {
            for label in list.get_ref() {
                names::label(label, &all).map_err(|message| FileError::new(text, list.span(), message))?;
            }
            list.get_ref().clone()
        }
    };
    if let Some(y) = &file.y {
        for label in shown {
            let read = |said: &Spanned<String>| expression(text, said, Some(&label), points);
            curves.push(Curve {
                x: file.x.as_ref().map(read).transpose()?,
                y: read(y)?,
                label: label.clone(),
            });
        }
    }
    for curve in &file.curves {
        let read = |said: &Spanned<String>| expression(text, said, None, points);
        curves.push(Curve {
            label: curve.label.clone(),
            x: curve.x.as_ref().map(read).transpose()?,
            y: read(&curve.y)?,
        });
    }
    Ok(Plot {
        title: file.title.clone().unwrap_or_default(),
        kind: file.kind,
        curves,
        x_label: file.x_label.clone().unwrap_or_default(),
        y_label: file.y_label.clone().unwrap_or_default(),
        x_unit: unit(text, "x-unit", file.x_unit.as_ref())?,
        y_unit: unit(text, "y-unit", file.y_unit.as_ref())?,
        log_x: file.log_x,
        log_y: file.log_y,
        x_range: range(text, "x-range", file.x_range.as_ref())?,
        y_range: range(text, "y-range", file.y_range.as_ref())?,
    })
}

/// Returns the number by which the values of an axis are divided.
fn unit(text: &str, key: &str, said: Option<&Spanned<f64>>) -> Result<f64, FileError> {
    let Some(said) = said else { return Ok(1.0) };
    let unit = *said.get_ref();
    if unit.is_finite() && unit > 0.0 {
        return Ok(unit);
    }
    Err(FileError::new(text, said.span(), format!("{key}: `{unit}` is not allowed; a number above 0 is")))
}

/// Returns the lower and the upper end of an axis.
fn range(text: &str, key: &str, said: Option<&Spanned<[f64; 2]>>) -> Result<Option<[f64; 2]>, FileError> {
    let Some(said) = said else { return Ok(None) };
    let [from, to] = *said.get_ref();
    if from.is_finite() && to.is_finite() && from < to {
        return Ok(Some([from, to]));
    }
    let message = format!("{key}: `[{from}, {to}]` is not allowed; two numbers are, the lesser first");
    Err(FileError::new(text, said.span(), message))
}
