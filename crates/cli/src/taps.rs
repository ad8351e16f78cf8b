//! What listens to the first run of each scheme: captures, event logs, both or neither.

use std::io;
use std::num::NonZeroU32;
use std::path::PathBuf;

use firstflight::Time;
use firstflight_lab::Tap;
use firstflight_sim::Side;
use firstflight_tcp::{Happening, Segment, Transmit};

use crate::captures::{Captures, naming};
use crate::events::Events;

/// Where taps write.
pub(crate) struct Taps {
    pub(crate) pcap: Option<PathBuf>,
    pub(crate) events: Option<PathBuf>,
    /// The most bytes kept of a captured packet.
    pub(crate) snap: Option<NonZeroU32>,
}

impl Taps {
    /// Makes the folders.
    pub(crate) fn make_folders(&self) -> io::Result<()> {
        for folder in [&self.pcap, &self.events].into_iter().flatten() {
            std::fs::create_dir_all(folder).map_err(|error| naming(folder, &error))?;
        }
        Ok(())
    }

    /// The tap for the row `name`.
    pub(crate) fn begin(&self, name: &str) -> io::Result<Option<Box<dyn Tap>>> {
        let mut taps: Vec<Box<dyn Tap>> = Vec::new();
        if let Some(folder) = &self.pcap {
            taps.push(Box::new(Captures::begin(folder, name, self.snap)?));
        }
        if let Some(folder) = &self.events {
            taps.push(Box::new(Events::begin(folder, name)?));
        }
        Ok(match taps.len() {
            0 => None,
            1 => taps.pop(),
            _ => Some(Box::new(All(taps))),
        })
    }
}

/// Several at once.
struct All(Vec<Box<dyn Tap>>);

impl Tap for All {
    fn sent(&mut self, at: Time, side: Side, transmit: &Transmit, offset: u64) {
        self.0.iter_mut().for_each(|tap| tap.sent(at, side, transmit, offset));
    }

    fn arrived(&mut self, at: Time, side: Side, segment: &Segment, offset: u64) {
        self.0.iter_mut().for_each(|tap| tap.arrived(at, side, segment, offset));
    }

    fn happening(&mut self, at: Time, side: Side, happening: &Happening) {
        self.0.iter_mut().for_each(|tap| tap.happening(at, side, happening));
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.iter_mut().try_for_each(|tap| tap.finish())
    }
}
