//! The thread that relays: in real time, and awake for as short as it can.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use firstflight::{Rate, Span};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::thread::set_current_timer_slack;
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};

use super::clock::Monotonic;
use super::device::Tun;
use crate::log::Log;
use crate::relay::{Clock, Relay};
use crate::report::Report;
use crate::tape::Tape;
use crate::vigil::Vigil;

/// A relay that runs.
#[derive(Debug)]
pub(super) struct Relaying {
    thread: JoinHandle<io::Result<Relayed>>,
    stop: Arc<OwnedFd>,
    /// The clock of the relay.
    pub(super) clock: Monotonic,
}

/// What a relay came to.
#[derive(Debug)]
pub(super) struct Relayed {
    pub(super) report: Report,
    pub(super) log: Option<Log>,
    pub(super) tape: Option<Tape>,
    /// Whether the thread had a real-time priority.
    pub(super) is_real_time: bool,
}

/// What observes a run: a log, a tape, either, both or none.
pub(super) type Observers = (Option<Log>, Option<Tape>);

/// The real-time priority of the thread.
const PRIORITY: u8 = 10;

impl Relaying {
    /// Starts to relay. `fastest` is the rate of the fastest bottleneck.
    pub(super) fn start(relay: Relay<Tun, Observers>, clock: Monotonic, fastest: Rate) -> io::Result<Self> {
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let stopped = Arc::clone(&stop);
        let vigil = Vigil::new(fastest);
        let thread = thread::Builder::new()
            .name("relay".to_owned())
            .spawn(move || turn_on(relay, clock, vigil, &stopped))?;
        Ok(Self { thread, stop, clock })
    }

    /// Whether the relay has ended by itself, which it does if a device is gone.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Ends the relay.
    pub(super) fn finish(self) -> io::Result<Relayed> {
        rustix::io::write(&*self.stop, &1u64.to_ne_bytes())?;
        self.thread.join().map_err(|_| io::Error::other("the relay panicked"))?
    }
}

fn turn_on(
    mut relay: Relay<Tun, Observers>,
    clock: Monotonic,
    mut vigil: Vigil,
    stop: &OwnedFd,
) -> io::Result<Relayed> {
    set_current_timer_slack(NonZeroU64::new(1))?;
    let is_real_time = take_priority();
    loop {
        let turn = relay.turn(&clock)?;
        if turn.read > 0 {
            continue;
        }
        let Some(pause) = vigil.sleep(clock.now(), turn.next) else {
            std::hint::spin_loop();
            continue;
        };
        let [one, other] = relay.devices();
        let mut wanted = [one, other].map(|device| PollFd::new(device, PollFlags::IN)).to_vec();
        wanted.push(PollFd::new(stop, PollFlags::IN));
        match poll(&mut wanted, Some(&timespec(pause))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        vigil.woke(clock.now());
        if wanted.last().is_some_and(|stop| !stop.revents().is_empty()) {
            break;
        }
    }
    let (report, (log, tape)) = relay.finish(clock.now());
    Ok(Relayed { report, log, tape, is_real_time })
}

/// Takes a real-time priority, if the system gives it. Returns whether it did.
fn take_priority() -> bool {
    let Ok(priority) = PRIORITY.try_into() else { return false };
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(priority), policy)
        .is_ok()
}

fn timespec(span: Span) -> Timespec {
    let part = |nanos: u64| i64::try_from(nanos).unwrap_or(i64::MAX);
    Timespec { tv_sec: part(span.nanos() / 1_000_000_000), tv_nsec: part(span.nanos() % 1_000_000_000) }
}
