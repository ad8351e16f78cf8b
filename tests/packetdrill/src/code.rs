//! The code between `%{` and `}%`. It supports the part of Python that assertions need.
//!
//! Statements are `assert`, `print`, assignments and bare expressions. There is one statement per line, or they are separated by `;`.
//! Expressions have numbers, strings, tuples, comparisons, `and`, `or`, `not`, arithmetic, `%` formats, and the functions `abs`, `min`,
//! `max`, `int`, `len` and `str`. Names are the variables that the code set, the fields of `TCP_INFO` and Linux's constants. The code can
//! access nothing else, and no Python runs.

mod evaluate;
mod fault;
mod format;
mod names;
mod parse;
mod value;
mod words;

use std::collections::BTreeMap;

pub(crate) use fault::Fault;
pub(crate) use names::Names;
pub(crate) use value::Value;

/// The variables that the code set. They exist until the end of the script.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    variables: BTreeMap<String, Value>,
}

impl Code {
    /// Runs one snippet that begins at `line`.
    ///
    /// # Errors
    /// The line of the first statement that fails, and the reason.
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
                        // The script's text may contain line ends. Unescaped, the text after them could look like a line of the verdict.
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
