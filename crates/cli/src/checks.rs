//! `--baseline` and `--assert`: holds the rows of a command against an earlier result and against conditions.

use std::path::PathBuf;

use clap::Args;
use firstflight_diff::{
    Condition, How, Outcome, Side, check, compare, junit, markdown_table, render, sentences,
};
use firstflight_export::{Record, write_whole};
use firstflight_report::{TableStyle, markdown, table};

use crate::earlier;
use crate::failure::{Failure, Place};
use crate::output;
use crate::targets::{Input, check_file};

/// Conditions that rows must meet.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Checks")]
pub(crate) struct AssertOptions {
    /// Fail with status 1 unless this condition holds for every scheme, or for the scheme named, as in `cost<=1.6`, `leap.su_loss<2%`,
    /// `fct_s_p99<=baseline*1.05`; can be given several times.
    #[arg(long = "assert", value_name = "CONDITION", allow_hyphen_values = true)]
    pub(crate) conditions: Vec<String>,
    /// Write the outcomes of the conditions as JUnit XML.
    #[arg(long, value_name = "FILE", requires = "conditions")]
    pub(crate) junit: Option<PathBuf>,
}

/// An earlier result, and conditions.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Checks")]
pub(crate) struct CheckOptions {
    /// Compare with an earlier result: a file that --parquet, --json or --csv wrote; with --each-run, run by run.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Compare with the baseline by scheme, even if another path was raced.
    #[arg(long, requires = "baseline")]
    pub(crate) by_name: bool,
    #[command(flatten)]
    pub(crate) asserts: AssertOptions,
    /// Print the verdict, the table and what was checked as Markdown, for a comment on a change.
    #[arg(long, conflicts_with_all = ["json", "csv"], help_heading = "Output")]
    pub(crate) markdown: bool,
}

/// Conditions that were read, and the file for their outcomes.
pub(crate) struct Asserts {
    conditions: Vec<Condition>,
    junit: Option<PathBuf>,
}

/// A baseline and conditions that were read.
pub(crate) struct Checks {
    /// The earlier result, with its path as it was given.
    baseline: Option<(String, Side)>,
    by_name: bool,
    asserts: Asserts,
    /// Whether the results are printed as Markdown.
    pub(crate) is_markdown: bool,
}

impl AssertOptions {
    /// Reads the conditions on rows of these schemes, which may have further numbers. `has_baseline` is whether conditions may name a baseline.
    pub(crate) fn open(
        &self,
        (schemes, numbers): (&[String], &[String]),
        has_baseline: bool,
        inputs: &[Input<'_>],
        arguments: &[String],
    ) -> Result<Asserts, Failure> {
        let mut conditions = Vec::new();
        for text in &self.conditions {
            let refuse = |why: String| {
                Failure::usage(format!("--assert: {why}")).at(Place::value(arguments, "--assert", text))
            };
            let condition =
                Condition::parse(text, schemes, numbers).map_err(|error| refuse(error.to_string()))?;
            if condition.needs_baseline() && !has_baseline {
                return Err(refuse(format!("`{text}` needs an earlier result; name one with --baseline")));
            }
            conditions.push(condition);
        }
        if let Some(path) = &self.junit {
            check_file("--junit", path, inputs, arguments)?;
        }
        Ok(Asserts { conditions, junit: self.junit.clone() })
    }
}

impl CheckOptions {
    /// Refuses all options, because a probing has no schemes.
    pub(crate) fn refuse(&self, arguments: &[String]) -> Result<(), Failure> {
        let given = [
            ("--baseline", self.baseline.is_some()),
            ("--assert", !self.asserts.conditions.is_empty()),
            ("--markdown", self.markdown),
        ];
        let Some((option, _)) = given.into_iter().find(|(_, is_given)| *is_given) else { return Ok(()) };
        let why = format!("{option}: a probing sends trains, and no scheme runs");
        Err(Failure::usage(why).at(Place::value(arguments, option, option)))
    }

    /// Reads the baseline and the conditions, before anything runs.
    pub(crate) fn open(
        &self,
        schemes: &[String],
        inputs: &[Input<'_>],
        arguments: &[String],
    ) -> Result<Checks, Failure> {
        let baseline = self.baseline.as_ref().map(|path| {
            let shown = path.display().to_string();
            let refuse = |why: String| {
                let place = Place::value(arguments, "--baseline", &path.to_string_lossy());
                Failure::usage(format!("--baseline: {why}")).at(place)
            };
            earlier::side(path).map(|side| (shown, side)).map_err(refuse)
        });
        let baseline = baseline.transpose()?;
        let asserts = self.asserts.open((schemes, &[]), baseline.is_some(), inputs, arguments)?;
        Ok(Checks { baseline, by_name: self.by_name, asserts, is_markdown: self.markdown })
    }
}

/// Where the text of a comparison and of outcomes is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// To standard output, as tables.
    Text,
    /// To standard output, as Markdown.
    Markdown,
    /// To standard error, because standard output has rows for programs.
    Aside,
}

impl Form {
    /// Returns the form for the options of an output.
    pub(crate) fn of(is_markdown: bool, is_for_programs: bool) -> Self {
        match (is_markdown, is_for_programs) {
            (true, _) => Self::Markdown,
            (_, true) => Self::Aside,
            _ => Self::Text,
        }
    }

