//! `firstflight serve`, `get` and `put`: transfer files over UDP sockets, with a selectable start-up.

mod asked;
mod budget;
mod ends;
mod getting;
mod limits;
mod logs;
mod measured;
mod outcome;
mod pool;
mod putting;
mod reported;
mod said;
mod server;
mod serving;
mod session;
mod target;
mod watched;
mod wire;

pub(crate) use asked::{Get, Put, Serve};
pub(crate) use getting::get;
pub(crate) use putting::put;
pub(crate) use serving::serve;
pub(crate) use target::address;
