//! The columns of a table, as `--wide` and `--columns` ask for them.

use firstflight_report::{Columns, Rows, TableStyle};
use firstflight_scenario::suggest::closest;

use crate::args::TableOptions;
use crate::failure::{Failure, Place};
use crate::output;

impl TableOptions {
    /// How a table of these rows is printed.
    ///
    /// # Errors
    /// A column that is no field of such rows.
    pub(crate) fn style(&self, rows: Rows, arguments: &[String]) -> Result<TableStyle, Failure> {
        self.style_of(&rows.fields(), arguments)
    }

    /// How a table with these fields is printed.
    ///
    /// # Errors
    /// A column that is none of the fields.
    pub(crate) fn style_of(&self, fields: &[&str], arguments: &[String]) -> Result<TableStyle, Failure> {
        let columns = match &self.columns {
            Some(list) => Columns::Chosen(chosen(list, fields, arguments)?),
            None if self.wide => Columns::All,
            None => Columns::Fitting,
        };
        Ok(TableStyle { colour: output::stdout_has_colour(), width: output::stdout_width(), columns })
    }
}

fn chosen(list: &str, fields: &[&str], arguments: &[String]) -> Result<Vec<String>, Failure> {
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    let mut chosen: Vec<String> = Vec::new();
    for name in names {
        if !fields.contains(&name) {
            let place = Place::value(arguments, "--columns", name);
            return Err(Failure::usage(unknown(name, fields)).at(place));
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

/// That a column is none of these fields.
pub(crate) fn unknown(name: &str, fields: &[&str]) -> String {
    // The head of a column is written with spaces or hyphens where its field has underscores.
    let field = name.replace(['-', ' '], "_").to_lowercase();
    let hint = match closest(&field, fields.iter().copied()) {
        Some(near) => format!("is `{near}` meant?"),
        None => format!("there are {}", fields.join(", ")),
    };
    format!("--columns: there is no column `{name}`; {hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(list: &str) -> Result<Columns, String> {
        let options = TableOptions { wide: false, columns: Some(list.to_owned()) };
        options.style(Rows::Race, &[]).map(|style| style.columns).map_err(|failure| failure.to_string())
    }

    #[test]
    fn columns_are_named_by_their_fields_and_each_is_shown_once() {
        let columns = ["su_loss", "cost"].map(str::to_owned).to_vec();
        assert_eq!(asked("su_loss, cost,su_loss"), Ok(Columns::Chosen(columns)));
    }

    #[test]
    fn an_unknown_column_is_one_line_with_the_nearest() {
        assert!(asked("su-loss").is_err_and(|error| error.contains("`su-loss`; is `su_loss` meant?")));
        assert!(asked("costs").is_err_and(|error| error.contains("is `cost` meant?")));
        assert!(asked("zzzzzzzzzzzzzzz").is_err_and(|error| error.contains("there are scheme, label, ")));
        assert!(asked(" , ").is_err_and(|error| error.contains("no column is named")));
    }
}
