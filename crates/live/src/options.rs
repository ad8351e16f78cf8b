//! What a host does with its connections: their scheme, law and stack by name, and the bounds of what they take.

use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use firstflight::Span;
use firstflight::registry::{Ability, AnyController, Offers, Registry};
use firstflight_scenario::keys::{Heading, Key, key};
use firstflight_scenario::{
    ByName, ChoiceError, ControllerError, OptionError, Options as Keys, Scenario, ScenarioError,
    SchemeChoice, controller, parse_choices, sender_config, trace_header,
};
use firstflight_tcp::{Config, Offload};
use firstflight_trace::Header;

use crate::trace::Trace;
use crate::watch::Watches;

/// What this host can do: everything but ask the routers, for UDP sockets send no IP options.
pub const OFFERS: Offers = Offers::of("the host on sockets", &offers());

const fn offers() -> [Ability; Ability::ALL.len() - 1] {
    let mut offers = [Ability::AckClock; Ability::ALL.len() - 1];
    let (mut from, mut to) = (0, 0);
    while from < Ability::ALL.len() {
        if !matches!(Ability::ALL[from], Ability::RateRequest) {
            offers[to] = Ability::ALL[from];
            to += 1;
        }
        from += 1;
    }
    offers
}

/// Why options cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// A scheme that cannot be read or built, or that needs what this host cannot do.
    #[error(transparent)]
    Scheme(#[from] ChoiceError),
    /// A text that names no scheme or several.
    #[error("one scheme is wanted; `{0}` names {1}")]
    NotOne(String, usize),
    /// A key that cannot be set.
    #[error(transparent)]
    Key(#[from] OptionError),
    /// A key of the path. The path is there already.
    #[error("`{0}` describes a path; here only the keys of the two ends can be set: {ENDS}")]
    PathKey(String),
    /// Values that exclude each other.
    #[error(transparent)]
    Values(#[from] ScenarioError),
    /// A controller that cannot be made.
    #[error(transparent)]
    Controller(#[from] ControllerError),
}

impl From<OptionsError> for io::Error {
    fn from(error: OptionsError) -> Self {
        Self::new(io::ErrorKind::InvalidInput, error.to_string())
    }
}

/// The keys of the two ends.
const ENDS: &str = "avoidance, recovery, stack, app-limited-growth, limited-transmit, slow-start-counts, restart, ack, iw, ssthresh, rwnd, \
                    inflight-limit, min-rto, rto-floor, initial-rto, sack-blocks, timestamps, ecn";

/// Whether a key says what the two ends do.
fn is_of_the_ends(key: &Key) -> bool {
    // The models of a host's CPU, timer and segmentation are the simulator's; a real host has its own.
    let is_simulated = ["host-cpu", "cpu-packet", "cpu-segment", "pacing-timer", "gso"].contains(&key.name);
    matches!(key.heading, Heading::Endpoints | Heading::Schemes) && !is_simulated
}

/// Where the trace of a connection goes: asked once for each connection, with the peer's address.
pub type Traces = Arc<dyn Fn(SocketAddr) -> io::Result<Box<dyn Write + Send>> + Send + Sync>;

/// The options of a host. All its connections have the same.
#[derive(Clone)]
pub struct Options {
    keys: Keys,
    choice: SchemeChoice,
    /// Of a datagram's payload or, over a TUN, of an IP packet: bytes.
    pub(crate) largest: Option<u16>,
    pub(crate) send_buffer: u64,
    pub(crate) takes_whole_buffer: bool,
    pub(crate) memory: u64,
    pub(crate) lifetime: Span,
    pub(crate) user_timeout: Option<Span>,
    pub(crate) connections: usize,
    pub(crate) backlog: usize,
    pub(crate) linger: std::time::Duration,
    pub(crate) batches: bool,
    pub(crate) watches: Option<Watches>,
}

impl Options {
    /// The options of a host whose connections start by `scheme`, named as for `firstflight race --schemes`, with parameters and
    /// keys of the ends if wanted: `hystart++`, `paced:first=10`, `slow-start:avoidance=cubic,stack=linux`.
    ///
    /// # Errors
    /// A text that does not name one scheme that this host can run.
    pub fn new(scheme: &str) -> Result<Self, OptionsError> {
        let mut choices = parse_choices(scheme)?;
        let (Some(choice), 0) = (choices.pop(), choices.len()) else {
            return Err(OptionsError::NotOne(scheme.escape_debug().to_string(), choices.len() + 1));
        };
        Self::of(Registry::builtin(), choice)
    }

    /// The same of a scheme that has been read already, with restart policies and laws of `registry`.
    ///
    /// # Errors
    /// A scheme that this host cannot run.
    pub fn of(registry: Registry, choice: SchemeChoice) -> Result<Self, OptionsError> {
        let mut keys = registry.options();
        // With a rate the defaults are those of today's ends, not of the built-in path. The rate itself says nothing here.
        keys.set("rate", "1Gbit/s")?;
        keys.set("rwnd", "256kB")?;
        let options = Self {
            keys,
            choice,
            largest: None,
            send_buffer: 4 << 20,
            takes_whole_buffer: false,
            memory: 64 << 20,
            lifetime: Span::from_secs(30),
            user_timeout: None,
            connections: 16_384,
            backlog: 1_024,
            linger: std::time::Duration::from_secs(3),
            batches: true,
            watches: None,
        };
        options.checked()
    }

    /// Sets a key of the two ends as `firstflight race` has it, such as `avoidance` to `cubic`, `stack` to `linux`, `ecn` to `true`.
    /// The receive buffer, `rwnd`, bounds what of a connection waits to be read: 256 kB unless it is set.
    ///
    /// # Errors
    /// An unknown key or one of the path, a value that cannot be read, values that exclude each other.
    pub fn set(mut self, name: &str, value: &str) -> Result<Self, OptionsError> {
        if key(name).is_some_and(|key| !is_of_the_ends(key)) {
            return Err(OptionsError::PathKey(name.to_owned()));
        }
        self.keys.set(name, value)?;
        self.checked()
    }

    /// The largest datagram to send: bytes of UDP payload, or of the IP packet over a TUN. Paths that are narrower are found.
    /// 1472 over IPv4 and 1452 over IPv6 unless this is called: packets of 1500 bytes.
    pub fn largest_datagram(mut self, bytes: u16) -> Self {
        self.largest = Some(bytes);
        self
    }

    /// The most bytes of a connection that are written and not acknowledged: 4 MiB unless this is called. A connection takes
    /// twice its congestion window and no less than 32 KiB, up to this; less while the host holds much ([`Options::memory`]).
    pub fn send_buffer(mut self, bytes: u64) -> Self {
        self.send_buffer = bytes;
        self
    }

    /// Whether a connection takes its whole send buffer from the beginning, however small its window. A writer that has all of its
    /// data then meets the buffer of the simulator's endpoints. With `stack` set to `linux`, the sender fills the buffer only as far as
    /// Linux's would be, which follows the window. The default is `false`.
    pub fn whole_send_buffer(mut self, on: bool) -> Self {
        self.takes_whole_buffer = on;
        self
    }

    /// The bytes of all connections that wait to be acknowledged or read from which on connections take less: of writes 32 KiB each
    /// from half of it on and 4 KiB each above it, and above it of what arrives 4 KiB each. 64 MiB unless this is called.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// The maximum segment lifetime: who closes first keeps the connection for twice as long (TIME-WAIT). 30 s unless this is called.
    pub fn segment_lifetime(mut self, lifetime: Span) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// For how long data is sent again without an answer before the connection is given up (RFC 9293 section 3.8.3). Fifteen
    /// repetitions unless this is called.
    pub fn user_timeout(mut self, timeout: Span) -> Self {
        self.user_timeout = Some(timeout);
        self
    }

    /// The most connections at a time, those that wait at their end included: 16,384 unless this is called. For a further one the
    /// oldest in TIME-WAIT makes room, or the oldest that nobody holds, which is reset. Where there is neither the host refuses to
    /// connect, and hears no more peers.
    pub fn connections(mut self, most: usize) -> Self {
        self.connections = most;
        self
    }

    /// The most connections that wait to be accepted: 1024 unless this is called.
    pub fn backlog(mut self, most: usize) -> Self {
        self.backlog = most;
        self
    }

    /// For how long the last handle of a host, when dropped, waits until what was written is acknowledged and peers have closed, too:
    /// 3 s unless this is called. Once all is acknowledged a peer has three round trips to close, and 100 ms at least. What has not
    /// ended then is reset.
    pub fn linger(mut self, time: std::time::Duration) -> Self {
        self.linger = time;
        self
    }

    /// Whether datagrams that leave at one instant are handed to the system at once (GSO). They are unless this is called. Those that
    /// arrived together are taken at once (GRO, `recvmmsg`), and heard one after the other.
    pub fn batches(mut self, on: bool) -> Self {
        self.batches = on;
        self
    }

    /// Where the trace of each connection goes: what its controller was told and decided, for `firstflight replay`. The trace takes the
    /// place of a watcher.
    pub fn traces(self, traces: Traces) -> Self {
        self.watches(Arc::new(move |beginning| {
            Ok(Box::new(Trace::new(beginning.header, traces(beginning.peer)?)))
        }))
    }

    /// Who watches each connection: its segments, and what happens inside its endpoint.
    pub fn watches(mut self, watches: Watches) -> Self {
        self.watches = Some(watches);
        self
    }

    fn checked(self) -> Result<Self, OptionsError> {
        let scenario = self.scenario(firstflight_tcp::Config::default().mss)?;
        let law = self.choice.law(scenario.avoidance);
        self.choice.check(OFFERS)?;
        if let Some(law) = scenario.registry.law(law) {
            law.check(OFFERS).map_err(ChoiceError::Host)?;
        }
        scenario.restart.entry.check(OFFERS).map_err(ChoiceError::Host)?;
        controller(&scenario, &self.choice)?;
        Ok(self)
    }

    /// The scheme.
    pub fn choice(&self) -> &SchemeChoice {
        &self.choice
    }

    /// The settings of the two ends, as a scenario. Full segments have `mss` bytes of payload. The path of the scenario is a
    /// placeholder: the real path is unknown here.
    ///
    /// # Errors
    /// Values that exclude each other.
    pub fn scenario(&self, mss: u16) -> Result<Scenario, OptionsError> {
        let mut scenario = Scenario::resolve(&self.keys)?.for_scheme(&self.choice);
        scenario.mss = mss;
        Ok(scenario)
    }

    /// The settings of an endpoint whose full segments have `mss` bytes of payload, its options counted in.
    pub(crate) fn of_mss(&self, mss: u16) -> Result<Ready, OptionsError> {
        let scenario = self.scenario(mss)?;
        let config = sender_config(&scenario);
        Ok(Ready {
            config: Config {
                // A real application has no endless buffer, unless it says so.
                offload: config
                    .offload
                    .map(|offload| if self.takes_whole_buffer { offload } else { Offload::default() }),
                options_in_mss: true,
                ..config
            },
            controller: controller(&scenario, &self.choice)?,
            header: trace_header(&scenario, &self.choice),
        })
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("scheme", &self.choice.to_string()).finish_non_exhaustive()
    }
}

/// What a new connection begins with.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    pub(crate) config: Config,
    pub(crate) controller: AnyController,
    pub(crate) header: Header,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_takes_schemes_laws_and_stacks_by_the_names_of_race() {
        let options = Options::new("hystart++:stack=linux").unwrap().set("avoidance", "cubic").unwrap();
        let ready = options.of_mss(1_452).unwrap();
        assert_eq!((ready.config.mss, ready.config.stack), (1_452, firstflight_tcp::Stack::Linux));
        assert_eq!((ready.header.avoidance.as_str(), ready.header.iw_segments), ("cubic", 10));
        assert_eq!(ready.config.receive_buffer, 256_000);
    }

    #[test]
    fn what_a_host_cannot_do_is_refused_in_a_line() {
        let refused = |error: Result<Options, OptionsError>| error.map(|_| ()).unwrap_err().to_string();
        let line = refused(Options::new("quick-start"));
        assert!(line.contains("quick-start") && line.contains("the host on sockets"), "{line}");
        assert!(refused(Options::new("slow-start,hystart")).contains("names 2"));
        let slow_start = || Options::new("slow-start").unwrap();
        assert!(refused(slow_start().set("rtt", "40ms")).contains("`rtt` describes a path"));
        assert!(refused(slow_start().set("avoidance", "nonsense")).contains("nonsense"));
        assert!(refused(slow_start().set("restart", "quick-start")).contains("the host on sockets"));
    }

    #[test]
    fn the_line_that_lists_the_keys_of_the_ends_lists_them_all() {
        let ends = firstflight_scenario::keys::keys().filter(|key| is_of_the_ends(key));
        assert_eq!(ENDS, ends.map(|key| key.name).collect::<Vec<_>>().join(", "));
    }
}
