//! Firstflight: report.
