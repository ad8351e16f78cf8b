//! `firstflight emulate` with real packets. Every test needs root and TUN devices; a test that cannot run says so.

#[path = "../it/common/command.rs"]
mod common;
mod compared;
mod disturbed;
mod endings;
#[path = "../it/common/inject.rs"]
mod inject;
mod machine;
mod probed;
mod programs;
mod replayed;
mod setting;
mod transfers;
mod unprivileged;
