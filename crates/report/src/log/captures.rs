//! Captures of a flow at each end, as pcapng. The client's first data packet after an exit from start-up or restart has a
//! comment about the exit.

use std::collections::VecDeque;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use firstflight::{Cause, Exit, Note, Time};
use firstflight_measure::Tap;
use firstflight_tcp::{Happening, Role, Segment, Transmit};
use firstflight_wire::{Capture, CaptureError, End, Interface, Sighting};

use super::names::phase_name;
use super::naming::naming;
use crate::write::WholeFile;

/// The captures of one flow, at both ends.
pub struct Captures {
    /// The flow's number modulo [`PORTS`], which decides the client's port.
    flow: u32,
    /// The client's capture, and the server's.
    ends: [OneEnd; 2],
    /// The packets that each host sent and that have not arrived, by their numbers.
    under_way: [VecDeque<(u64, Segment)>; 2],
    /// How many packets each host sent.
    numbers: [u64; 2],
    /// Comments for the client's next data packet.
    remarks: Vec<String>,
    failed: Option<io::Error>,
}

/// The number of ports that clients have in captures: those from 40000 to 65535.
const PORTS: u32 = 65_536 - 40_000;

struct OneEnd {
    path: PathBuf,
    /// The capture; `None` once finished.
    capture: Option<Capture<WholeFile>>,
}

impl Captures {
    /// The names of a flow's files, the client's first.
    pub fn file_names(name: &str) -> [String; 2] {
        ["client", "server"].map(|host| format!("{name}-{host}.pcapng"))
    }

    /// Begins `NAME-client.pcapng` and `NAME-server.pcapng` in `folder`. The port of the client is 40000 plus the flow's number,
    /// and after port 65535 port 40000 follows again: two flows have one port if their numbers differ by a multiple of 25536.
    /// `snap` is the most bytes kept of a packet; `None` keeps whole packets.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn begin(folder: &Path, (name, flow): (&str, u32), snap: Option<NonZeroU32>) -> io::Result<Self> {
        let [client, server] = Self::file_names(name);
        let end = |at, host: &str, file: String| {
            let path = folder.join(file);
            let description = format!("{name}: the {host}'s end");
            let interface = Interface { at, name: host, description: &description, snap_length: snap };
            let file = WholeFile::create(&path).map_err(|error| naming(&path, &error.source))?;
            let capture = Capture::new(file, &interface).map_err(|error| naming(&path, &error))?;
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
                CaptureError::Write(error) => error,
                other => io::Error::other(other),
            };
            self.failed = Some(naming(&end.path, &error));
        }
    }

    /// The number of the packet from `from` that arrives.
    ///
    /// The path keeps order, so the packet is the first equal one that has not been overtaken. If two packets are equal and
    /// everything between them was lost, they cannot be told apart, and the first is chosen.
    fn arrived_number(&mut self, from: Role, segment: &Segment) -> u64 {
        let under_way = &mut self.under_way[index(from)];
        // The network may mark a packet, and routers may lower or deny a Quick-Start request.
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

    fn happening(&mut self, at: Time, role: Role, happening: &Happening) {
        if let (Role::Client, Happening::Control(note)) = (role, happening) {
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

/// The comment for a note: an exit from start-up or restart, with its cause and numbers, or the undo of an exit.
pub(super) fn remark(at: Time, note: Note) -> Option<String> {
    let at = format!("{}.{:09} s", at.nanos() / 1_000_000_000, at.nanos() % 1_000_000_000);
    match note {
        Note::Exited { exit: Exit { cause, learned }, phase, cwnd, flight } => {
            // After a loss, a timeout or a mark, the law decides the window, and it has not decided yet.
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
            Some(format!("start-up goes on after the restart at {at}: the exit before is void"))
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
