//! A connection of the simulated kernel: the endpoint, and the state of its socket.

use firstflight::registry::{self, AnyController, AnyLaw, AnyRestart, AnyScheme, Value};
use firstflight::schemes::Initial;
use firstflight::{Bytes, Controller, Rate, Span, Time};
use firstflight_tcp::{
    AckPolicy, Config, Endpoint, Flags, Info, Offload, PacedBy, Recovery, Role, Segment, Stack, Status,
};

use super::socket_options::{SocketOptions, give_up_after};
use crate::settings::{Queue, Settings};

/// The value of the endpoint's clock at the beginning of virtual time. It ensures that no timestamp is 0.
const EPOCH: Span = Span::from_secs(1_000);
/// The values of `TCP_FIN_WAIT1` and `TCP_FIN_WAIT2` in Linux.
const FIN_WAIT_1: u8 = 4;
const FIN_WAIT_2: u8 = 5;
/// The value of `TCP_CLOSE` in Linux.
const CLOSED: u8 = 7;
/// The initial window in segments (RFC 6928 section 2).
const INITIAL_WINDOW: u32 = 10;

/// A connection of the simulated kernel.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    endpoint: Endpoint<AnyScheme, AnyRestart, AnyLaw>,
    pub(crate) accepted: bool,
    pub(crate) passive: bool,
    /// Whether no descriptor refers to the socket any more.
    pub(crate) orphaned: bool,
    /// Whether writing was shut down.
    pub(crate) shut: bool,
    pub(crate) reading_shut: bool,
    /// Maximum number of bytes that are written but not acknowledged.
    pub(crate) send_buffer: u64,
    /// The size of a write in progress.
    pub(crate) writing: Option<u64>,
    /// The error that the next call returns. It is returned only once.
    pub(crate) error: Option<&'static str>,
    pub(crate) error_seen: bool,
    was_open: bool,
    unsent_limit: u64,
    advertised: u16,
    traffic: Traffic,
}

/// Numbers of segments, and the times in microseconds at which a segment was last sent or received.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) segments_in: u64,
    pub(crate) segments_out: u64,
    pub(crate) data_segments_in: u64,
    pub(crate) last_data_sent: i64,
    pub(crate) last_data_received: i64,
    pub(crate) last_ack_received: i64,
}

impl Connection {
    /// Creates a connection for a SYN to a listening socket.
    pub(crate) fn passive(settings: &Settings, options: &SocketOptions) -> Self {
        Self::new(Role::Server, settings, options)
    }

    /// Creates a connection for a call of `connect`.
    pub(crate) fn active(settings: &Settings, options: &SocketOptions, now: i64) -> Self {
        let mut connection = Self::new(Role::Client, settings, options);
        connection.endpoint.open(time(now));
        connection
    }

    fn new(role: Role, settings: &Settings, options: &SocketOptions) -> Self {
        let config = config(role, settings, options);
        let mut endpoint = Endpoint::new(role, &config, controller(settings, options));
        let send_buffer = options.send_buffer.unwrap_or_else(|| settings.part("tcp_wmem", 1).max(262_144));
        endpoint.linux_socket().set_send_limit(send_buffer);
        let mut connection = Self {
            endpoint,
            accepted: role == Role::Client,
            passive: role == Role::Server,
            orphaned: false,
            shut: false,
            reading_shut: false,
            send_buffer,
            writing: None,
            error: None,
            error_seen: false,
            was_open: false,
            unsent_limit: u64::MAX,
            advertised: config.mss,
            traffic: Traffic::default(),
        };
        connection.apply(options, settings);
        connection
    }

    /// Applies the options that affect a connection from its start.
    fn apply(&mut self, options: &SocketOptions, settings: &Settings) {
        let timeout = give_up_after(settings.number("tcp_retries2"), options.user_timeout);
        self.endpoint.set_user_timeout(timeout, options.user_timeout > 0);
        let mut socket = self.endpoint.linux_socket();
        socket.set_nagle(!options.no_delay);
        socket.set_cork(options.cork);
        socket.set_quick_ack(!options.delays_acks);
        self.set_unsent_limit(options.unsent_limit.unwrap_or_else(|| settings.number("tcp_notsent_lowat")));
    }

    pub(crate) fn next_timer(&self) -> Option<i64> {
        // The script's clock counts microseconds, so a timer is handled at the first microsecond that is not before it.
        self.endpoint.next_timer().map(micros)
    }

    pub(crate) fn on_timer(&mut self, now: i64) {
        self.endpoint.on_timer(time(now));
        self.note(Some("ETIMEDOUT"));
    }

