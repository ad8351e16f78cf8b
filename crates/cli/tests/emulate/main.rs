//! `firstflight emulate` with real packets. Every test needs root and TUN devices; one that cannot run says so.

#[path = "../it/common/command.rs"]
mod common;
mod compared;
mod endings;
mod machine;
mod probed;
mod programs;
mod replayed;
mod setting;
mod transfers;
mod unprivileged;
