//! The extension module of the Python package `firstflight`: commands in the process of Python, their results as Arrow
//! tables, and schemes that are classes of Python.
//!
//! The package's modules, in Python, are on top of this one.

mod call;
mod described;
mod scheme;
mod table;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::call::{Answer, check_scheme, main, run};
    #[pymodule_export]
    use crate::described::keys;
    #[pymodule_export]
    use crate::scheme::{
        Acked, Advice, Asked, Begin, Established, Exit, Lost, Marked, Missing, MssChanged, Pace, Packet,
        PathState, Plan, Sent, SlowStartState, SpuriousLoss, TimedOut, Train, TrainCut, Woken, exit,
        wait_for_ever,
    };
    #[pymodule_export]
    use crate::table::{Table, read_parquet};

    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name in Python")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Prepares the module: a damaged Parquet file is an exception, and prints nothing.
    #[pymodule_init]
    #[expect(clippy::unnecessary_wraps, reason = "the signature is pyo3's")]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        firstflight_export::parquet::silence_reader();
        Ok(())
    }
}