    pub(crate) fn on_segment(&mut self, now: i64, segment: &Segment) {
        self.traffic.segments_in += 1;
        let opening = segment.flags.has(Flags::SYN);
        if segment.len > 0 {
            self.traffic.data_segments_in += 1;
        }
        if segment.len > 0 || opening {
            self.traffic.last_data_received = now;
        }
        if segment.flags.has(Flags::ACK) {
            self.traffic.last_ack_received = now;
        }
        let refused = if self.was_open { "ECONNRESET" } else { "ECONNREFUSED" };
        self.endpoint.on_segment(time(now), segment);
        self.note(Some(refused));
    }

    pub(crate) fn transmit(&mut self, now: i64) -> Option<Segment> {
        let segment = self.endpoint.poll_transmit(time(now))?.segment;
        self.traffic.segments_out += 1;
        if segment.len > 0 || segment.flags.has(Flags::SYN) {
            self.traffic.last_data_sent = now;
        }
        Some(segment)
    }

    /// Returns the MSS that the endpoint advertises.
    pub(crate) fn advertised(&self) -> i64 {
        i64::from(self.advertised)
    }

    /// Checks whether the last segment sent belongs to a burst that continues.
    pub(crate) fn is_in_burst(&mut self) -> bool {
        self.endpoint.linux_socket().is_in_burst()
    }

    /// Returns the numbers and times of segments.
    pub(crate) fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Records the error with which the connection ended, if it ended.
    fn note(&mut self, error: Option<&'static str>) {
        while self.endpoint.poll_event().is_some() {}
        match self.endpoint.status() {
            Status::Open => self.was_open = true,
            Status::Aborted if !std::mem::replace(&mut self.error_seen, true) => self.error = error,
            Status::Idle | Status::Opening | Status::Closed | Status::Aborted => {}
        }
    }

    pub(crate) fn endpoint(&mut self) -> &mut Endpoint<AnyScheme, AnyRestart, AnyLaw> {
        &mut self.endpoint
    }

    pub(crate) fn info(&self) -> Info {
        self.endpoint.info()
    }

    /// Returns the rate at which Linux paces (`tcp_update_pacing_rate`).
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        let info = self.info();
        let starting = info.ssthresh.is_none_or(|ssthresh| info.cwnd < ssthresh / 2);
        let outstanding = Bytes::new(info.outstanding.saturating_mul(u64::from(info.mss)));
        info.cwnd.max(outstanding).scale(if starting { 200 } else { 120 }, 100).per(info.srtt?)
    }

    /// Checks whether the connection no longer exists, so that a reset answers its peer (RFC 9293 section 3.10.7.1). An endpoint in
    /// TIME-WAIT still exists, and answers.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_over() && self.info().state == CLOSED
    }

    /// Checks whether `segment` has data that arrives after this socket was closed and before the peer has closed.
    pub(crate) fn is_deaf_to(&self, segment: &Segment) -> bool {
        let closing = matches!(self.info().state, FIN_WAIT_1 | FIN_WAIT_2);
        let new =
            segment.seq.wrapping_add(u32::from(segment.len)).wrapping_sub(self.endpoint.next_expected());
        self.orphaned && closing && segment.len > 0 && (1..=u32::MAX / 2).contains(&new)
    }

    pub(crate) fn status(&self) -> Status {
        self.endpoint.status()
    }

    /// Returns the number of bytes that can be read now.
    pub(crate) fn readable(&self) -> u64 {
        self.endpoint.readable()
    }

    /// Checks whether the peer will send no more data.
    pub(crate) fn at_end(&self) -> bool {
        self.endpoint.peer_closed()
    }

    pub(crate) fn set_send_buffer(&mut self, bytes: u64) {
        self.send_buffer = bytes;
        self.endpoint.linux_socket().set_send_limit(bytes);
    }

    pub(crate) fn set_unsent_limit(&mut self, bytes: u64) {
        self.unsent_limit = bytes;
        self.endpoint.linux_socket().set_unsent_limit(bytes);
    }

    /// Checks whether there is so little unsent data that `poll` reports the socket as writable (`tcp_stream_memory_free`).
    pub(crate) fn wants_more(&self) -> bool {
        self.info().unsent.saturating_mul(2) < self.unsent_limit
    }

    /// Returns the number of bytes written but not acknowledged.
    pub(crate) fn queued(&self) -> u64 {
        self.endpoint.queued()
    }

    /// Returns the free bytes of the send buffer.
    pub(crate) fn room(&self) -> u64 {
        self.send_buffer.saturating_sub(self.endpoint.queued())
    }

    pub(crate) fn is_acceptable(&self) -> bool {
        self.passive && !self.accepted && self.was_open
    }

    /// Checks whether the connection can have no further effect.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.endpoint.status(), Status::Closed | Status::Aborted)
    }

    /// Aborts the connection with the reset that a close with unread data, or without lingering, sends.
    pub(crate) fn reset(&mut self) {
        self.error_seen = true;
        self.endpoint.reset();
    }
}

