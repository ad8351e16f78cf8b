//! The options of `--figure`: its length, layout, size and font.

use std::path::Path;

use firstflight_measure::Recording;
use firstflight_report::svg::Sheet;
use firstflight_report::svg::figure::{self, Frame};
use firstflight_report::{BasePath, Report};
use firstflight_scenario::quantity;

use crate::failure::{Failure, Place};
use crate::options::{FigureOptions, OutputOptions, SizeOptions};
use crate::pictures;

/// The settings of a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    until: Option<u64>,
    overlays: bool,
    sheet: Sheet,
}

/// The sides and fonts that are allowed, in pixels.
const SIDES: std::ops::RangeInclusive<f64> = 100.0..=10_000.0;
const FONTS: std::ops::RangeInclusive<f64> = 4.0..=100.0;
/// The minimum width of a figure with text of the default size. Narrower ones have no room for their labels.
const NARROWEST: f64 = 300.0;

impl Look {
    /// Reads the options of the figure of `rows` rows.
    ///
    /// # Errors
    /// Fails if there can be no figure of so many rows, or if an option cannot be read.
    pub(crate) fn of(output: &OutputOptions, rows: usize, arguments: &[String]) -> Result<Self, Failure> {
        if let Some(file) = &output.figure {
            let place = || Place::value(arguments, "--figure", &file.to_string_lossy());
            figure::check(rows).map_err(|error| Failure::usage(format!("--figure: {error}")).at(place()))?;
        }
        let FigureOptions { until, overlay, size } = &output.look;
        let until = until.as_ref().map(|text| {
            quantity::span(text).map_err(|error| refused("--figure-until", text, &error, arguments))
        });
        let until = until.transpose()?.map(firstflight::Span::nanos);
        Ok(Self { until, overlays: *overlay, sheet: sheet(size, arguments)? })
    }

    /// Returns the parameters of a figure with this look.
    pub(crate) const fn frame(self, path: BasePath, is_one_run: bool) -> Frame {
        let Self { until, overlays, sheet } = self;
        Frame { path, until, is_one_run, overlays, sheet }
    }
}

/// Returns the figure in the format that the ending of `path` promises.
///
/// # Errors
/// Fails if the figure needs more height than it may have, or cannot be converted.
pub(crate) fn figure_of(
    report: &Report,
    recordings: &[Recording],
    frame: &Frame,
    path: &Path,
) -> Result<Vec<u8>, Failure> {
    let svg = figure::render(report, recordings, frame);
    let svg = svg.map_err(|error| Failure::usage(format!("--figure-size: {error}")))?;
    pictures::converted(svg, path)
}

/// Reads the size and the font of a figure.
///
/// # Errors
/// Fails if an option cannot be read, or if the figure would be too narrow for its text.
pub(crate) fn sheet(options: &SizeOptions, arguments: &[String]) -> Result<Sheet, Failure> {
    let mut sheet = Sheet::DEFAULT;
    if let Some(text) = &options.font {
        let font = text.parse::<f64>().ok().filter(|font| FONTS.contains(font));
        let wanted = format!("a size from {} to {} is wanted, as in `14`", FONTS.start(), FONTS.end());
        sheet.font = font.ok_or_else(|| refused("--figure-font", text, &wanted, arguments))?;
    }
    if let Some(text) = &options.size {
        let side = |text: &str| text.parse::<f64>().ok().filter(|side| SIDES.contains(side));
        let sides = text.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
        let (from, to) = (SIDES.start(), SIDES.end());
        let wanted = format!("WIDTHxHEIGHT is wanted, each from {from} to {to}, as in `600x400`");
        let (width, height) = sides.ok_or_else(|| refused("--figure-size", text, &wanted, arguments))?;
        (sheet.width, sheet.height) = (width, Some(height));
    }
    let narrowest = NARROWEST * sheet.font / Sheet::DEFAULT.font;
    if sheet.width < narrowest {
        let (option, text) = match (&options.size, &options.font) {
            (Some(size), _) => ("--figure-size", size.as_str()),
            (None, font) => ("--figure-font", font.as_deref().unwrap_or_default()),
        };
        let why = format!("a width of {} has no room for this font; {narrowest} is the minimum", sheet.width);
        return Err(refused(option, text, &why, arguments));
    }
    Ok(sheet)
}

fn refused(option: &str, text: &str, why: &dyn std::fmt::Display, arguments: &[String]) -> Failure {
    Failure::usage(format!("{option}: {why}")).at(Place::value(arguments, option, text))
}
