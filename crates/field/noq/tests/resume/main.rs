//! Careful Resume: the store, the phases, and real connections of noq in virtual time.

mod connections;
mod phases;
mod store;
