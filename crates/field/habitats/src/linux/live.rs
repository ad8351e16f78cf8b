//! Runs with the endpoint on UDP sockets at both ends.

use std::ffi::OsString;
use std::io::{BufRead, BufWriter, Stdout, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use firstflight_emulate::{B, PacketLog};
use firstflight_measure::Evidence;
use firstflight_scenario::Scenario;
use firstflight_scenario::keys::{Heading, key};
use firstflight_udp::{Listener, Options, Stream};

use super::words::{
    OUT_OF_TIME, PORT, Words, check_all, command, size, start_word, wait_for_start, write_part,
};
use crate::cell::Cell;
use crate::equal;
use crate::evidence::{Carrier, evidence};
use crate::figures::Figures;
use crate::late;
use crate::replies::replies;
use crate::sender_events::read_trace;

/// The names of the programs' roles in their arguments.
pub(super) const SENDER: &str = "live-send";
pub(super) const RECEIVER: &str = "live-receive";

/// The prefix of the keys of the two endpoints.
const KEY: &str = "key.";
/// The sender's buffer. It is practically endless, as in the simulator.
const SEND_BUFFER: u64 = 64 << 20;

/// Returns the commands of the programs at the two hosts.
pub(super) fn commands(cell: &Cell<'_>) -> [Vec<OsString>; 2] {
    [command(SENDER, settings(cell)), command(RECEIVER, settings(cell))]
}

/// Returns the settings of both endpoints: the settings of the simulator's endpoints, but with sizes that keep packets equal in number and
/// length.
pub(super) fn settings(cell: &Cell<'_>) -> Vec<String> {
    let Scenario { mss, .. } = cell.scenario;
    // The timers of a real host are late anyway, so they get no simulated noise.
    let of_the_ends = |name: &str| {
        let is_of_the_ends =
            key(name).is_some_and(|key| matches!(key.heading, Heading::Endpoints | Heading::Schemes));
        is_of_the_ends && name != "timer-noise"
    };
    let keys = cell.scenario.settings().into_iter().filter(|(name, _)| of_the_ends(name));
    let rounds = cell.scenario.rounds;
    let own = [
        format!("rounds={}", rounds.map_or(1, |rounds| rounds.count)),
        format!("idle={}", rounds.map_or(0, |rounds| rounds.idle.nanos())),
        format!("scheme={}", cell.choice),
        format!("datagram={}", equal::datagram(u64::from(cell.scenario.packet()))),
        format!("size={}", equal::transfer(size(cell.scenario), u64::from(*mss))),
        format!("limit={}", cell.scenario.limit.nanos()),
        start_word(cell.scenario),
    ];
    own.into_iter().chain(keys.map(|(name, value)| format!("{KEY}{name}={value}"))).collect()
}

/// Returns the options of the endpoint.
pub(super) fn options(settings: &[String]) -> Result<Options, String> {
    let words: Vec<OsString> = settings.iter().map(OsString::from).collect();
    read_options(&Words::new(&words)?)
}

fn read_options(words: &Words<'_>) -> Result<Options, String> {
    let options = Options::new(words.of("scheme")?).map_err(|error| error.to_string())?;
    let options =
        options.largest_datagram(words.number("datagram")?).send_buffer(SEND_BUFFER).memory(4 * SEND_BUFFER);
    words.under(KEY).try_fold(options, |options, (name, value)| {
        options.set(name, value).map_err(|error| error.to_string())
    })
}

/// Runs the program at host A. It sends the transfer, and writes the trace of its connection to its standard output.
pub(super) fn send(words: &[OsString]) -> Result<(), String> {
    let words = Words::new(words)?;
    wait_for_start(&words)?;
    let output = TraceOutput::default();
    let out = output.clone();
    let options =
        read_options(&words)?.traces(Arc::new(move |_| Ok(Box::new(out.clone()) as Box<dyn Write + Send>)));
    end_after(Duration::from_nanos(words.number("limit")?) + LATER, output);
    let stream = Stream::connect((B.v4, PORT), &options).map_err(|error| format!("connecting: {error}"))?;
    let (size, rounds): (u64, u64) = (words.number("size")?, words.number("rounds")?);
    let idle = Duration::from_nanos(words.number("idle")?);
    for round in 0..rounds {
        if round > 0 {
            while stream.snapshot().una < round * size {
                std::thread::sleep(LOOK);
            }
            std::thread::sleep(idle);
        }
        write_part(&stream, round * size, (round + 1) * size)?;
    }
    stream.finish(None).map_err(|error| error.to_string())
}

/// The interval at which the sender checks the cumulative ACK while it waits for the end of a reply.
const LOOK: Duration = Duration::from_millis(1);
/// The time from the limit to the sender's end. It ensures that the trace covers the transfer until its limit.
const LATER: Duration = Duration::from_millis(50);

/// Ends the process after this time. The trace is written, and nothing is sent to the peer.
fn end_after(time: Duration, output: TraceOutput) {
    std::thread::spawn(move || {
        std::thread::sleep(time);
        // The previous holder of the lock has written a whole record. No further record is written.
        let mut out = output.0.lock().unwrap_or_else(PoisonError::into_inner);
        let code = if out.flush().is_ok() { OUT_OF_TIME } else { 1 };
        std::process::exit(code);
    });
}

/// The output of the sender's trace, which writes whole records to the standard output.
#[derive(Clone)]
struct TraceOutput(Arc<Mutex<BufWriter<Stdout>>>);

impl Default for TraceOutput {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(BufWriter::with_capacity(1 << 20, std::io::stdout()))))
    }
}

