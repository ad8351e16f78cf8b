//! Captures of a flow at both ends, as pcapng. A comment on the client's first data packet after an exit from start-up or restart describes
//! the exit.

use std::collections::VecDeque;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use firstflight::{Cause, Exit, Note, Time};
use firstflight_capture::{End, Interface, SegmentWriter, Sighting, WriteError};
use firstflight_measure::Tap;
use firstflight_tcp::{EndpointEvent, Role, Segment, Transmit};

use super::names::phase_name;
use super::naming::naming;
use crate::write::WholeFile;

/// The captures of one flow, at both ends.
pub struct Captures {
    /// The flow's number modulo [`PORTS`], which determines the client's port.
    flow: u32,
    /// The capture at the client, and the capture at the server.
    ends: [OneEnd; 2],
    /// For each host, the packets that it sent and that have not arrived, with their numbers.
    under_way: [VecDeque<(u64, Segment)>; 2],
    /// The number of packets that each host has sent.
    numbers: [u64; 2],
    /// Comments that the client's next data packet will have.
    remarks: Vec<String>,
    failed: Option<io::Error>,
}

/// The number of ports that clients use in captures: 40000 to 65535.
const PORTS: u32 = 65_536 - 40_000;

struct OneEnd {
    path: PathBuf,
    /// The capture; `None` after it was finished.
    capture: Option<SegmentWriter<WholeFile>>,
}

impl Captures {
    /// Returns the names of a flow's files: the client's capture, then the server's.
    pub fn file_names(name: &str) -> [String; 2] {
        ["client", "server"].map(|host| format!("{name}-{host}.pcapng"))
    }

    /// Starts `NAME-client.pcapng` and `NAME-server.pcapng` in `folder`. The client's port is 40000 plus the flow's number. After 65535 the
    /// ports start again at 40000, so two flows have the same port if their numbers differ by a multiple of 25536. `snap` is the maximum
    /// number of bytes kept of a packet; `None` keeps whole packets.
    ///
    /// # Errors
    /// Fails if a file cannot be created.
    pub fn begin(folder: &Path, (name, flow): (&str, u32), snap: Option<NonZeroU32>) -> io::Result<Self> {
        let [client, server] = Self::file_names(name);
        let end = |at, host: &str, file: String| {
            let path = folder.join(file);
            let description = format!("{name}: the {host}'s end");
            let interface = Interface { at, name: host, description: &description, snap_length: snap };
            let file = WholeFile::create(&path).map_err(|error| naming(&path, &error.source))?;
            let capture = SegmentWriter::new(file, &interface).map_err(|error| naming(&path, &error))?;
            Ok::<_, io::Error>(OneEnd { path, capture: Some(capture) })
        };
        Ok(Self {
            flow: flow % PORTS,
            ends: [end(End::Client, "client", client)?, end(End::Server, "server", server)?],
            under_way: Default::default(),
            numbers: [0; 2],
            remarks: Vec::new(),
            failed: None,
        })
    }

    fn add(&mut self, at_side: Role, seen: &Sighting<'_>) {
        let end = &mut self.ends[index(at_side)];
        if self.failed.is_some() {
            return;
        }
        if let Some(capture) = &mut end.capture
            && let Err(error) = capture.packet(seen)
        {
            let error = match error {
                WriteError::Write(error) => error,
                other => io::Error::other(other),
            };
            self.failed = Some(naming(&end.path, &error));
        }
    }

    /// Returns the number of a packet that arrives, sent by `from`.
    ///
    /// The path keeps order, so the packet is the first one that is equal to the arriving one and has not been overtaken. Two equal packets
    /// cannot be distinguished if everything between them was lost; then the first is chosen.
    fn arrived_number(&mut self, from: Role, segment: &Segment) -> u64 {
        let under_way = &mut self.under_way[index(from)];
        // Packets are equal even if the network marked one, or if a router lowered or denied its Quick-Start request.
        let alike = |sent: &Segment| {
            let mut quick_start = sent.quick_start;
            if quick_start.ip().is_some() {
                quick_start.set_ip(segment.quick_start.ip());
            }
            Segment { ecn: segment.ecn, quick_start, ..*sent } == *segment
        };
        let Some(place) = under_way.iter().position(|(_, sent)| alike(sent)) else { return 0 };
        under_way.drain(..=place).next_back().map_or(0, |(number, _)| number)
    }
}

impl Tap for Captures {
    fn sent(&mut self, at: Time, role: Role, transmit: &Transmit, offset: u64) {
        let number = self.numbers[index(role)];
        self.numbers[index(role)] += 1;
        self.under_way[index(role)].push_back((number, transmit.segment));
        let segment = &transmit.segment;
        let is_data = role == Role::Client && segment.len > 0;
        let comment = if is_data { std::mem::take(&mut self.remarks).join("; ") } else { String::new() };
        let from = end_of(role);
        self.add(role, &Sighting { at, flow: self.flow, from, number, segment, offset, comment: &comment });
    }

    fn arrived(&mut self, at: Time, role: Role, segment: &Segment, offset: u64) {
        let number = self.arrived_number(role.other(), segment);
        let from = end_of(role.other());
        self.add(role, &Sighting { at, flow: self.flow, from, number, segment, offset, comment: "" });
    }

    fn event(&mut self, at: Time, role: Role, event: &EndpointEvent) {
        if let (Role::Client, EndpointEvent::Control(note)) = (role, event) {
            self.remarks.extend(remark(at, *note));
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        for end in &mut self.ends {
            if let Some(capture) = end.capture.take() {
                let file = capture.finish().map_err(|error| naming(&end.path, &error))?;
                file.commit().map_err(|error| naming(&end.path, &error.source))?;
            }
        }
        Ok(())
    }
}

/// Returns the comment for a note about an exit from start-up or restart, with its cause and numbers, or about the undo of an exit. `None`
/// for other notes.
pub(super) fn remark(at: Time, note: Note) -> Option<String> {
    let at = format!("{}.{:09} s", at.nanos() / 1_000_000_000, at.nanos() % 1_000_000_000);
    match note {
        Note::Exited { exit: Exit { cause, learned }, phase, cwnd, flight } => {
            // After a loss, a timeout or a mark, the avoidance law will set the window, but has not done so yet.
            let then = match cause {
                Cause::Loss | Cause::Timeout | Cause::Mark => "the window is reduced for it".to_owned(),
                _ => format!("goes on with {} bytes", learned.window.get()),
            };
            let ssthresh = learned.ssthresh.map(|bytes| format!(", ssthresh {} bytes", bytes.get()));
            let rate = learned.rate.map(|rate| format!(", found {} bit/s", rate.bps()));
            Some(format!(
                "{} left by {} at {at}: cwnd {} bytes, {} in flight; {then}{}{}",
                phase_name(phase),
                cause.name(),
                cwnd.get(),
                flight.get(),
                ssthresh.unwrap_or_default(),
                rate.unwrap_or_default()
            ))
        }
        Note::Continued => {
            Some(format!("start-up goes on after the restart at {at}: the earlier exit is invalid"))
        }
        Note::Undone { exit: true } => Some(format!(
            "the reduction was spurious and undone at {at}, and the exit with it: start-up goes on"
        )),
        Note::Undone { exit: false } | Note::Began(_) | Note::Reduced { .. } => None,
    }
}

fn index(role: Role) -> usize {
    usize::from(role == Role::Server)
}

fn end_of(role: Role) -> End {
    match role {
        Role::Client => End::Client,
        Role::Server => End::Server,
    }
}
