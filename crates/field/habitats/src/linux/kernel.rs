//! Runs with the kernel's own TCP at both ends.

use std::ffi::OsString;
use std::io::Read;
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::num::NonZeroU32;

use firstflight_capture::{Direction, PacketWriter, Passed, Tap};
use firstflight_emulate::linux::kernel::{RouteMetrics, set, set_route};
use firstflight_emulate::{B, Fate, HEAD, PacketLog, Side};
use firstflight_inspect::{Found, inspect};
use firstflight_scenario::{Scenario, SchemeChoice};
use firstflight_tcp::AckPolicy;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with, sockopt};

use super::words::{PORT, Words, check_all, command, size, start_word, wait_for_start, write_all};
use crate::cell::Cell;
use crate::evidence::{Carrier, evidence};
use crate::figures::Figures;

/// The names of the programs' roles in their arguments.
pub(super) const SENDER: &str = "kernel-send";
pub(super) const RECEIVER: &str = "kernel-receive";

/// The prefix of a host's settings.
const SYSCTL: &str = "ipv4.";
/// The receive window of the simulator's endpoints if none is set. It is so large that it has no effect.
const UNLIMITED: u64 = 1 << 30;
/// The maximum size of socket buffers. It is larger than any transfer that is compared needs.
const BUFFER: u64 = 256 << 20;
/// The initial send buffer, which is the kernel's default. It then grows with the window, as the simulator's send buffer does with Linux's
/// stack.
const SEND_BUFFER: u64 = 16 << 10;

/// Returns the reason why the kernel cannot run on this path as the simulator does; `None` if it can.
pub(super) fn refusal(scenario: &Scenario) -> Option<String> {
    let is_held = scenario.rwnd.get() < UNLIMITED;
    if is_held {
        return Some("its receive window follows its buffer, and cannot be held to --rwnd".to_owned());
    }
    let counts = matches!(scenario.ack, AckPolicy::Packets(_));
    counts.then(|| "its receiver decides when to acknowledge, and cannot follow --ack every:N".to_owned())
}

/// The keys of a scheme that the kernel can follow: the avoidance law, and the keys in [`settings`].
const OWN_KEYS: [&str; 4] = ["avoidance", "iw", "timestamps", "ecn"];

/// Returns the reason why the kernel cannot run the scheme with its own keys; `None` if it can.
pub(super) fn refusal_of_keys(choice: &SchemeChoice) -> Option<String> {
    let key = choice.own_keys().find(|key| !OWN_KEYS.contains(key))?;
    Some(format!("{key} is the kernel's own, and cannot be set for a scheme"))
}

/// Returns the commands of the programs at the two hosts.
pub(super) fn commands(cell: &Cell<'_>) -> [Vec<OsString>; 2] {
    let loaded = cell.loaded.as_ref().map(|loaded| loaded.name.as_str());
    let congestion_control = loaded.or(cell.subject.congestion_control).unwrap_or("reno");
    let words = settings(&cell.scenario.for_scheme(&cell.choice), congestion_control);
    [command(SENDER, words.clone()), command(RECEIVER, words)]
}

/// Returns the settings of both hosts: the settings of the simulator's endpoints that the kernel supports.
fn settings(scenario: &Scenario, congestion_control: &str) -> Vec<String> {
    let switch = |on: bool| u8::from(on).to_string();
    let sysctls = [
        ("tcp_timestamps", switch(scenario.timestamps)),
        ("tcp_sack", switch(scenario.recovery.uses_sack())),
        ("tcp_ecn", switch(scenario.ecn)),
        ("tcp_no_metrics_save", switch(true)),
        ("tcp_rmem", format!("4096 {BUFFER} {BUFFER}")),
        ("tcp_wmem", format!("4096 {SEND_BUFFER} {BUFFER}")),
    ];
    let own = [
        format!("congestion-control={congestion_control}"),
        format!("size={}", size(scenario)),
        format!("iw={}", scenario.iw),
        start_word(scenario),
        format!("quick={}", scenario.ack == AckPolicy::Every),
    ];
    own.into_iter().chain(sysctls.map(|(name, value)| format!("{SYSCTL}{name}={value}"))).collect()
}

/// Applies the settings to a host.
fn prepare(side: Side, words: &Words<'_>) -> Result<(), String> {
    for (name, value) in words.under(SYSCTL) {
        set(name, value).map_err(|error| error.to_string())?;
    }
    let metrics = RouteMetrics {
        initial_window: Some(words.number("iw")?),
        quick_acks: words.of("quick")? == "true",
        ..RouteMetrics::default()
    };
    set_route(side, metrics).map_err(|error| format!("the route: {error}"))
}

