//! The ledger: what its files may say, what its expressions mean, and that what is recorded still is so.

mod claims;
mod faults;
mod ledger;
mod recorded;
