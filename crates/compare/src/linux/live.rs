//! The endpoint on UDP sockets at both ends.

use std::ffi::OsString;
use std::io::{BufRead, BufWriter, Stdout, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use firstflight_emulate::{B, Tape};
use firstflight_live::{Listener, Options, Stream};
use firstflight_measure::Evidence;
use firstflight_scenario::Scenario;
use firstflight_scenario::keys::{Heading, key};

use super::words::{
    OUT_OF_TIME, PORT, Words, check_all, command, size, start_word, wait_for_start, write_part,
};
use crate::cell::Cell;
use crate::equal;
use crate::evidence::{Carrier, evidence};
use crate::figures::Figures;
use crate::heard::hear;
use crate::late;
use crate::replies::replies;

/// The roles in the arguments.
pub(super) const SENDER: &str = "live-send";
pub(super) const RECEIVER: &str = "live-receive";

/// What stands before the keys of the two ends.
const KEY: &str = "key.";
/// A sender's buffer: as good as endless, as the simulator's.
const SEND_BUFFER: u64 = 64 << 20;

/// The programs of a run.
pub(super) fn commands(cell: &Cell<'_>) -> [Vec<OsString>; 2] {
    [command(SENDER, settings(cell)), command(RECEIVER, settings(cell))]
}

/// The settings of both ends: those of the simulator's, packets as long and as many.
pub(super) fn settings(cell: &Cell<'_>) -> Vec<String> {
    let Scenario { mss, .. } = cell.scenario;
    let of_the_ends = |name: &str| {
        key(name).is_some_and(|key| matches!(key.heading, Heading::Endpoints | Heading::Schemes))
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

/// The options of the endpoint.
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

/// The program at host A: sends, and writes the trace of its connection to its standard output.
pub(super) fn send(words: &[OsString]) -> Result<(), String> {
    let words = Words::new(words)?;
    wait_for_start(&words)?;
    let told = Told::default();
    let out = told.clone();
    let options =
        read_options(&words)?.traces(Arc::new(move |_| Ok(Box::new(out.clone()) as Box<dyn Write + Send>)));
    end_after(Duration::from_nanos(words.number("limit")?) + LATER, told);
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

/// The time between two looks at the acknowledged part of the stream, while the sender waits for the end of a reply.
const LOOK: Duration = Duration::from_millis(1);
/// How long after the limit the sender ends: nothing of the transfer's life is missed.
const LATER: Duration = Duration::from_millis(50);

/// Ends the process after a time, with its trace written, and with nothing said to the peer.
fn end_after(time: Duration, told: Told) {
    std::thread::spawn(move || {
        std::thread::sleep(time);
        // Whoever holds the lock has written a whole record; none is written any more.
        let mut out = told.0.lock().unwrap_or_else(PoisonError::into_inner);
        let code = if out.flush().is_ok() { OUT_OF_TIME } else { 1 };
        std::process::exit(code);
    });
}

/// The sender's trace on its way to the standard output, in whole records.
#[derive(Clone)]
struct Told(Arc<Mutex<BufWriter<Stdout>>>);

impl Default for Told {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(BufWriter::with_capacity(1 << 20, std::io::stdout()))))
    }
}

impl Write for Told {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// The program at host B: receives, and checks each byte.
pub(super) fn receive(words: &[OsString]) -> Result<(), String> {
    let words = Words::new(words)?;
    let listener = Listener::bind((B.v4, PORT), &read_options(&words)?).map_err(|error| error.to_string())?;
    let (stream, _) = listener.accept().map_err(|error| error.to_string())?;
    let (size, rounds): (u64, u64) = (words.number("size")?, words.number("rounds")?);
    check_all(&stream, size * rounds)
}

/// The figures of a run, from its packets and the sender's trace; `None` if an end was too late for the run to count.
pub(super) fn figures(
    tape: &Tape,
    scenario: &Scenario,
    trace: impl BufRead,
) -> Result<Option<Figures>, String> {
    let Some(evidence) = whole_evidence(tape, scenario, trace)? else { return Ok(None) };
    let figures = Figures::new(&evidence, scenario, equal::segment(u64::from(scenario.mss)));
    // The endpoint counts rates without UDP's header.
    let packet = f64::from(scenario.packet());
    let exit_rate_bps = figures.exit_rate_bps.map(|rate| rate * packet / (packet - 8.0));
    Ok(Some(Figures { exit_rate_bps, ..figures }))
}

/// The evidence of a run, likewise.
pub(super) fn whole_evidence(
    tape: &Tape,
    scenario: &Scenario,
    trace: impl BufRead,
) -> Result<Option<Evidence>, String> {
    let mss = equal::segment(u64::from(scenario.mss));
    let size = equal::transfer(size(scenario), u64::from(scenario.mss));
    let own = u16::try_from(mss).unwrap_or(u16::MAX);
    let rounds = scenario.rounds.map_or(1, |rounds| rounds.count);
    let mut evidence = evidence(tape, Carrier::Udp, own, size * u64::from(rounds), scenario.limit)
        .ok_or_else(|| "no connection was opened".to_owned())?;
    let heard = hear(trace).map_err(|error| format!("the sender's trace: {error}"))?;
    let ends = [
        late::of_sender(tape, Carrier::Udp, &heard.acks),
        late::of_receiver(tape, Carrier::Udp, &evidence, scenario.ack),
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
