//! The thread that relays packets in real time. It is awake for as short as possible.

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
use crate::busy_wait::BusyWait;
use crate::log::Log;
use crate::packet_log::PacketLog;
use crate::relay::{Clock, Relay};
use crate::report::Report;

/// A running relay.
#[derive(Debug)]
pub(super) struct Relaying {
    thread: JoinHandle<io::Result<Relayed>>,
    stop: Arc<OwnedFd>,
    /// The clock that the relay uses.
    pub(super) clock: Monotonic,
}

/// The result of a relay's run.
#[derive(Debug)]
pub(super) struct Relayed {
    pub(super) report: Report,
    pub(super) log: Option<Log>,
    pub(super) packet_log: Option<PacketLog>,
    /// Whether the thread had a real-time priority.
    pub(super) is_real_time: bool,
}

/// The observers of a run: a packet log in a file, one in memory, both or none.
pub(super) type Observers = (Option<Log>, Option<PacketLog>);

/// The real-time priority of the relay's thread.
const PRIORITY: u8 = 10;

impl Relaying {
    /// Starts a thread that relays. `fastest` is the rate of the fastest bottleneck.
    pub(super) fn start(relay: Relay<Tun, Observers>, clock: Monotonic, fastest: Rate) -> io::Result<Self> {
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let stopped = Arc::clone(&stop);
        let busy_wait = BusyWait::new(fastest);
        let thread = thread::Builder::new()
            .name("relay".to_owned())
            .spawn(move || turn_on(relay, clock, busy_wait, &stopped))?;
        Ok(Self { thread, stop, clock })
    }

    /// Returns whether the relay has ended by itself, which happens if a device is gone.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Ends the relay. Returns its result.
    pub(super) fn finish(self) -> io::Result<Relayed> {
        rustix::io::write(&*self.stop, &1u64.to_ne_bytes())?;
        self.thread.join().map_err(|_| io::Error::other("the relay panicked"))?
    }
}

fn turn_on(
    mut relay: Relay<Tun, Observers>,
    clock: Monotonic,
    mut busy_wait: BusyWait,
    stop: &OwnedFd,
) -> io::Result<Relayed> {
    set_current_timer_slack(NonZeroU64::new(1))?;
    let is_real_time = take_priority();
    loop {
        let turn = relay.turn(&clock)?;
        if turn.read > 0 {
            continue;
        }
        let Some(pause) = busy_wait.sleep(clock.now(), turn.next) else {
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
        busy_wait.woke(clock.now());
        if wanted.last().is_some_and(|stop| !stop.revents().is_empty()) {
            break;
        }
    }
    let (report, (log, packet_log)) = relay.finish(clock.now());
    Ok(Relayed { report, log, packet_log, is_real_time })
}

/// Sets a real-time priority for this thread. Returns whether the system permitted it.
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
