//! The prober of `firstflight::probe` on a UDP socket. It sends trains to a reflector or to a listener of this crate. A reflector reports
//! when each packet arrived. The ACKs of a listener show the arrivals.
//!
//! [`probe()`] first asks the peer whether it is there, with the protocols of reflector and listener at once. It then uses the protocol in
//! which the peer answers. That takes an RTT, and opening a connection to a listener takes another. docs/guide/probe.md describes the
//! datagrams.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::time::Duration;

use firstflight::probe::{Estimate, Event, Faulty, Measured, Prober, Setting, Train};
use firstflight::{Bytes, Span, Time};
use rustix::thread::set_current_timer_slack;

use crate::clock::Clock;
use acks::{Acks, Answer};
use datagram::{Asked, GREETING};
use socket::{Received, Socket, is_of_the_peer, is_too_long};

mod acks;
mod datagram;
mod reflector;
mod socket;

pub use datagram::MIN_PACKET;
pub use reflector::Reflector;

/// The source of the arrival times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// A [`Reflector`] at the far end, which reports times of its system's clock.
    Reflector,
    /// The ACKs of a listener at the far end. The arrival time of an ACK here represents the arrival time of its packet.
    Acks,
}

impl By {
    /// Returns the source of the arrival times as a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reflector => "reflector",
            Self::Acks => "acks",
        }
    }
}

/// The settings of a probing.
#[derive(Clone, Copy, Debug)]
pub struct Probing {
    /// The prober's setting. If the packets are too long for the path, shorter ones are used.
    pub setting: Setting,
    /// The source of the arrival times; `None` for whichever answers first.
    pub by: Option<By>,
    /// The maximum time for the peer's first answer.
    pub patience: Duration,
}

/// The result of a probing.
#[derive(Clone, Debug)]
pub struct Probed {
    /// The source of the arrival times.
    pub by: By,
    /// The prober's setting. The packet size is one that the path carries.
    pub setting: Setting,
    /// The estimates.
    pub estimate: Estimate,
    /// The measured trains.
    pub trains: Vec<Measured>,
    /// The time at which the first packet of a train was sent, by a clock of this process.
    pub began: Time,
    /// The time at which the last answer arrived, or the last train was given up.
    pub ended: Time,
    /// The minimum time from a packet to its answer; `None` if no train was answered.
    pub rtt: Option<Span>,
}

/// Why a probing has no result.
#[derive(Debug, thiserror::Error)]
pub enum ProbingError {
    /// No answer arrived.
    #[error("{peer} did not answer within {} s; `firstflight reflect` or `serve` is wanted there", .patience.as_secs_f64())]
    Silent {
        /// The peer.
        peer: SocketAddr,
        /// The time for which the prober waited.
        patience: Duration,
    },
    /// No one listens at this address.
    #[error("no one listens at {0}: {1}")]
    Refused(SocketAddr, io::Error),
    /// The peer is neither a reflector nor a listener.
    #[error("{0} answers, but not as `firstflight reflect` or `serve` does")]
    Stranger(SocketAddr),
    /// The peer ended the connection, or did not open it.
    #[error("{0} ended the connection, so that it acknowledges nothing more")]
    Reset(SocketAddr),
    /// The peer's ACKs do not show which packets arrived, because the peer does not use SACK.
    #[error("{0} acknowledges without SACK, which does not distinguish the packets of a train")]
    NoSack(SocketAddr),
    /// The peer's receive window is too small for a train.
    #[error("{0} takes {1} bytes at a time, less than a train has")]
    NoRoom(SocketAddr, u32),
    /// A packet size that is impossible.
    #[error(
        "packets of {0} bytes cannot be sent; {MIN_PACKET} to 65535 bytes are wanted, as far as the path carries them"
    )]
    Width(u64),
    /// A setting that is impossible.
    #[error("such trains are impossible: {0:?}")]
    Setting(Faulty),
    /// The user interrupted the probing.
    #[error("interrupted")]
    Interrupted,
    /// An error of the system.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// The interval at which a wait checks for the user's interrupt.
