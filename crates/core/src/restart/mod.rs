//! The restart policies: what a connection does with data to send after an idle time. Each is a
//! [`crate::Startup`] begun with [`crate::Origin::AfterIdle`].

pub use crate::schemes::SlowStart as Rfc5681;