/// Runs the program at host A, which sends the transfer.
pub(super) fn send(words: &[OsString]) -> Result<(), String> {
    let words = Words::new(words)?;
    prepare(Side::A, &words)?;
    wait_for_start(&words)?;
    let mut stream = connect(words.of("congestion-control")?)?;
    write_all(&stream, words.number("size")?)?;
    stream.shutdown(Shutdown::Write).map_err(|error| error.to_string())?;
    match stream.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err("the receiver sent a byte".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Connects to host B. The congestion control is set on the socket, because a namespace's default must be one that the system allows
/// unprivileged users to select.
fn connect(congestion_control: &str) -> Result<TcpStream, String> {
    let says = |what: &'static str| move |error: Errno| format!("{what}: {}", std::io::Error::from(error));
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let socket = socket.map_err(says("a socket"))?;
    sockopt::set_tcp_congestion(&socket, congestion_control)
        .map_err(says("this kernel's congestion control"))?;
    rustix::net::connect(&socket, &SocketAddrV4::new(B.v4, PORT)).map_err(says("connecting"))?;
    Ok(TcpStream::from(socket))
}

/// Runs the program at host B, which receives the transfer and checks each byte.
pub(super) fn receive(words: &[OsString]) -> Result<(), String> {
    let words = Words::new(words)?;
    prepare(Side::B, &words)?;
    let listener = TcpListener::bind((B.v4, PORT)).map_err(|error| error.to_string())?;
    let (stream, _) = listener.accept().map_err(|error| error.to_string())?;
    check_all(&stream, words.number("size")?)
}

/// Returns the figures of a run from its packets. The sender's internal events are the events that `firstflight inspect` finds in the
/// packets.
pub(super) fn figures(packet_log: &PacketLog, scenario: &Scenario) -> Result<Figures, String> {
    let evidence = evidence(packet_log, Carrier::Ip, scenario.mss, size(scenario), scenario.limit)
        .ok_or_else(|| "no connection was opened".to_owned())?;
    let found = found(packet_log)?;
    #[expect(clippy::cast_precision_loss, reason = "a flight is far below 2^53 bytes")]
    let packets = |bytes: u64| bytes as f64 / f64::from(scenario.mss);
    Ok(Figures {
        exit_cause: found.exit_cause.map(str::to_owned),
        exit_time_s: found.exit_time_s,
        exit_window_packets: found.exit_flight_bytes.map(packets),
        ..Figures::of_packets(&evidence)
    })
}

/// Returns the events that `firstflight inspect` finds about the sender in a capture at host A.
fn found(packet_log: &PacketLog) -> Result<Found, String> {
    let capture = capture(packet_log).map_err(|error| error.to_string())?;
    let inspection = inspect(capture.as_slice(), false).map_err(|error| error.to_string())?;
    let sender = inspection.senders.into_iter().map(|sender| sender.found);
    sender
        .into_iter()
        .find(|found| found.role == Some("client"))
        .ok_or_else(|| "no sender was seen".to_owned())
}

/// Returns a capture at host A's interface. Packets from A have the time of their entry into the path, packets to A the time of their
/// delivery.
fn capture(packet_log: &PacketLog) -> std::io::Result<Vec<u8>> {
    let snap_length = u32::try_from(HEAD).ok().and_then(NonZeroU32::new);
    let tap = Tap { name: "A", description: "host A", snap_length };
    let mut passed: Vec<_> = packet_log
        .packets()
        .iter()
        .filter_map(|packet| match (packet.from, packet.fate) {
            (Side::A, _) => Some((packet.entered, Direction::Outbound, packet)),
            (Side::B, Fate::Delivered(at)) => Some((at, Direction::Inbound, packet)),
            (Side::B, _) => None,
        })
        .collect();
    passed.sort_by_key(|(at, ..)| *at);
    let mut capture = PacketWriter::new(Vec::new(), &[tap])?;
    for (at, direction, packet) in passed {
        let mut bytes = packet_log.head(packet).to_vec();
        bytes.resize(packet.length, 0);
        capture.packet(&Passed { tap: 0, at: at.nanos(), direction, bytes: &bytes, comment: "" })?;
    }
    capture.finish()
}