/// Returns the endpoint's configuration, from Linux's defaults and the script's settings.
fn config(role: Role, settings: &Settings, options: &SocketOptions) -> Config {
    let mss = settings.mtu.saturating_sub(settings.headers).max(88);
    let count = |name| u32::try_from(settings.number(name)).unwrap_or(u32::MAX);
    let receive_buffer = options.receive_buffer.unwrap_or_else(|| settings.part("tcp_rmem", 1));
    // As in `tcp_select_initial_window`, the scale fits the largest window that is ever possible. A buffer that was set explicitly bounds
    // this window, regardless of the sysctls. Half of the buffer is for bookkeeping (`tcp_full_space`).
    let largest = options.receive_buffer.map_or_else(
        || settings.part("tcp_rmem", 2).max(settings.number("core.rmem_max")),
        |buffer| buffer / 2,
    );
    let scale = (0..14).find(|shift| largest >> shift <= 0xffff);
    Config {
        mss: options.max_segment.map_or(mss, |most| most.min(mss)),
        sack: settings.number("tcp_sack") != 0,
        timestamps: settings.number("tcp_timestamps") != 0,
        // The value 1 requests ECN; 2 only accepts it.
        ecn: settings.number("tcp_ecn") == 1 || settings.number("tcp_ecn") == 2 && role == Role::Server,
        frto: settings.number("tcp_frto") != 0,
        reordering: count("tcp_reordering"),
        syn_retries: options.syn_retries.unwrap_or_else(|| {
            count(if role == Role::Client { "tcp_syn_retries" } else { "tcp_synack_retries" })
        }),
        linear_syns: count("tcp_syn_linear_timeouts"),
        tail_loss_probe: matches!(settings.number("tcp_early_retrans"), 3 | 4),
        window_scaling: settings.number("tcp_window_scaling") != 0,
        window_scale: scale.or(Some(14)),
        receive_buffer,
        reads_at_once: false,
        ack_policy: AckPolicy::Linux,
        recovery: Recovery::Rack,
        min_rto: Span::from_millis(200),
        options_in_mss: true,
        stack: Stack::Linux,
        // The simulated device (`crate::kernel::device`) paces.
        pacing: PacedBy::Device,
        offload: Some(Offload {
            min_segments: u16::try_from(settings.number("tcp_min_tso_segs")).unwrap_or(u16::MAX),
            window_divisor: u16::try_from(settings.number("tcp_tso_win_divisor")).unwrap_or(u16::MAX),
            // `SO_SNDBUF` and `tcp_wmem` determine the buffer's size.
            buffer_follows_window: false,
        }),
        ..Config::default()
    }
}

fn controller(settings: &Settings, options: &SocketOptions) -> AnyController {
    let initial = Initial { segments: INITIAL_WINDOW, ssthresh: None };
    let congestion = options.congestion.unwrap_or_else(|| settings.text("tcp_congestion_control"));
    let cubic = congestion != "reno";
    let word = |word| ("detect", Value::Word(word));
    let built = if cubic {
        let paced = ("paced", Value::Word(if settings.queue == Queue::Fair { "yes" } else { "no" }));
        registry::scheme("hystart-linux")
            .and_then(|entry| entry.build(initial, &[word(settings.hystart), paced]).ok())
    } else {
        registry::scheme("slow-start").and_then(|entry| entry.build(initial, &[]).ok())
    };
    // These names and settings are defined in this workspace.
    let scheme = built.unwrap_or_else(|| firstflight::schemes::SlowStart::new(initial).into());
    let restarts = settings.number("tcp_slow_start_after_idle") != 0;
    let rule = [("rule", Value::Word("linux"))];
    let (restart, rule) = if restarts { ("cwv", &rule[..]) } else { ("nssr", &[][..]) };
    let restart = registry::restart(restart).and_then(|entry| entry.build(initial, rule).ok());
    let restart = restart.unwrap_or_else(|| AnyRestart::Rfc5681(firstflight::restart::Rfc5681::new(initial)));
    let law = registry::law(if cubic { "cubic-linux" } else { "reno" }).map(registry::LawEntry::build);
    let law = law.unwrap_or_else(|| firstflight::avoidance::Reno::default().into());
    Controller::new(scheme, restart, law)
}

fn time(micros: i64) -> Time {
    Time::ZERO + EPOCH + Span::from_micros(u64::try_from(micros).unwrap_or(0))
}

fn micros(time: Time) -> i64 {
    let since = time.since(Time::ZERO + EPOCH).nanos().div_ceil(1_000);
    i64::try_from(since).unwrap_or(i64::MAX)
}
