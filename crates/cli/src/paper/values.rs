//! The values of figures: as CSV, as a file of series, and as a figure for print.

use std::path::PathBuf;

use clap::Args;
use firstflight_export::{Record, csv, parquet};
use firstflight_papers::{FigureResult, print, series_records, value_records};
use firstflight_report::svg;

use super::asked::{AskedFor, HowToRun};
use crate::failure::{Failure, Place};
use crate::figures::sheet;
use crate::options::SizeOptions;
use crate::output;
use crate::pictures;
use crate::results::write;
use crate::targets::{Input, check_file};

/// The outputs of `paper run` that have values.
#[derive(Args, Debug)]
pub(super) struct Values {
    /// Print only CSV: the points of curves and the measured values of claims, each with the number that the paper prints.
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Write the curves over time: Parquet, or CSV if the name ends with .csv.
    #[arg(long, value_name = "FILE")]
    series: Option<PathBuf>,
    /// Write one figure with its plots and the paper's printed numbers: SVG, or PNG or PDF if the name ends with .png or .pdf.
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    size: SizeOptions,
}

impl Values {
    /// Checks the outputs before anything is run.
    ///
    /// # Errors
    /// Fails if a file cannot be written, if `--figure` would have to draw several figures, or if its size cannot be read.
    pub(super) fn check(
        &self,
        asked: &AskedFor<'_>,
        how: &HowToRun,
        arguments: &[String],
    ) -> Result<(), Failure> {
        let files = how.from.files(asked);
        let mut taken: Vec<Input<'_>> =
            files.iter().map(|path| Input { what: "ledger's file", path }).collect();
        taken.extend(how.report.iter().map(|path| Input { what: "report", path }));
        for (option, what, path) in
            [("--series", "table of series", &self.series), ("--figure", "figure", &self.figure)]
        {
            if let Some(path) = path {
                check_file(option, path, &taken, arguments)?;
                taken.push(Input { what, path });
            }
        }
        sheet(&self.size, arguments)?;
        let figures = asked.figures().count();
        match &self.figure {
            Some(path) if figures > 1 => {
                let message = format!("--figure: one figure can be drawn; {figures} are chosen");
                let place = Place::value(arguments, "--figure", &path.to_string_lossy());
                Err(Failure::usage(message).at(place))
            }
            _ => Ok(()),
        }
    }

    /// Writes the files. Returns whether the values were printed for programs.
    ///
    /// # Errors
    /// Fails if a file cannot be written, or if the figure needs more height than it may have.
    pub(super) fn write(
        &self,
        asked: &AskedFor<'_>,
        results: &[FigureResult],
        arguments: &[String],
    ) -> Result<bool, Failure> {
        let of = |records: fn(&_, &_) -> Result<Vec<Record>, _>| -> Result<Vec<Record>, Failure> {
            let each = asked.figures().zip(results).map(|(figure, result)| records(figure, result));
            Ok(each.collect::<Result<Vec<_>, _>>().map_err(Failure::write)?.concat())
        };
        if let Some(path) = &self.series {
            let records = of(series_records)?;
            let is_csv = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
            let bytes = if is_csv {
                csv::to_bytes(&records).map_err(Failure::write)?
            } else {
                parquet::to_bytes(&records).map_err(Failure::write)?
            };
            write(path, &bytes)?;
        }
        if let (Some(path), Some(figure), [result]) = (&self.figure, asked.figures().next(), results) {
            let drawing = print(figure, result, &arguments.join(" "));
            let svg = svg::print::render(&drawing, sheet(&self.size, arguments)?);
            let svg = svg.map_err(|minimum| {
                let minimum = minimum.ceil();
                Failure::usage(format!(
                    "--figure-size: the height is too small; {minimum} is the minimum with this width and font"
                ))
            })?;
            write(path, &pictures::converted(svg, path)?)?;
        }
        if self.csv {
            output::print_bytes(&csv::to_bytes(&of(value_records)?).map_err(Failure::write)?)?;
        }
        Ok(self.csv)
    }
}
