//! The code between `%{` and `}%`: the part of Python that assertions need.
//!
//! Statements are `assert`, `print`, assignments and bare expressions, one a line or parted by `;`. Expressions have
//! numbers, strings, tuples, comparisons, `and`, `or`, `not`, arithmetic, `%` formats, and the functions `abs`, `min`,
//! `max`, `int`, `len` and `str`. Names are those that the code set, the fields of `TCP_INFO` and Linux's constants.
//! Nothing else is reachable, and nothing is executed.

mod evaluate;
mod format;
mod parse;
mod words;

use std::collections::BTreeMap;

pub(crate) use evaluate::Value;

/// Why a snippet of code did not pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// An assertion does not hold.
    Failed(String),
    /// Code outside the supported part of Python, or in error.
    Unsupported(String),
}

/// The source of names that the code did not set.
pub(crate) trait Names {
    /// The value of a name, if there is such a name.
    fn value(&self, name: &str) -> Option<i64>;
}

/// The variables that the code set. They live as long as the script.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    variables: BTreeMap<String, Value>,
}

impl Code {
    /// Runs one snippet that begins at `line`.
    ///
    /// # Errors
    /// The line of the first statement that does not pass, and why.
    pub(crate) fn run(&mut self, text: &str, line: usize, names: &dyn Names) -> Result<(), (usize, Fault)> {
        for statement in
            words::statements(text).map_err(|(at, what)| (line + at, Fault::Unsupported(what)))?
        {
            let at = line + statement.line;
            let parsed = parse::statement(&statement.words).map_err(|what| (at, Fault::Unsupported(what)))?;
            evaluate::run(&parsed, &mut self.variables, names).map_err(|fault| {
                let fault = match fault {
                    Fault::Failed(what) if what.is_empty() => {
                        Fault::Failed(format!("`{}` does not hold", statement.text))
                    }
                    Fault::Failed(what) => {
                        // The script's text may contain line ends, which could be taken for a line of the verdict.
                        let what = what.replace('\n', "\\n");
                        Fault::Failed(format!("`{}` does not hold: {what}", statement.text))
                    }
                    other @ Fault::Unsupported(_) => other,
                };
                (at, fault)
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
