//! Compares the facts of the reader in C with the capture of the same connection at its sender.
//!
//! Equal decisions show that a scheme was translated correctly, but say nothing about its input: with wrong facts a scheme decides wrongly,
//! and so does its twin.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;

use firstflight_capture::Reader;
use firstflight_kernel_parity::{Kind, Record};
use firstflight_wire::decode_snapped;

/// Tolerance of times: a capture records a transmission when the relay takes the packet, and an arrival when the relay passes it on. The
/// kernel's actions in between may be earlier or later by this much.
const SLACK_NS: u64 = 1_000_000;
/// Minimum share of the facts that must agree with the capture, in hundredths: a machine under load stamps some late.
const ENOUGH: usize = 95;

/// A connection as its sender's interface saw it.
#[derive(Debug, Default)]
struct Seen {
    interface: u32,
    begin: Option<u32>,
    departures: Vec<Departure>,
    arrivals: Vec<Arrival>,
}

#[derive(Clone, Copy, Debug)]
struct Departure {
    at: u64,
    /// Offsets in the stream.
    start: u32,
    end: u32,
}

#[derive(Clone, Debug)]
struct Arrival {
    at: u64,
    una: u32,
    sacked: Vec<(u32, u32)>,
}

/// Compares the records' ACKs with the capture, and prints the share that agrees.
///
/// # Errors
/// Facts that do not agree, or the error of a file.
pub(crate) fn run(records: &str, capture: &str) -> Result<(), String> {
    let records = crate::read(records)?;
    let seen = read(capture)?;
    let mut sum = Agreement::default();
    for (port, socket) in begins(&records) {
        let connection =
            seen.get(&port).ok_or_else(|| format!("{capture}: no connection from port {port}"))?;
        let acks = records.iter().filter(|record| record.kind == Kind::Acked && record.socket == socket);
        connection.compare(acks, &mut sum);
    }
    sum.verdict()
}

/// Returns the connections of the records: their ports and sockets.
fn begins(records: &[Record]) -> Vec<(u16, u64)> {
    let begins = records.iter().filter(|record| record.kind == Kind::Began);
    begins.map(|record| (record.port, record.socket)).collect()
}

fn read(name: &str) -> Result<BTreeMap<u16, Seen>, String> {
    let refuse = |error: &dyn std::fmt::Display| format!("{name}: {error}");
    let file = File::open(name).map_err(|error| refuse(&error))?;
    let mut capture = Reader::new(BufReader::new(file)).map_err(|error| refuse(&error))?;
    let mut seen: BTreeMap<u16, Seen> = BTreeMap::new();
    while let Some(frame) = capture.next_frame().map_err(|error| refuse(&error))? {
        let Ok(packet) = decode_snapped(frame.data) else { continue };
        let segment = packet.segment;
        let from = packet.addresses.source_port;
        let to = packet.addresses.destination_port;
        let is_syn = segment.flags.has(firstflight_tcp::Flags::SYN);
        if is_syn && !segment.flags.has(firstflight_tcp::Flags::ACK) && !seen.contains_key(&from) {
            let begin = Some(segment.seq.wrapping_add(1));
            seen.insert(from, Seen { interface: frame.interface, begin, ..Seen::default() });
        } else if let Some(connection) = seen.get_mut(&from).filter(|seen| seen.interface == frame.interface)
        {
            // A FIN takes a place in the sequence too.
            connection.left(frame.at, segment.seq, segment.sequence_length());
        } else if let Some(connection) =
            seen.get_mut(&to).filter(|seen| seen.interface == frame.interface && !is_syn)
        {
            let begin = connection.begin.unwrap_or_default();
            let offset = |number: u32| number.wrapping_sub(begin);
            let sacked =
                segment.sack_blocks().iter().map(|block| (offset(block.start), offset(block.end))).collect();
            connection.arrivals.push(Arrival { at: frame.at, una: offset(segment.ack), sacked });
        }
    }
    Ok(seen)
}

