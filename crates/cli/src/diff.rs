//! `firstflight diff`: compares two results, path by path and seed by seed.

use std::path::PathBuf;

use clap::Args;
use firstflight_diff::{COLUMNS, How, compare, headings, is_number, records};
use firstflight_export::write_whole;
use firstflight_report::html::changed::{self, Cells, Page};
use firstflight_report::table::Selected;

use crate::checks::{AssertOptions, Form, shown};
use crate::earlier;
use crate::failure::{Failure, Place};
use crate::options::TableOptions;
use crate::output;
use crate::session;
use crate::targets::{Input, check_file};

#[derive(Args, Debug)]
pub(crate) struct Diff {
    /// The result before: a file that --parquet, --json or --csv wrote, or the folder of a sweep.
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// The result after.
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,
    /// Match paths by their numbers and schemes by their names, even if the scenarios differ.
    #[arg(long)]
    pub(crate) by_name: bool,
    /// Compare these numbers, by their names in --json of the rows [those that decide a choice].
    #[arg(long, value_name = "NAME,...")]
    pub(crate) numbers: Option<String>,
    /// Show equal numbers too.
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) asserts: AssertOptions,
    #[command(flatten)]
    pub(crate) table: TableOptions,
    /// Print only JSON, one line for each number of each scheme.
    #[arg(long, conflicts_with_all = ["csv", "markdown", "wide", "columns", "full"], help_heading = "Output")]
    pub(crate) json: bool,
    /// Print the comparison as CSV.
    #[arg(long, conflicts_with_all = ["markdown", "wide", "columns", "full"], help_heading = "Output")]
    pub(crate) csv: bool,
    /// Print the comparison as Markdown, for a comment on a change.
    #[arg(long, conflicts_with_all = ["wide", "columns"], help_heading = "Output")]
    pub(crate) markdown: bool,
    /// Write the comparison as a page: one HTML file that opens offline.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
}

/// Carries out `firstflight diff`.
pub(crate) fn diff(command: &Diff, arguments: &[String]) -> Result<(), Failure> {
    let read = |path: &PathBuf| {
        let place = || Place::argument(arguments, &path.to_string_lossy());
        earlier::side(path).map_err(|why| Failure::usage(why).at(place()))
    };
    let (before, after) = (read(&command.before)?, read(&command.after)?);
    let inputs = [&command.before, &command.after].map(|path| Input { what: "result", path });
    if let Some(path) = &command.report {
        check_file("--report", path, &inputs, arguments)?;
    }
    let fields = command.numbers.as_deref().map(|list| fields(list, arguments)).transpose()?;
    let asserts = command.asserts.open((after.names(), &after.fields()), true, &inputs, arguments)?;
    let columns: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let style = command.table.style_of(&columns, &headings(), arguments)?;
    let how = How { by_name: command.by_name, fields };
    let comparison = compare(&before, &after, &how).map_err(Failure::usage)?;
    let form = Form::of(command.markdown, command.json || command.csv);
    let rows = records(&comparison);
    let title = format!("{} against {}", command.after.display(), command.before.display());
    session::text("verdict", || firstflight_diff::sentences(&comparison));
    session::text("title", || title.clone());
    session::selected(|| {
        let Cells { heads, rows } = firstflight_diff::cells(&comparison);
        let (heads, is_numbers) = heads.into_iter().unzip();
        Selected { heads, is_numbers, rows: rows.into_iter().map(|(_, cells)| cells).collect() }
    });
    if !output::print_records(&rows, None, (command.json, command.csv))? {
        let text = shown(&title, &comparison, command.full, form, &style);
        output::print(text.trim_start_matches('\n'))?;
    }
    if let Some(path) = &command.report {
        let page = Page {
            title,
            sentences: firstflight_diff::sentences(&comparison).lines().map(str::to_owned).collect(),
            table: firstflight_diff::cells(&comparison),
            definitions: COLUMNS.to_vec(),
            command: arguments.join(" "),
        };
        let page = changed::render(&page).map_err(Failure::write)?;
        write_whole(path, page.as_bytes()).map_err(Failure::write)?;
        output::say_written(path);
    }
    asserts.carry_out("firstflight diff", &after, Some(&before), form)
}

/// Reads the list of numbers.
fn fields(list: &str, arguments: &[String]) -> Result<Vec<String>, Failure> {
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_owned).collect();
    let wrong = names.iter().find(|name| !is_number(name)).map_or(list, String::as_str);
    if names.is_empty() || !names.iter().all(|name| is_number(name)) {
        let place = Place::value(arguments, "--numbers", wrong);
        let why = format!(
            "--numbers: `{wrong}` is no number of a run; numbers are those of --json, as in `cost,su_loss`"
        );
        return Err(Failure::usage(why).at(place));
    }
    Ok(names)
}
