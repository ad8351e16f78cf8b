//! The ledger: figures and tables of papers that are run here. Their claims are compared with the measurements.
//!
//! 1. [`Ledger`] has the figures. Each is a TOML file with a scenario, what varies, how it is drawn, and its [`Claim`]s. The
//!    files are embedded in this library; [`Ledger::read`] reads them from a folder.
//! 2. [`check`] makes the runs that figures need, in parallel, and returns a [`ClaimResult`] for each claim. The results depend
//!    only on the files.
//! 3. [`golden`] has the recorded results.
//!
//! docs/guide/papers.md describes the format of the files.

mod claim;
mod curves;
mod evaluate;
mod expectation;
mod expression;
mod figure;
mod file;
mod function;
pub mod golden;
mod ledger;
mod measure;
mod model;
mod mutants;
mod names;
mod outputs;
mod page;
mod points;
mod printed;
mod quantity;
mod reasons;
mod result;
mod rows;
mod runs;
mod series;
mod set_up;
pub mod show;
mod texts;
mod value;
mod words;

pub use claim::{Claim, Evidence, Measurement, Over, Tried};
pub use expectation::Expectation;
pub use figure::{Figure, HABITATS, Mutant, SIMULATOR};
pub use ledger::{Ledger, LedgerError, PAPERS, UnknownId, paper_title};
pub use mutants::{MutantResult, mutants};
pub use outputs::{claim_records, figure_records, plot_records, print, series_records, value_records};
pub use page::page;
pub use printed::{Printed, prints};
pub use reasons::{ReasonResult, reasons};
pub use result::{CheckError, ClaimResult, FigureResult, TriedResult, check};
pub use rows::Row;
pub use runs::{Habitat, Ran, RunsError, Settings};
pub use set_up::SetUp;
pub use words::{Kind, OverRuns, Setup, Source, Status};