impl Seen {
    fn left(&mut self, at: u64, seq: u32, length: u32) {
        if length > 0 {
            let start = seq.wrapping_sub(self.begin.unwrap_or_default());
            self.departures.push(Departure { at, start, end: start.wrapping_add(length) });
        }
    }

    /// Returns the end of what had left by `at`.
    fn sent_by(&self, at: u64) -> u32 {
        self.departures.iter().take_while(|sent| sent.at <= at).map(|sent| sent.end).max().unwrap_or(0)
    }

    fn compare<'a>(&self, acks: impl Iterator<Item = &'a Record>, sum: &mut Agreement) {
        let mut next = 0;
        // The indices of the transmissions that were delivered.
        let mut delivered = vec![false; self.departures.len()];
        let mut starts = BTreeSet::new();
        // Linux counts the SYN as delivered.
        let mut count = 1;
        for record in acks {
            let facts = &record.facts;
            let Ok(una) = u32::try_from(facts.una) else { continue };
            // Linux takes ACKs that wait for the socket together.
            let Some(at) = (next..self.arrivals.len()).find(|&at| self.arrivals[at].una == una) else {
                sum.unknown += 1;
                continue;
            };
            let mut newest = None;
            for arrival in &self.arrivals[next..=at] {
                for (number, sent) in self.departures.iter().enumerate() {
                    let covers = |&(start, end): &(u32, u32)| start <= sent.start && sent.end <= end;
                    let is_there = sent.end <= arrival.una || arrival.sacked.iter().any(covers);
                    if is_there && !delivered[number] && sent.at <= arrival.at {
                        delivered[number] = true;
                        // Retransmitted data is delivered once, and which of the copies arrived is not known.
                        let copies = self.departures.iter().filter(|other| other.start == sent.start).count();
                        count += u32::from(starts.insert(sent.start));
                        newest = if copies == 1 { Some(sent.at) } else { None };
                    }
                }
            }
            next = at + 1;
            let arrival = &self.arrivals[at];
            sum.acks += 1;
            sum.delivered += usize::from(facts.delivered == count);
            let flight = |at| self.sent_by(at).wrapping_sub(una);
            let range = flight(arrival.at.saturating_sub(SLACK_NS))..=flight(arrival.at + SLACK_NS);
            sum.flight += usize::from(range.contains(&facts.flight));
            sum.flight_exactly += usize::from(flight(arrival.at) == facts.flight);
            if let (Some(newest), true) = (newest, facts.rtt_us > 0) {
                let rtt = arrival.at.saturating_sub(newest);
                sum.rtts.push(u64::from(facts.rtt_us).saturating_mul(1000).abs_diff(rtt));
            }
        }
    }
}

/// Number of facts that agree with the capture.
#[derive(Debug, Default)]
struct Agreement {
    acks: usize,
    unknown: usize,
    delivered: usize,
    flight: usize,
    flight_exactly: usize,
    /// By how much round-trip times differ, in nanoseconds.
    rtts: Vec<u64>,
}

impl Agreement {
    fn verdict(mut self) -> Result<(), String> {
        if self.acks == 0 {
            return Err("no ACK of the records is in the capture".to_owned());
        }
        self.rtts.sort_unstable();
        let within = self.rtts.iter().filter(|&&difference| difference <= SLACK_NS).count();
        let median = self.rtts.get(self.rtts.len() / 2).copied().unwrap_or_default() / 1000;
        let Self { acks, unknown, delivered, flight, flight_exactly, .. } = self;
        let samples = self.rtts.len();
        let said = format!(
            "facts of {acks} ACKs: delivered as captured {delivered}, flight {flight} (to the byte {flight_exactly}), \
             {within} of {samples} round trips within 1 ms (median {median} us apart)"
        );
        let enough = |share: usize, of: usize| share * 100 >= of * ENOUGH;
        let agrees = enough(acks, acks + unknown)
            && enough(delivered, acks)
            && enough(flight, acks)
            && samples > 0
            && enough(within, samples);
        if !agrees {
            return Err(format!("{said}; {unknown} ACKs are not in the capture"));
        }
        println!("{said}");
        Ok(())
    }
}