const LOOK: Span = Span::from_millis(100);
/// The final part of the wait for a packet. The thread spends it in a busy loop, because a sleeping thread wakes late by about this much.
const SPIN: Span = Span::from_micros(60);
/// The time without an answer after which the prober asks the peer again.
const AGAIN: Span = Span::from_secs(1);
/// IP bytes of a packet that nearly any path carries, and of a packet that any host accepts. They are tried after two longer packets
/// without an answer.
const NARROWER: [u64; 2] = [1_280, 576];

/// Probes the path to a peer.
///
/// # Errors
/// A peer that does not answer or is of another kind, an impossible setting, an interrupt, or an error of the system.
pub fn probe(
    peer: SocketAddr,
    probing: &Probing,
    interrupted: &dyn Fn() -> bool,
) -> Result<Probed, ProbingError> {
    probing.setting.check().map_err(ProbingError::Setting)?;
    let wire = probing.setting.wire.get();
    if !(MIN_PACKET..=u64::from(u16::MAX)).contains(&wire) {
        return Err(ProbingError::Width(wire));
    }
    // Without this call, timers are late by up to 50 us. Some systems refuse it; timers then still work, but late.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let mut host = Host {
        peer,
        headers: if peer.is_ipv4() { 28 } else { 48 },
        socket: Socket::to(peer)?,
        clock: Clock::new(),
        interrupted,
        input: vec![0; 1 << 16],
        output: Vec::new(),
    };
    let (far, wire) = host.greet(probing, numbers()?)?;
    let setting = Setting { wire: Bytes::new(wire), ..probing.setting };
    let prober = Prober::new(setting).map_err(ProbingError::Setting)?;
    host.send_trains(prober, far)
}

/// Returns three random numbers.
fn numbers() -> io::Result<[u64; 3]> {
    let mut all = [[0; 8]; 3];
    for number in &mut all {
        getrandom::fill(number).map_err(io::Error::from)?;
    }
    Ok(all.map(u64::from_ne_bytes))
}

/// The kind of peer at the far end.
enum Far {
    Reflector { session: u64 },
    Listener(Acks),
}

