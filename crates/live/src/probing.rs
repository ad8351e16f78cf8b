//! The prober of `firstflight-probe` on a UDP socket: trains to a reflector, which says when each packet came, or to any
//! listener of this crate, whose ACKs say it.
//!
//! [`probe()`] first asks the peer whether it is there, in both languages at once, and goes on in the one in which it answers. That
//! takes a round trip; opening a connection to a listener takes another. docs/probe.md has the datagrams.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::time::Duration;

use firstflight::{Bytes, Span, Time};
use firstflight_probe::{Estimate, Event, Faulty, Measured, Prober, Setting, Train};
use rustix::thread::set_current_timer_slack;

use crate::clock::Clock;
use acks::{Acks, Heard};
use datagram::{Asked, GREETING};
use socket::{Received, Socket, is_of_the_peer, is_too_long};

mod acks;
mod datagram;
mod reflector;
mod socket;

pub use datagram::LEAST_PACKET;
pub use reflector::Reflector;

/// Who says when packets arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// A [`Reflector`] at the far end, by the clock of its system.
    Reflector,
    /// The ACKs of a listener at the far end: a packet arrived when its ACK came back.
    Acks,
}

impl By {
    /// The way as a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reflector => "reflector",
            Self::Acks => "acks",
        }
    }
}

/// What is to be probed.
#[derive(Clone, Copy, Debug)]
pub struct Probing {
    /// What the prober is asked to do. A path that is too narrow for its packets gets narrower ones.
    pub setting: Setting,
    /// Who is to say when packets arrived; `None` for whichever answers.
    pub by: Option<By>,
    /// How long the peer may take to answer at all.
    pub patience: Duration,
}

/// What a probing found.
#[derive(Clone, Debug)]
pub struct Probed {
    /// Who said when packets arrived.
    pub by: By,
    /// The prober's setting, with packets that the path carries.
    pub setting: Setting,
    /// The estimates.
    pub estimate: Estimate,
    /// The trains.
    pub trains: Vec<Measured>,
    /// When the first packet of a train left, by a clock of this process.
    pub began: Time,
    /// When the last answer came, or the last train was given up.
    pub ended: Time,
    /// The least time from a packet to its answer; `None` if no train was answered.
    pub rtt: Option<Span>,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum ProbingError {
    /// Nothing came back.
    #[error("{peer} did not answer within {} s; `firstflight reflect` or `serve` is wanted there", .patience.as_secs_f64())]
    Silent {
        /// The peer.
        peer: SocketAddr,
        /// How long it was waited for.
        patience: Duration,
    },
    /// Nobody is at this address.
    #[error("nobody listens at {0}: {1}")]
    Refused(SocketAddr, io::Error),
    /// Something else answered.
    #[error("{0} answers, but not as `firstflight reflect` or `serve` does")]
    Stranger(SocketAddr),
    /// The peer ended the connection, or opened none.
    #[error("{0} ended the connection, so that it acknowledges nothing more")]
    Reset(SocketAddr),
    /// The peer does not say which packets arrived.
    #[error("{0} acknowledges without SACK, and so does not tell the packets of a train apart")]
    NoSack(SocketAddr),
    /// The peer's window does not hold a train.
    #[error("{0} takes {1} bytes at a time, less than a train has")]
    NoRoom(SocketAddr, u32),
    /// Packets that cannot be.
    #[error(
        "packets of {0} bytes cannot be sent; {LEAST_PACKET} to 65535 bytes are wanted, as far as the path carries them"
    )]
    Width(u64),
    /// A setting that is impossible.
    #[error("such trains are impossible: {0:?}")]
    Setting(Faulty),
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
    /// What the system refuses.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// How often a wait looks for the user's interrupt.
const LOOK: Span = Span::from_millis(100);
/// The end of the wait for a packet is spent awake: a sleeper wakes late by as much.
const SPIN: Span = Span::from_micros(60);
/// After how long without an answer the peer is asked again.
const AGAIN: Span = Span::from_secs(1);
/// IP bytes of a packet that nearly any path carries, and of one that any host takes: tried after two wider ones without answer.
const NARROWER: [u64; 2] = [1_280, 576];