impl Write for TraceOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// Runs the program at host B, which receives the transfer and checks each byte.
pub(super) fn receive(words: &[OsString]) -> Result<(), String> {
    let words = Words::new(words)?;
    let listener = Listener::bind((B.v4, PORT), &read_options(&words)?).map_err(|error| error.to_string())?;
    let (stream, _) = listener.accept().map_err(|error| error.to_string())?;
    let (size, rounds): (u64, u64) = (words.number("size")?, words.number("rounds")?);
    check_all(&stream, size * rounds)
}

/// Returns the figures of a run from its packets and the sender's trace. `None` if a program at one end was so late that the run is
/// invalid.
pub(super) fn figures(
    packet_log: &PacketLog,
    scenario: &Scenario,
    trace: impl BufRead,
) -> Result<Option<Figures>, String> {
    let Some(evidence) = whole_evidence(packet_log, scenario, trace)? else { return Ok(None) };
    let figures = Figures::new(&evidence, scenario, equal::segment(u64::from(scenario.mss)));
    // The endpoint computes rates without the UDP header.
    let packet = f64::from(scenario.packet());
    let exit_rate_bps = figures.exit_rate_bps.map(|rate| rate * packet / (packet - 8.0));
    Ok(Some(Figures { exit_rate_bps, ..figures }))
}

/// Returns the evidence of a run from its packets and the sender's trace. `None` if the run is invalid.
pub(super) fn whole_evidence(
    packet_log: &PacketLog,
    scenario: &Scenario,
    trace: impl BufRead,
) -> Result<Option<Evidence>, String> {
    let mss = equal::segment(u64::from(scenario.mss));
    let size = equal::transfer(size(scenario), u64::from(scenario.mss));
    let own = u16::try_from(mss).unwrap_or(u16::MAX);
    let rounds = scenario.rounds.map_or(1, |rounds| rounds.count);
    let mut evidence = evidence(packet_log, Carrier::Udp, own, size * u64::from(rounds), scenario.limit)
        .ok_or_else(|| "no connection was opened".to_owned())?;
    let heard = read_trace(trace).map_err(|error| format!("the sender's trace: {error}"))?;
    let ends = [
        late::of_sender(packet_log, Carrier::Udp, &heard.acks),
        late::of_receiver(packet_log, Carrier::Udp, &evidence, scenario.ack),
    ];
    if ends.into_iter().any(late::is_void) {
        return Ok(None);
    }
    if let (Some(rounds), Some(there)) = (scenario.rounds, evidence.recording.first_data_at) {
        evidence.replies = replies(&evidence.recording, &heard.acks_since(there), rounds.count, size);
    }
    heard.add_to(&mut evidence);
    Ok(Some(evidence))
}
