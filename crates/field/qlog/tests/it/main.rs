//! Logs that the tests make up, with values that no stack should write.

mod hostile;
mod times;