/// Probes the path to a peer.
///
/// # Errors
/// A peer that does not answer or is of another kind, an impossible setting, an interrupt, what the system refuses.
pub fn probe(
    peer: SocketAddr,
    probing: &Probing,
    interrupted: &dyn Fn() -> bool,
) -> Result<Probed, ProbingError> {
    probing.setting.check().map_err(ProbingError::Setting)?;
    let wire = probing.setting.wire.get();
    if !(LEAST_PACKET..=u64::from(u16::MAX)).contains(&wire) {
        return Err(ProbingError::Width(wire));
    }
    // Timers are late by up to 50 us otherwise. What refuses this is late, and works.
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

/// Numbers that nobody else can guess.
fn numbers() -> io::Result<[u64; 3]> {
    let mut all = [[0; 8]; 3];
    for number in &mut all {
        getrandom::fill(number).map_err(io::Error::from)?;
    }
    Ok(all.map(u64::from_ne_bytes))
}

/// The far end, as it answers.
enum Far {
    Reflector { session: u64 },
    Listener(Acks),
}

/// The near end.
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
    /// Asks until somebody answers. Gives who did, and the IP bytes of packets that the path carries.
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
                    if widest < LEAST_PACKET {
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
                match acks.hear(bytes).filter(|_| may_be(probing.by, By::Acks)) {
                    Some(Heard::SynAck(length)) => {
                        acks.set_length(length);
                        let wire = u64::from(length) + self.headers;
                        self.open(&mut acks, deadline, probing)?;
                        return Ok((Far::Listener(acks), wire));
                    }
                    Some(Heard::NoSack) => return Err(ProbingError::NoSack(self.peer)),
                    Some(Heard::Reset) => return Err(ProbingError::Reset(self.peer)),
                    Some(_) => {}
                    None => is_stranger = true,
                }
            }
        }
    }

    /// Asks the peer once; `false` if the datagram is wider than the device or the path is known to carry.
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
                match acks.hear(self.input.get(..received.length).unwrap_or_default()) {
                    Some(Heard::Open) if acks.slots() >= u32::from(probing.setting.packets) => return Ok(()),
                    Some(Heard::Open) => return Err(ProbingError::NoRoom(self.peer, acks.window())),
                    Some(Heard::Reset) => return Err(ProbingError::Reset(self.peer)),
                    _ => {}
                }
            }
        }
    }

    /// Sends the trains that the prober plans, and tells it of each departure and arrival.
    fn send_trains(&mut self, mut prober: Prober, mut far: Far) -> Result<Probed, ProbingError> {
        let began = self.clock.now();
        let (mut trains, mut rtt): (Vec<Measured>, Option<Span>) = (Vec::new(), None);
        // The train that leaves, when each of its packets left, and when the next is due.
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
                // What is lost here is lost.
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

    /// Writes a packet of a train into the output.
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

    /// The arrival that a datagram tells of: the train, the place in it, and when.
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
            Far::Listener(acks) => match acks.hear(bytes) {
                Some(Heard::Packet(offset)) => {
                    let at = received.at.unwrap_or(now);
                    Ok(acks.place(train, offset).map(|packet| (train.number, packet, at)))
                }
                Some(Heard::Reset) => Err(ProbingError::Reset(self.peer)),
                _ => Ok(None),
            },
        }
    }

    /// Sends what is in the output: whether it left, or `None` if it is too long for the device or the path.
    fn send(&mut self) -> Result<Option<bool>, ProbingError> {
        match self.socket.send(&self.output) {
            Ok(left) => Ok(Some(left)),
            Err(error) if is_too_long(&error) => Ok(None),
            Err(error) => Err(ProbingError::Refused(self.peer, error)),
        }
    }

    /// Takes a datagram into the input, if one is there.
    fn receive(&mut self) -> Result<Option<Received>, ProbingError> {
        self.socket.receive(&mut self.input).map_err(|error| {
            if is_of_the_peer(&error) {
                ProbingError::Refused(self.peer, error)
            } else {
                ProbingError::System(error)
            }
        })
    }

    /// Waits for a datagram, no longer than this and no longer than the user lets it.
    fn wait(&self, span: Span) -> Result<(), ProbingError> {
        self.socket.wait(span.min(LOOK));
        if (self.interrupted)() { Err(ProbingError::Interrupted) } else { Ok(()) }
    }
}

/// Whether this way is one of those wanted.
fn may_be(wanted: Option<By>, by: By) -> bool {
    wanted.is_none_or(|wanted| wanted == by)
}
