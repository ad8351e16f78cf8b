//! The choice of a table's columns, by `--wide` and `--columns`.

use firstflight_report::{Columns, Headings, Rows, TableStyle};
use firstflight_scenario::suggest::meant_under;

use crate::failure::{Failure, Place};
use crate::options::TableOptions;
use crate::output;

impl TableOptions {
    /// Returns the style of a table of these rows. `of_windows` are further fields of the rows.
    ///
    /// # Errors
    /// Fails if a chosen column is not a field of these rows.
    pub(crate) fn style(
        &self,
        rows: Rows,
        of_windows: &[String],
        arguments: &[String],
    ) -> Result<TableStyle, Failure> {
        let mut fields = rows.fields();
        fields.extend(of_windows.iter().map(String::as_str));
        self.style_of(&fields, &rows.headings(), arguments)
    }

    /// Returns the style of a table with these fields. Some of them have a heading in `headings`.
    ///
    /// # Errors
    /// Fails if a chosen column is not one of the fields.
    pub(crate) fn style_of(
        &self,
        fields: &[&str],
        headings: &Headings,
        arguments: &[String],
    ) -> Result<TableStyle, Failure> {
        let columns = match &self.columns {
            Some(list) => Columns::Chosen(chosen(list, fields, headings, arguments)?),
            None if self.wide => Columns::All,
            None => Columns::Fitting,
        };
        Ok(TableStyle { colour: output::stdout_has_colour(), width: output::stdout_width(), columns })
    }
}

fn chosen(
    list: &str,
    fields: &[&str],
    headings: &Headings,
    arguments: &[String],
) -> Result<Vec<String>, Failure> {
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    let mut chosen: Vec<String> = Vec::new();
    for name in names {
        if !fields.contains(&name) {
            let place = Place::value(arguments, "--columns", name);
            return Err(Failure::usage(unknown(name, fields, headings)).at(place));
        }
        if !chosen.iter().any(|one| one == name) {
            chosen.push(name.to_owned());
        }
    }
    if chosen.is_empty() {
        let place = Place::value(arguments, "--columns", list);
        return Err(Failure::usage("--columns: no column is named; the names are those of --json").at(place));
    }
    Ok(chosen)
}

/// Returns the error for a column that is not one of these fields. Some of them have a heading in `headings`.
pub(crate) fn unknown(name: &str, fields: &[&str], headings: &Headings) -> String {
    let hint =
        meant_under(name, headings, fields).unwrap_or_else(|| match fields.split_at_checked(MAX_FIELDS) {
            Some((some, more)) if more.len() > 1 => {
                format!("there are {} and {} more, which --json names", some.join(", "), more.len())
            }
            _ => format!("there are {}", fields.join(", ")),
        });
    format!("--columns: there is no column `{name}`; {hint}")
}

/// The maximum number of fields that an error lists.
const MAX_FIELDS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(list: &str) -> Result<Columns, String> {
        let options = TableOptions { wide: false, columns: Some(list.to_owned()) };
        let windows = ["utilisation_0s_1s".to_owned()];
        options
            .style(Rows::Race, &windows, &[])
            .map(|style| style.columns)
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn columns_are_named_by_their_fields_and_each_is_shown_once() {
        let columns = ["su_loss", "cost"].map(str::to_owned).to_vec();
        assert_eq!(asked("su_loss, cost,su_loss"), Ok(Columns::Chosen(columns)));
        let of_window = "utilisation_0s_1s";
        assert_eq!(asked(of_window), Ok(Columns::Chosen(vec![of_window.to_owned()])));
        assert!(
            asked("utilisation_0s_2s").is_err_and(|error| error.contains("is `utilisation_0s_1s` meant?"))
        );
    }

    /// If a user writes a heading that is not a field, the error names the fields under it.
    #[test]
    fn a_heading_is_told_the_field_to_write() {
        for rows in [Rows::Race, Rows::Population, Rows::Flows, Rows::Captures] {
            let fields = rows.fields();
            for (heading, field) in
                rows.headings().iter().filter(|(heading, _)| !fields.contains(&heading.as_str()))
            {
                let said = unknown(heading, &fields, &rows.headings());
                assert!(fields.contains(field), "{rows:?}: `{heading}` is answered with what is refused");
                assert!(
                    said.contains("; write `") && said.contains(&format!("`{field}`")),
                    "{rows:?}: {said}"
                );
            }
        }
        for (word, wanted) in [
            ("fct", "write `fct_s`"),
            ("throughput", "write `throughput_bps`"),
            ("FCT s", "write `fct_s`"),
            ("exit cause", "write `exit_cause`"),
            ("overshoot", "write `overshoot_lost_packets`"),
            ("to 90 %", "write `time_to_90pct_s`"),
            ("law", "write `avoidance`"),
            ("queue", "write `queue_peak_packets`"),
        ] {
            assert!(asked(word).is_err_and(|error| error.contains(wanted)), "{word}: {:?}", asked(word));
        }
    }

    #[test]
    fn an_unknown_column_is_one_line_with_the_nearest() {
        assert!(asked("su-loss").is_err_and(|error| error.contains("`su-loss`; write `su_loss`")));
        assert!(asked("costs").is_err_and(|error| error.contains("is `cost` meant?")));
        assert!(asked("zzzzzzzzzzzzzzz").is_err_and(|error| error.contains("there are scheme, label, ")));
        assert!(asked("zzzzzzzzzzzzzzz").is_err_and(|error| error.contains(" more, which --json names")));
        assert!(asked(" , ").is_err_and(|error| error.contains("no column is named")));
    }
}
