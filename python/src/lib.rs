//! The extension module of the Python package `firstflight`: commands in the process of Python, and their results as Arrow tables.
//!
//! The package's modules, in Python, are on top of this one.

mod call;
mod described;
mod table;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::call::{Answer, main, run};
    #[pymodule_export]
    use crate::described::keys;
    #[pymodule_export]
    use crate::table::{Table, read_parquet};
}
