//! Schemes whose code is a class of Python.

mod answers;
mod bridge;
mod class;
mod events;
mod laws;
mod numbers;
mod path;
mod slots;
mod slow_start;
mod watch;

pub(crate) use answers::{Exit, Pace, Plan, Train, exit};
pub(crate) use events::{
    Acked, Advice, Asked, Begin, Established, Lost, Marked, Missing, MssChanged, Packet, Sent, SpuriousLoss,
    TimedOut, TrainCut, Woken,
};
pub(crate) use laws::check;
pub(crate) use path::PathState;
pub(crate) use slots::Registered;
pub(crate) use slow_start::SlowStartState;
pub(crate) use watch::{Looks, Stopped, Watch, wait_for_ever};
