//! Names that the code did not set.

/// The source of the values of names that the code did not set.
pub(crate) trait Names {
    /// Returns the value of a name, if it exists.
    fn value(&self, name: &str) -> Option<i64>;
}
