//! Before against after: compares the rows of two results, and checks conditions on rows.
//!
//! [`Side`] holds the rows of one result, by scheme. [`compare`] matches two sides and measures how each number of each scheme changed. A
//! [`Condition`] is checked on one side, or on both. Everything here is a pure function of the rows.

mod comparison;
mod condition;
mod junit;
mod matching;
mod numbers;
mod outcome;
mod records;
mod sentences;
mod side;
mod table;

pub use comparison::{Changed, Comparison, How, compare};
pub use condition::{Condition, ConditionError, number};
pub use junit::junit;
pub use matching::{Basis, MatchError};
pub use numbers::{Better, is_number};
pub use outcome::{Outcome, check};
pub use records::{COLUMNS, records};
pub use sentences::{sentences, standing};
pub use side::{Side, SideError};
pub use table::{cells, headings, markdown_table, render};