    fn print(self, text: &str) -> Result<(), Failure> {
        if self == Self::Aside {
            output::say_lines(text);
            return Ok(());
        }
        output::print(text)
    }
}

impl Checks {
    /// Compares the rows, one of each run, with the baseline, and checks the conditions.
    ///
    /// # Errors
    /// Fails if the baseline cannot be matched, or if a condition does not hold.
    pub(crate) fn carry_out(&self, rows: Vec<Record>, form: Form, style: &TableStyle) -> Result<(), Failure> {
        if self.baseline.is_none() && self.asserts.conditions.is_empty() {
            return Ok(());
        }
        let after = Side::new(rows, 1).map_err(Failure::usage)?;
        let before = self.baseline.as_ref().map(|(_, side)| side);
        if let Some((path, before)) = &self.baseline {
            let how = How { by_name: self.by_name, fields: None };
            let comparison = compare(before, &after, &how)
                .map_err(|why| Failure::usage(format!("--baseline: {path}: {why}")))?;
            let style = TableStyle { columns: firstflight_report::Columns::Fitting, ..style.clone() };
            form.print(&shown(&format!("Against {path}"), &comparison, false, form, &style))?;
        }
        self.asserts.carry_out("firstflight race", &after, before, form)
    }
}

/// Returns the text of a comparison.
pub(crate) fn shown(
    title: &str,
    comparison: &firstflight_diff::Comparison,
    all: bool,
    form: Form,
    style: &TableStyle,
) -> String {
    let sentences = sentences(comparison);
    if form == Form::Markdown {
        let lines: Vec<String> = sentences.lines().map(|line| markdown::text(line) + "\n\n").collect();
        return format!(
            "\n### {}\n\n{}{}",
            markdown::text(title),
            lines.concat(),
            markdown_table(comparison, all)
        );
    }
    let table = render(comparison, all, style);
    let gap = if table.is_empty() { "" } else { "\n" };
    format!("\n{title}\n{table}{gap}{}", table::in_lines(&sentences, style))
}

impl Asserts {
    /// Checks whether there are no conditions.
    pub(crate) fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Checks the conditions, reports each outcome, and writes the JUnit file.
    ///
    /// # Errors
    /// Fails if a condition does not hold.
    pub(crate) fn carry_out(
        &self,
        suite: &str,
        after: &Side,
        before: Option<&Side>,
        form: Form,
    ) -> Result<(), Failure> {
        if self.is_empty() {
            return Ok(());
        }
        let outcomes: Vec<Outcome> =
            self.conditions.iter().flat_map(|condition| check(condition, after, before)).collect();
        form.print(&lines(&outcomes, form))?;
        if std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true") {
            for outcome in outcomes.iter().filter(|outcome| !outcome.holds) {
                output::say_as_it_is(&annotation(outcome));
            }
        }
        if let Some(path) = &self.junit {
            write_whole(path, junit(suite, &outcomes).as_bytes()).map_err(Failure::write)?;
            output::say_written(path);
        }
        let failed = outcomes.iter().filter(|outcome| !outcome.holds).count();
        if failed == 0 {
            return Ok(());
        }
        let fail = if failed == 1 { "fails" } else { "fail" };
        Err(Failure::check(format!("{failed} of {} checks {fail}", outcomes.len())))
    }
}

fn lines(outcomes: &[Outcome], form: Form) -> String {
    let line = |outcome: &Outcome| {
        let word = if outcome.holds { "holds" } else { "fails" };
        match form {
            Form::Markdown => {
                let mark = if outcome.holds { "✅" } else { "❌" };
                format!(
                    "- {mark} {} ({})\n",
                    markdown::text(&outcome.line),
                    markdown::text(&outcome.condition)
                )
            }
            _ => format!("{word}: {} ({})\n", outcome.line, outcome.condition),
        }
    };
    format!("\n{}", outcomes.iter().map(line).collect::<String>())
}

/// Returns the command with which GitHub's runner shows an error next to a build. It escapes what would end the command
/// (docs.github.com, *Workflow commands*).
fn annotation(outcome: &Outcome) -> String {
    let escaped = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| escaped(text).replace(':', "%3A").replace(',', "%2C");
    format!("::error title={}::{}\n", property(&outcome.condition), escaped(&outcome.line))
}
