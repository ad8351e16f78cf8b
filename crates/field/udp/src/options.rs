//! The options of a host's connections: scheme, law and stack by name, and the bounds of their memory and number.

use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use firstflight::Span;
use firstflight::registry::{Ability, AnyController, Offers, Registry};
use firstflight_scenario::keys::{self, Heading, key};
use firstflight_scenario::{
    ByName, ChoiceError, ControllerError, OptionError, Options as Keys, Scenario, ScenarioError,
    SchemeChoice, controller, parse_choices, sender_config, trace_header,
};
use firstflight_tcp::{Config, Offload};
use firstflight_trace::Header;

use crate::memory::SharedMemory;
use crate::seal::Key;
use crate::trace::Trace;
use crate::watch::Watches;

/// The abilities of this host: all except Quick-Start, which asks routers, because UDP sockets send no IP options.
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
    /// A scheme that cannot be read or built, or that needs an ability that this host lacks.
    #[error(transparent)]
    Scheme(#[from] ChoiceError),
    /// A text that does not name exactly one scheme.
    #[error("one scheme is wanted; `{0}` names {1}")]
    NotOne(String, usize),
    /// A key that cannot be set.
    #[error(transparent)]
    Key(#[from] OptionError),
    /// A key of the path. The path is real here, so its properties cannot be set.
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

/// The keys of the two endpoints.
const ENDS: &str = "avoidance, recovery, stack, app-limited-growth, limited-transmit, slow-start-counts, restart, ack, iw, ssthresh, rwnd, \
                    inflight-limit, min-rto, rto-floor, initial-rto, sack-blocks, timestamps, ecn";

/// Returns whether a key describes the two endpoints.
fn is_of_the_ends(key: &keys::Key) -> bool {
    // The models of a host's CPU, timers and segmentation exist only in the simulator.
    let is_simulated =
        ["host-cpu", "cpu-packet", "cpu-segment", "pacing-timer", "timer-noise", "gso"].contains(&key.name);
    matches!(key.heading, Heading::Endpoints | Heading::Schemes) && !is_simulated
}

/// Returns the output for the trace of a connection. Called once for each connection, with the peer's address.
pub type Traces = Arc<dyn Fn(SocketAddr) -> io::Result<Box<dyn Write + Send>> + Send + Sync>;

/// One source of peers may use one part in this many of each bound.
pub(crate) const SHARES: usize = 4;

/// The options of a host. They apply to all its connections.
#[derive(Clone)]
pub struct Options {
    keys: Keys,
    choice: SchemeChoice,
    /// The largest datagram: bytes of UDP payload or, over a TUN device, of an IP packet.
    pub(crate) largest: Option<u16>,
    pub(crate) send_buffer: u64,
    pub(crate) takes_whole_buffer: bool,
    pub(crate) memory: u64,
    pub(crate) shared: Option<SharedMemory>,
    pub(crate) lifetime: Span,
    pub(crate) user_timeout: Option<Span>,
    pub(crate) connections: usize,
    pub(crate) backlog: usize,
    pub(crate) linger: std::time::Duration,
    pub(crate) batches: bool,
    pub(crate) key: Option<Key>,
    pub(crate) watches: Option<Watches>,
}

impl Options {
    /// Reads the options of a host whose connections start with `scheme`. The scheme is named as for `firstflight race --schemes`, with
    /// optional parameters and keys of the endpoints: `hystart++`, `paced:first=10`, `slow-start:avoidance=cubic,stack=linux`.
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

    /// Makes the options for a scheme that has been read already, with the restart policies and laws of `registry`.
    ///
    /// # Errors
    /// A scheme that this host cannot run.
    pub fn of(registry: Registry, choice: SchemeChoice) -> Result<Self, OptionsError> {
        let mut keys = registry.options();
        // If a rate is given, the defaults are those of current endpoints, not those of the built-in path. The value of the rate has no
        // effect here.
        keys.set("rate", "1Gbit/s")?;
        keys.set("rwnd", "256kB")?;
        let options = Self {
            keys,
            choice,
            largest: None,
            send_buffer: 4 << 20,
            takes_whole_buffer: false,
            memory: 64 << 20,
            shared: None,
            lifetime: Span::from_secs(30),
            user_timeout: None,
            connections: 16_384,
            backlog: 1_024,
            linger: std::time::Duration::from_secs(3),
            batches: true,
            key: None,
            watches: None,
        };
        options.checked()
    }

    /// Sets a key of the two endpoints with the syntax of `firstflight race`, such as `avoidance` to `cubic`, `stack` to `linux`, `ecn` to
    /// `true`. The receive buffer, `rwnd`, bounds the unread bytes of a connection; 256 kB by default.
    ///
    /// # Errors
    /// An unknown key, a key of the path, a value that cannot be read, or values that exclude each other.
    pub fn set(mut self, name: &str, value: &str) -> Result<Self, OptionsError> {
        if key(name).is_some_and(|key| !is_of_the_ends(key)) {
            return Err(OptionsError::PathKey(name.to_owned()));
        }
        self.keys.set(name, value)?;
        self.checked()
    }

    /// Sets the largest datagram to send: bytes of UDP payload or, over a TUN device, of the IP packet. The host detects paths with a
    /// smaller MTU. The default is 1472 over IPv4 and 1452 over IPv6, which are packets of 1500 bytes.
    pub fn largest_datagram(mut self, bytes: u16) -> Self {
        self.largest = Some(bytes);
        self
    }

    /// Sets the maximum number of written but unacknowledged bytes of a connection; 4 MiB by default. A connection buffers twice its
    /// congestion window and at least 32 KiB, up to this maximum. It buffers less while the host holds much memory ([`Options::memory`]).
    pub fn send_buffer(mut self, bytes: u64) -> Self {
        self.send_buffer = bytes;
        self
    }

    /// Sets whether a connection buffers more than its window needs; `false` by default. If it does, it buffers 64 KiB initially. Then it
    /// buffers four times its congestion window or four times the bytes that its peer has acknowledged, whichever is larger. A writer that
    /// has all of its data then finds room, as with the endpoints of the simulator, and a peer that acknowledges nothing uses no more
    /// memory. With `stack` set to `linux`, the sender fills the buffer only as far as Linux would, which follows the window.
    pub fn whole_send_buffer(mut self, on: bool) -> Self {
        self.takes_whole_buffer = on;
        self
    }

    /// Sets the memory for the unacknowledged and unread bytes of all connections; 64 MiB by default. When more than half of it is held,
    /// send buffers shrink, down to 32 KiB each. Once all of it is held, each connection gets 4 KiB of send buffer and 4 KiB of unread
    /// data. The connections of one [`Source`](crate::Source) are bounded in the same way by a quarter of the memory.
    pub fn memory(mut self, bytes: u64) -> Self {
        (self.memory, self.shared) = (bytes, None);
        self
    }

    /// Uses one bound of memory for all hosts that get the same `memory`. The connections of these hosts count together.
    pub fn shared_memory(mut self, memory: &SharedMemory) -> Self {
        self.memory = memory.bytes;
        self.shared = Some(memory.clone());
        self
    }

    /// Sets the maximum segment lifetime. The side that closes first keeps the connection for twice as long (TIME-WAIT). The default is 30
    /// s.
    pub fn segment_lifetime(mut self, lifetime: Span) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// Sets the time for which unanswered data is retransmitted before the connection is aborted (RFC 9293 section 3.8.3). By default, the
    /// connection is aborted after 15 retransmissions.
    pub fn user_timeout(mut self, timeout: Span) -> Self {
        self.user_timeout = Some(timeout);
        self
    }

    /// Sets the maximum number of connections, including those in TIME-WAIT; 16,384 by default. Peers of one [`Source`](crate::Source) may
    /// have a quarter of them, and peers of one socket a sixteenth. At the maximum, a new connection replaces another: the oldest in
    /// TIME-WAIT, otherwise the oldest without a handle, otherwise one of [little worth](crate::Stream::set_worth). All but those in
    /// TIME-WAIT are reset. If no connection can be replaced, the host does not open connections and does not answer new peers.
    pub fn connections(mut self, most: usize) -> Self {
        self.connections = most;
        self
    }

    /// Sets the maximum number of connections that wait to be accepted; 1024 by default. One [`Source`](crate::Source) may have a quarter
    /// of them. Above the maximum, peers get no answer, and retry.
    pub fn backlog(mut self, most: usize) -> Self {
        self.backlog = most;
        self
    }

    /// Sets the time for which dropping the last handle of a host waits until written data is acknowledged and peers have closed; 3 s by
    /// default. Once all data is acknowledged, a peer has three RTTs to close, but at least 100 ms. Connections that have not ended by then
    /// are reset.
    pub fn linger(mut self, time: std::time::Duration) -> Self {
        self.linger = time;
        self
    }

    /// Sets whether datagrams that are sent at the same time are passed to the system in one call (GSO); `true` by default. Datagrams that
    /// arrived together are always read in one call (GRO, `recvmmsg`), and processed one after another.
    pub fn batches(mut self, on: bool) -> Self {
        self.batches = on;
        self
    }

    /// Seals every datagram with this key. Peers without the key get no answer. The key applies to UDP sockets only and has no effect over
    /// a TUN device.
    pub fn key(mut self, key: Key) -> Self {
        self.key = Some(key);
        self
    }

    /// Sets the output of each connection's trace for `firstflight replay`. The trace has the calls of the connection's controller and its
    /// decisions. It replaces the watcher.
    pub fn traces(self, traces: Traces) -> Self {
        self.watches(Arc::new(move |beginning| {
            Ok(Box::new(Trace::new(beginning.header, traces(beginning.peer)?)))
        }))
    }

    /// Sets the watcher of each connection, which observes its segments and the events inside its endpoint.
    pub fn watches(mut self, watches: Watches) -> Self {
        self.watches = Some(watches);
        self
    }

    /// Returns the maximum number of connections of one source.
    pub(crate) fn connections_of_a_source(&self) -> usize {
        (self.connections / SHARES).max(1)
    }

    /// Returns the maximum number of connections of one socket of a peer.
    pub(crate) fn connections_of_a_socket(&self) -> usize {
        (self.connections / SHARES / SHARES).max(1)
    }

    /// Returns the maximum number of connections of one source that wait to be accepted.
    pub(crate) fn backlog_of_a_source(&self) -> usize {
        (self.backlog / SHARES).max(1)
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

    /// Returns the scheme.
    pub fn choice(&self) -> &SchemeChoice {
        &self.choice
    }

    /// Returns the settings of the two endpoints as a scenario in which full segments have `mss` bytes of payload. The path of the scenario
    /// is a placeholder, because the real path is unknown.
    ///
    /// # Errors
    /// Values that exclude each other.
    pub fn scenario(&self, mss: u16) -> Result<Scenario, OptionsError> {
        let mut scenario = Scenario::resolve(&self.keys)?.for_scheme(&self.choice);
        scenario.mss = mss;
        Ok(scenario)
    }

    /// Returns the settings of an endpoint whose full segments have `mss` bytes of payload, including TCP options.
    pub(crate) fn of_mss(&self, mss: u16) -> Result<Ready, OptionsError> {
        let scenario = self.scenario(mss)?;
        let config = sender_config(&scenario);
        Ok(Ready {
            config: Config {
                // A real application does not have an endless buffer, unless `takes_whole_buffer` is set.
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

/// The values with which a new connection is made.
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
    fn unsupported_options_are_refused_with_a_reason() {
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
