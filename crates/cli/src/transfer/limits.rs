//! Limits on the resources of `firstflight serve` that strangers may use. docs/guide/transfer.md has the table.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use firstflight_scenario::quantity::{self, QuantityError};
use firstflight_udp::files::Folder;
use firstflight_udp::{Key, Options, SharedMemory};

use crate::failure::{Failure, Place};
use crate::targets::read_plain_text;

/// The minimum number of connections of a port. It applies if the limit of all ports together is not lower.
const MIN_OF_A_PORT: usize = 64;

#[derive(Args, Debug)]
pub(super) struct LimitKeys {
    /// How long to wait for a silent peer.
    #[arg(long, value_name = "TIME", default_value = "30s", allow_hyphen_values = true)]
    timeout: String,
    /// Connections at a time. One address has a quarter of this and of the other limits.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1024,
        value_parser = clap::value_parser!(u32).range(4..=65_536),
        help_heading = "Limits"
    )]
    connections: u32,
    /// Memory for data in transit, and for the records of connections that their rows need.
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "128MB",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    memory: String,
    /// Lines a second about peers on standard error.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=10_000),
        help_heading = "Limits"
    )]
    lines: u32,
    /// Disk space of all captures and qlogs; each counts as at least 64 KiB.
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "1GB",
        allow_hyphen_values = true,
        help_heading = "Limits"
    )]
    logs: String,
}

/// The limits, as read from the options.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) patience: Duration,
    connections: usize,
    memory: u64,
    pub(super) lines: u32,
    pub(super) logs: u64,
}

impl LimitKeys {
    pub(super) fn read(&self, arguments: &[String]) -> Result<Limits, Failure> {
        Ok(Limits {
            patience: patience(&self.timeout, arguments)?,
            connections: usize::try_from(self.connections).unwrap_or(usize::MAX),
            memory: bytes("--memory", &self.memory, arguments)?,
            lines: self.lines,
            logs: bytes("--logs", &self.logs, arguments)?,
        })
    }
}

impl Limits {
    /// Returns the memory for data in transit, which all ports share.
    pub(super) fn memory(&self) -> SharedMemory {
        SharedMemory::new(self.memory / 4 * 3)
    }

    /// Returns the options of one of several ports.
    pub(super) fn of_a_port(&self, options: Options, ports: usize, memory: &SharedMemory) -> Options {
        let connections = (self.connections / ports).max(MIN_OF_A_PORT.min(self.connections));
        options.connections(connections).backlog(connections).shared_memory(memory)
    }

    /// Returns the maximum number of bytes that the records of connections may have.
    pub(super) fn traces(&self) -> u64 {
        self.memory / 4
    }
}

/// How long a part is kept if the options do not say it.
const KEEP: &str = "24h";

#[derive(Args, Debug)]
pub(super) struct DiskKeys {
    /// With --uploads: disk space that peers may use: parts, and the files that arrive while the command runs; each counts as at least 64
    /// KiB [half of the free space at the beginning].
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, help_heading = "Limits")]
    disk: Option<String>,
    /// With --uploads: how long a part is kept after its last byte arrived [24h].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Limits")]
    keep: Option<String>,
}

impl DiskKeys {
    /// Returns the options, each with whether it was given.
    pub(super) fn given(&self) -> [(&'static str, bool); 2] {
        [("--disk", self.disk.is_some()), ("--keep", self.keep.is_some())]
    }

    /// Returns the number of bytes of disk that peers may use, and the time for which a part is kept.
    pub(super) fn read(&self, folder: &Folder, arguments: &[String]) -> Result<(u64, Duration), Failure> {
        let keep = span("--keep", self.keep.as_deref().unwrap_or(KEEP), arguments)?;
        let disk = match &self.disk {
            Some(text) => bytes("--disk", text, arguments)?,
            None => folder.free().map_err(Failure::usage)? / 2,
        };
        Ok((disk, keep))
    }
}

#[derive(Args, Debug)]
pub(super) struct KeyFile {
    /// A file with a key of 64 hexadecimal digits that both ends have. A peer without the key gets no answer.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

impl KeyFile {
    /// Returns the key in the file; `None` if no file was given.
    pub(super) fn read(&self, arguments: &[String]) -> Result<Option<Key>, Failure> {
        let Some(path) = &self.key else { return Ok(None) };
        let refuse = |why: String| {
            let place = Place::value(arguments, "--key", &path.to_string_lossy());
            Failure::usage(format!("--key: {}: {why}", path.display())).at(place)
        };
        let about = std::fs::metadata(path).map_err(|error| refuse(error.to_string()))?;
        if about.permissions().mode() & 0o077 != 0 {
            return Err(refuse("others may read it or write it; `chmod 600` keeps it".to_owned()));
        }
        let text = read_plain_text(path).map_err(|error| refuse(error.to_string()))?;
        let key = Key::parse(&text).ok_or_else(|| {
            refuse("64 hexadecimal digits are allowed there, as `openssl rand -hex 32` makes them".to_owned())
        })?;
        Ok(Some(key))
    }
}

/// Reads the time given with `--timeout`.
pub(super) fn patience(text: &str, arguments: &[String]) -> Result<Duration, Failure> {
    span("--timeout", text, arguments)
}

fn span(option: &str, text: &str, arguments: &[String]) -> Result<Duration, Failure> {
    let time = quantity::span(text).map_err(|error| refused(option, text, &error, arguments))?;
    Ok(Duration::from_nanos(time.nanos()))
}

fn bytes(option: &str, text: &str, arguments: &[String]) -> Result<u64, Failure> {
    Ok(quantity::bytes(text).map_err(|error| refused(option, text, &error, arguments))?.get())
}

fn refused(option: &str, text: &str, error: &QuantityError, arguments: &[String]) -> Failure {
    Failure::usage(format!("{option}: {error}")).at(Place::value(arguments, option, text))
}
