//! The ledger: the syntax of its files, the meaning of its expressions, and whether the recorded results are still valid.

mod claims;
mod faults;
mod ledger;
mod recorded;
