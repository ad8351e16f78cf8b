//! The ledger: figures and tables of papers, run here, with their claims held against what was measured.
//!
//! 1. [`Ledger`] has the figures, each a file of TOML: a scenario, what varies, how it is drawn, and its [`Claim`]s. The files
//!    are in the library; [`Ledger::read`] reads a folder.
//! 2. [`check`] runs what figures need, in parallel, and gives a [`ClaimResult`] for each claim. Results are a pure function
//!    of the files.
//! 3. [`golden`] has the recorded results.
//!
//! docs/papers.md has the grammar of the files.

mod curves;
mod evaluate;
mod expectation;
mod expression;
mod figure;
mod file;
mod function;
pub mod golden;
mod ledger;
mod model;
mod names;
mod page;
mod points;
mod quantity;
mod result;
mod rows;
mod runs;
mod series;
pub mod show;
mod value;
mod words;

pub use expectation::Expectation;
pub use figure::{Claim, Figure, HABITATS, SIMULATOR};
pub use ledger::{Ledger, LedgerError, PAPERS, UnknownId, paper_title};
pub use page::page;
pub use result::{CheckError, ClaimResult, FigureResult, check};
pub use rows::Row;
pub use runs::{Habitat, Ran, RunsError, Settings};
pub use words::{Kind, OverRuns, Setup, Source, Status};
