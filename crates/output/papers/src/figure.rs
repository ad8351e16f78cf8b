//! A figure or table of a paper: where it is in the paper, its runs, its plots, and its claims.

use firstflight::registry::Registry;
use firstflight_scenario::{FileError, quantity};
use toml::Spanned;

use crate::claim::{Claim, Scene};
use crate::expression::Expression;
use crate::file::{self, FigureFile, HabitatFile, MutantFile, PlotFile};
use crate::names;
use crate::points::Points;
use crate::set_up::{Bench, SetUp, set_ups};
use crate::words::{Kind, Setup, Status};

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
    /// The scenarios other than the figure's, with which claims are measured.
    pub set_ups: Vec<SetUp>,
    /// The figure with other schemes.
    pub mutants: Vec<Mutant>,
    /// The figure in the other environments that its file describes.
    pub(crate) elsewhere: Vec<Figure>,
}

/// The environment in which figures run by default.
pub const SIMULATOR: &str = "simulator";

/// The other environments that figures may have. Both use an emulated path: `live` is the endpoint on UDP sockets, `kernel` a web server
/// over this machine's TCP.
pub const HABITATS: [&str; 2] = ["live", "kernel"];

/// Schemes, or texts of the measured expressions, in place of the figure's, with which a claim that holds should fail.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The name in the file.
    pub name: String,
    /// The fault, in words.
    pub says: String,
    /// The labels, and the scheme that replaces each.
    pub schemes: Vec<(String, String)>,
    /// The texts of measured expressions, and the text that replaces each.
    pub measured: Vec<(String, String)>,
    /// The reason why the paper itself does not distinguish the schemes; `None` if a claim fails.
    pub indistinct: Option<String>,
    /// The figure with these schemes: its claims that are recorded as holding, without plots.
    pub figure: Figure,
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
        let bench = Bench::new(registry, text, &file);
        let points = bench.points()?;
        let set_ups = set_ups(&bench, &file)?;
        let plots = plots(text, &file, &points)?;
        let claims = Scene { text, points: &points, set_ups: &set_ups }.claims(&file)?;
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
            set_ups,
            mutants: Vec::new(),
            elsewhere: Vec::new(),
        };
        let mutant = |(name, mutant)| figure.mutant(&bench, &file, name, mutant);
        let mutants = file.mutant.iter().map(mutant).collect::<Result<_, _>>()?;
        let there = |(name, there)| figure.there(&bench, &file, name, there);
        let elsewhere = file.habitat.iter().map(there).collect::<Result<_, _>>()?;
        Ok(Self { mutants, elsewhere, ..figure })
    }

    /// Returns the figure in another environment, with the keys and the claims that the file states for this environment.
    fn there(
        &self,
        bench: &Bench<'_>,
        file: &FigureFile,
        name: &Spanned<String>,
        there: &HabitatFile,
    ) -> Result<Self, FileError> {
        let text = bench.text;
        let Some(habitat) = HABITATS.into_iter().find(|habitat| habitat == name.get_ref()) else {
            let message =
                format!("habitat: there is no `{}`; there are {}", name.get_ref(), HABITATS.join(", "));
            return Err(FileError::new(text, name.span(), message));
        };
        let points = bench.with(&there.scenario, there.vary.as_ref()).points()?;
        let claims = Scene { text, points: &points, set_ups: &[] }.claims_there(file, there)?;
        let choices = self.choices.iter().chain(&there.choices).cloned().collect();
        let plots = plots(text, file, &points)?;
        let set_ups = Vec::new();
        Ok(Self { fast: false, choices, claims, plots, points, habitat, set_ups, ..self.clone() })
    }

    /// Returns the figure with other schemes.
    fn mutant(
        &self,
        bench: &Bench<'_>,
        file: &FigureFile,
        name: &Spanned<String>,
        mutant: &MutantFile,
    ) -> Result<Mutant, FileError> {
        if mutant.schemes.get_ref().is_empty() && mutant.measured.is_empty() {
            let message = "mutant: `schemes` or `measured` is wanted".to_owned();
            return Err(FileError::new(bench.text, name.span(), message));
        }
        let mut schemes = Vec::new();
        for (label, scheme) in mutant.schemes.get_ref() {
            let (said, scheme) = (label.get_ref(), scheme.get_ref());
            if bench.clone().replace_scheme(said, scheme) == 0 {
                let all = self.points.labels();
                let hint = names::near(said, all.iter().map(String::as_str));
                let message = format!("schemes: there is no scheme `{said}`; {hint}");
                return Err(FileError::new(bench.text, label.span(), message));
            }
            schemes.push((said.clone(), scheme.clone()));
        }
        let bench = bench.replacing(&schemes);
        let at_schemes = |error: FileError| {
            FileError::new(bench.text, mutant.schemes.span(), format!("mutant: {}", error.message))
        };
        let points = bench.points().map_err(at_schemes)?;
        let set_ups = set_ups(&bench, file).map_err(at_schemes)?;
        let claims: Vec<Claim> =
            self.claims.iter().filter(|claim| claim.status == Status::Holds).cloned().collect();
        let mut figure = Self { claims, points, set_ups, plots: Vec::new(), ..self.clone() };
        let mut measured = Vec::new();
        for (from, to) in &mutant.measured {
            if !figure.replace_measured(bench.text, from, to)? {
                let message =
                    format!("measured: no claim that holds has `{}` in its expression", from.get_ref());
                return Err(FileError::new(bench.text, from.span(), message));
            }
            measured.push((from.get_ref().clone(), to.get_ref().clone()));
        }
        let (name, says) = (name.get_ref().clone(), mutant.says.clone());
        Ok(Mutant { name, says, schemes, measured, indistinct: mutant.indistinct.clone(), figure })
    }

    /// Replaces a text wherever a measured expression of a claim has it. Returns whether one has.
    fn replace_measured(
        &mut self,
        text: &str,
        from: &Spanned<String>,
        to: &Spanned<String>,
    ) -> Result<bool, FileError> {
        let mut claims = std::mem::take(&mut self.claims);
        let mut found = false;
        for measurement in claims.iter_mut().filter_map(|claim| claim.measurement.as_mut()) {
            if !measurement.measured.contains(from.get_ref()) {
                continue;
            }
            found = true;
            measurement.measured = measurement.measured.replace(from.get_ref(), to.get_ref());
            let said = Spanned::new(to.span(), measurement.measured.clone());
            let points = self.points(measurement.set_up.as_deref());
            measurement.expression = names::read(text, &said, None, points)?;
        }
        self.claims = claims;
        Ok(found)
    }

    /// Returns the identifier `PAPER/FIGURE`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.paper, self.id)
    }

    /// Returns one of the figure's scenarios; `None` if the figure runs none.
    pub fn a_scenario(&self) -> Option<&firstflight_scenario::Scenario> {
        self.points.all.iter().find_map(|point| Some(&point.run.as_ref()?.0))
    }

    /// Returns the runs in the set-up of this name; without a name, those of the figure.
    pub(crate) fn points(&self, set_up: Option<&str>) -> &Points {
        let named = self.set_ups.iter().find(|one| Some(one.name.as_str()) == set_up);
        named.map_or(&self.points, |one| &one.points)
    }

    /// Returns the expressions of the plots.
    pub(crate) fn drawn(&self) -> impl Iterator<Item = &Expression> {
        let curves = self.plots.iter().flat_map(|plot| &plot.curves);
        curves.flat_map(|curve| curve.x.iter().chain([&curve.y]))
    }
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
            let read = |said: &Spanned<String>| names::read(text, said, Some(&label), points);
            curves.push(Curve {
                x: file.x.as_ref().map(read).transpose()?,
                y: read(y)?,
                label: label.clone(),
            });
        }
    }
    for curve in &file.curves {
        let read = |said: &Spanned<String>| names::read(text, said, None, points);
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
