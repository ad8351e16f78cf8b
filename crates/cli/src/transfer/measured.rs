//! What a sender knows of a transfer, as a row of a race.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use firstflight_compare::{Overheard, overhear};
use firstflight_live::{Options, Traces};
use firstflight_measure::{Goal, Measured, ideal, row};
use firstflight_report::Record;
use serde_json::Value;

/// Bytes of the headers of IP and TCP, for the bytes of the ideal, which a transfer has not.
const HEADERS: u64 = 40;

/// The fields of a race's row that no sender knows: what happened in the network, to others, and what would have been best.
const UNKNOWN: [&str; 11] = [
    "packets_marked",
    "su_counts",
    "exit_cwnd_over_bdp",
    "time_to_90pct_s",
    "queue_peak_packets",
    "queue_mean_packets",
    "cross_lost_packets",
    "harm_bps",
    "ideal_kind",
    "seed",
    "scenario_hash",
];

/// Listens to the traces of connections, by their peers.
#[derive(Clone, Default)]
pub(super) struct Recorder(Arc<Mutex<BTreeMap<SocketAddr, Vec<Listening>>>>);

/// A trace that is being read.
struct Listening {
    /// `None` ends the trace.
    end: mpsc::Sender<Option<Vec<u8>>>,
    reader: JoinHandle<Option<Overheard>>,
}

impl Recorder {
    /// Where the traces go.
    pub(super) fn traces(&self) -> Traces {
        let all = Arc::clone(&self.0);
        Arc::new(move |peer| {
            let (sender, receiver) = mpsc::channel();
            let reader = std::thread::Builder::new()
                .spawn(move || overhear(BufReader::new(Lines { receiver, rest: Vec::new(), at: 0 })).ok())?;
            let listening = Listening { end: sender.clone(), reader };
            all.lock().unwrap_or_else(PoisonError::into_inner).entry(peer).or_default().push(listening);
            Ok(Box::new(Lent(sender)))
        })
    }

    /// What was heard of the connection with this peer; `None` if there is not exactly one, for then whose it is cannot be told.
    pub(super) fn take(&self, peer: SocketAddr) -> Option<Overheard> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&peer)?;
        let (Some(Listening { end, reader }), 0) = (all.pop(), all.len()) else { return None };
        // A reader that ended already hears nothing any more.
        let _ = end.send(None);
        reader.join().ok().flatten()
    }
}

/// The writer of a trace. It never waits: a connection would be late.
struct Lent(mpsc::Sender<Option<Vec<u8>>>);

impl Write for Lent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(Some(bytes.to_vec())).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The reader of a trace.
struct Lines {
    receiver: mpsc::Receiver<Option<Vec<u8>>>,
    rest: Vec<u8>,
    at: usize,
}

impl Read for Lines {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.at == self.rest.len() {
            let Ok(Some(next)) = self.receiver.recv() else { return Ok(0) };
            (self.rest, self.at) = (next, 0);
        }
        let read = self.rest.get(self.at..).unwrap_or_default().read(bytes)?;
        self.at += read;
        Ok(read)
    }
}

/// The row of a transfer.
pub(super) struct Row(pub(super) Record);

impl Row {
    /// The row that the sender's trace gives; `None` if the trace says nothing. `written` are all the bytes that the sender wrote.
    pub(super) fn of(options: &Options, heard: Overheard, written: u64) -> Option<Self> {
        let told = heard.of_transfer(written);
        let mss = u16::try_from(told.evidence.recording.mss).ok()?;
        let scenario = options.scenario(mss).ok()?;
        let goal = Goal::Transfer { ip_bytes: ideal::ip_bytes(written, u64::from(mss), HEADERS) };
        let measured = Measured {
            goal,
            base_rtt: told.min_rtt.unwrap_or(0),
            mss,
            ..scenario.measured(options.choice(), 0)
        };
        let Ok(Value::Object(mut fields)) = serde_json::to_value(row(&measured, &told.evidence)) else {
            return None;
        };
        for field in UNKNOWN {
            if let Some(value) = fields.get_mut(field) {
                *value = Value::Null;
            }
        }
        Some(Self(fields))
    }

    pub(super) fn json(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }
}
