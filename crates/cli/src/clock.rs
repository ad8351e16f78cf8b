//! The clock that commands use for waiting and for messages.

use std::time::Instant;

/// Returns the present instant.
#[expect(
    clippy::disallowed_methods,
    reason = "the edge: peers are waited for in real time, and users learn how long it took"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}