/// The prober's side of the path.
struct Host<'a> {
    peer: SocketAddr,
    /// Bytes of the headers of IP and UDP.
    headers: u64,
    socket: Socket,
    clock: Clock,
    interrupted: &'a dyn Fn() -> bool,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Host<'_> {
    /// Asks until a peer answers. Returns the kind of peer, and the IP bytes of a packet that the path carries.
    fn greet(
        &mut self,
        probing: &Probing,
        [session, one, other]: [u64; 3],
    ) -> Result<(Far, u64), ProbingError> {
        let mut acks = Acks::new(self.peer, [one, other]);
        let patience = Span::from_nanos(u64::try_from(probing.patience.as_nanos()).unwrap_or(u64::MAX >> 2));
        let deadline = self.clock.now() + patience;
        let mut widest = probing.setting.wire.get();
        let (mut widths, mut next) = (Vec::new(), self.clock.now());
        let mut is_stranger = false;
        loop {
            let now = self.clock.now();
            if now >= deadline {
                return Err(if is_stranger {
                    ProbingError::Stranger(self.peer)
                } else {
                    ProbingError::Silent { peer: self.peer, patience: probing.patience }
                });
            }
            if now >= next {
                let width = match widths.len() {
                    0 | 1 => widest,
                    2 => widest.min(NARROWER[0]),
                    _ => widest.min(NARROWER[1]),
                };
                if self.ask(width, (session, widths.len()), probing.by, &acks)? {
                    widths.push(width);
                    next = now + AGAIN;
                } else {
                    let narrower = NARROWER.into_iter().find(|narrower| *narrower < width);
                    let carried = self.socket.widest().filter(|carried| *carried < width);
                    widest = carried.or(narrower).unwrap_or(0);
                    if widest < MIN_PACKET {
                        return Err(ProbingError::Width(width));
                    }
                }
                continue;
            }
            self.wait(next.min(deadline).since(now))?;
            while let Some(received) = self.receive()? {
                let bytes = self.input.get(..received.length).unwrap_or_default();
                if let Some((asked, _)) =
                    datagram::read_answer(bytes).filter(|_| may_be(probing.by, By::Reflector))
                {
                    if let Some(width) = widths.get(usize::from(asked.packet))
                        && (asked.session, asked.train) == (session, GREETING)
                    {
                        return Ok((Far::Reflector { session }, *width));
                    }
                    continue;
                }
                match acks.read(bytes).filter(|_| may_be(probing.by, By::Acks)) {
                    Some(Answer::SynAck(length)) => {
                        acks.set_length(length);
                        let wire = u64::from(length) + self.headers;
                        self.open(&mut acks, deadline, probing)?;
                        return Ok((Far::Listener(acks), wire));
                    }
                    Some(Answer::NoSack) => return Err(ProbingError::NoSack(self.peer)),
                    Some(Answer::Reset) => return Err(ProbingError::Reset(self.peer)),
                    Some(_) => {}
                    None => is_stranger = true,
                }
            }
        }
    }

    /// Asks the peer once. Returns `false` if the datagram is known to be too long for the device or the path.
    fn ask(
        &mut self,
        width: u64,
        (session, number): (u64, usize),
        by: Option<By>,
        acks: &Acks,
    ) -> Result<bool, ProbingError> {
        let length = width - self.headers;
        let mut is_carried = true;
        if may_be(by, By::Reflector) {
            let asked = Asked { session, train: GREETING, packet: u16::try_from(number).unwrap_or(u16::MAX) };
            datagram::question(asked, usize::try_from(length).unwrap_or(0), &mut self.output);
            is_carried &= self.send()?.is_some();
        }
        if may_be(by, By::Acks) {
            acks.syn(u16::try_from(length).unwrap_or(u16::MAX), &mut self.output);
            is_carried &= self.send()?.is_some();
        }
        Ok(is_carried)
    }

    /// Opens the connection to a listener.
    fn open(&mut self, acks: &mut Acks, deadline: Time, probing: &Probing) -> Result<(), ProbingError> {
        let (mut next, mut pause) = (self.clock.now(), Span::from_millis(200));
        loop {
            let now = self.clock.now();
            if now >= deadline {
                return Err(ProbingError::Silent { peer: self.peer, patience: probing.patience });
            }
            if now >= next {
                acks.opening(&mut self.output);
                self.send()?;
                (next, pause) = (now + pause, pause * 2);
            }
            self.wait(next.min(deadline).since(now))?;
            while let Some(received) = self.receive()? {
                match acks.read(self.input.get(..received.length).unwrap_or_default()) {
                    Some(Answer::Open) if acks.slots() >= u32::from(probing.setting.packets) => return Ok(()),
                    Some(Answer::Open) => return Err(ProbingError::NoRoom(self.peer, acks.window())),
                    Some(Answer::Reset) => return Err(ProbingError::Reset(self.peer)),
                    _ => {}
                }
            }
        }
    }

    /// Sends the trains that the prober plans, and reports each transmission and arrival to it.
    fn send_trains(&mut self, mut prober: Prober, mut far: Far) -> Result<Probed, ProbingError> {
        let began = self.clock.now();
        let (mut trains, mut rtt): (Vec<Measured>, Option<Span>) = (Vec::new(), None);
        // The current train, the times at which its packets were sent, and the time at which the next one is due.
        let mut leaving: Option<(Train, Vec<Time>, Time)> = None;
        while let Some(train) = prober.plan().train {
            let now = self.clock.now();
            let (train, left, due) = match &mut leaving {
                Some((known, left, due)) if known.number == train.number => (*known, left, due),
                other => {
                    let (train, left, due) = other.insert((train, Vec::new(), now));
                    (*train, left, due)
                }
            };
            let is_leaving = left.len() < usize::from(train.packets);
            if is_leaving && *due <= now {
                let packet = u16::try_from(left.len()).unwrap_or(u16::MAX);
                self.write(&far, &train, packet, prober.setting().wire.get());
                let at = self.clock.now();
                // A packet that the system drops counts as lost on the path.
                self.send()?;
                left.push(at);
                *due = at + train.gap;
                trains.extend(prober.on(&Event::Sent { train: train.number, packet }, at));
                continue;
            }
            let next = Time::earlier(Some(*due).filter(|_| is_leaving), prober.plan().wake);
            let until = next.map_or(LOOK, |next| next.since(now));
            if is_leaving && until <= SPIN {
                self.clock.spin_until(*due);
            } else {
                self.wait(if is_leaving { until - SPIN } else { until })?;
            }
            while let Some(received) = self.receive()? {
                let now = self.clock.now();
                let Some((number, packet, at)) = self.arrival(&mut far, &train, &received, now)? else {
                    continue;
                };
                if number == train.number
                    && let Some(sent) =
                        leaving.as_ref().and_then(|(_, left, _)| left.get(usize::from(packet)))
                {
                    let took = now.since(*sent);
                    rtt = Some(rtt.map_or(took, |rtt| rtt.min(took)));
                }
                trains.extend(prober.on(&Event::Arrived { train: number, packet, at }, now));
            }
            let now = self.clock.now();
            if prober.plan().wake.is_some_and(|wake| wake <= now) {
                trains.extend(prober.on(&Event::Woken, now));
            }
        }
        let ended = self.clock.now();
        let by = match far {
            Far::Reflector { .. } => By::Reflector,
            Far::Listener(acks) => {
                acks.reset(&mut self.output);
                self.send()?;
                By::Acks
            }
        };
        Ok(Probed { by, setting: *prober.setting(), estimate: *prober.estimate(), trains, began, ended, rtt })
    }

    /// Writes a packet of a train into the output buffer.
    fn write(&mut self, far: &Far, train: &Train, packet: u16, wire: u64) {
        match far {
            Far::Reflector { session } => {
                let asked = Asked { session: *session, train: train.number, packet };
                let length = usize::try_from(wire - self.headers).unwrap_or(0);
                datagram::question(asked, length, &mut self.output);
            }
            Far::Listener(acks) => acks.packet(train, packet, &mut self.output),
        }
    }

    /// Returns the arrival that a datagram reports: the train's number, the packet's place in the train, and the time.
    fn arrival(
        &self,
        far: &mut Far,
        train: &Train,
        received: &Received,
        now: Time,
    ) -> Result<Option<(u16, u16, Time)>, ProbingError> {
        let bytes = self.input.get(..received.length).unwrap_or_default();
        match far {
            Far::Reflector { session } => Ok(datagram::read_answer(bytes)
                .filter(|(asked, _)| asked.session == *session && asked.train != GREETING)
                .map(|(asked, at)| (asked.train, asked.packet, at))),
            Far::Listener(acks) => match acks.read(bytes) {
                Some(Answer::Packet(offset)) => {
                    let at = received.at.unwrap_or(now);
                    Ok(acks.place(train, offset).map(|packet| (train.number, packet, at)))
                }
                Some(Answer::Reset) => Err(ProbingError::Reset(self.peer)),
                _ => Ok(None),
            },
        }
    }

    /// Sends the output buffer. Returns whether it was sent; `None` if it is too long for the device or the path.
    fn send(&mut self) -> Result<Option<bool>, ProbingError> {
        match self.socket.send(&self.output) {
            Ok(left) => Ok(Some(left)),
            Err(error) if is_too_long(&error) => Ok(None),
            Err(error) => Err(ProbingError::Refused(self.peer, error)),
        }
    }

    /// Reads a datagram into the input buffer, if one has arrived.
    fn receive(&mut self) -> Result<Option<Received>, ProbingError> {
        self.socket.receive(&mut self.input).map_err(|error| {
            if is_of_the_peer(&error) {
                ProbingError::Refused(self.peer, error)
            } else {
                ProbingError::System(error)
            }
        })
    }

    /// Waits for a datagram for at most `span`. Returns an error if the user interrupts.
    fn wait(&self, span: Span) -> Result<(), ProbingError> {
        self.socket.wait(span.min(LOOK));
        if (self.interrupted)() { Err(ProbingError::Interrupted) } else { Ok(()) }
    }
}

/// Returns whether `by` may be used: it is the wanted source of arrival times, or any source may be used.
fn may_be(wanted: Option<By>, by: By) -> bool {
    wanted.is_none_or(|wanted| wanted == by)
}
