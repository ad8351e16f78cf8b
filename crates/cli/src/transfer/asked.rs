//! The options of `firstflight serve`, `get` and `put`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use firstflight_export::log::{LoggedEnd, QlogSchema};
use firstflight_udp::files::Way;

use super::ends::Mtu;
use super::limits::{DiskKeys, KeyFile, LimitKeys};
use super::logs::Wanted;
use super::reported::Page;
use crate::failure::{Failure, Place};
use crate::keys::EndKeys;
use crate::targets::{Input, check_file, check_folder, snap};

#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// The folder. Nothing outside it is sent or written, and no file whose name begins with a dot.
    #[arg(value_name = "DIR")]
    pub(super) folder: PathBuf,
    /// Take files from `put` into the folder, instead of sending those that are there.
    #[arg(long)]
    uploads: bool,
    /// With --uploads: replace files that are there.
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Schemes, each on a separate port: the first on --port, the others on the following ports [hystart++:avoidance=cubic].
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(super) schemes: Option<String>,
    #[command(flatten)]
    pub(super) at: At,
    #[command(flatten)]
    pub(super) disk: DiskKeys,
    #[command(flatten)]
    pub(super) ends: EndKeys,
    /// Print only JSON: a row for each file sent, with the fields of a race's rows, or a line for each file received.
    #[arg(long, help_heading = "Output")]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) drawn: Reporting,
    #[command(flatten)]
    pub(super) logs: Logging,
}

impl Serve {
    /// Returns these options with `--uploads`.
    pub(crate) fn uploads(self) -> Self {
        Self { uploads: true, ..self }
    }

    /// Returns the direction in which the server transfers files.
    ///
    /// # Errors
    /// Fails for an option of the other direction.
    pub(super) fn way(&self, arguments: &[String]) -> Result<Way, Failure> {
        let (other, why) = if self.uploads {
            let given = [("--schemes", self.schemes.is_some()), ("--report", self.drawn.report.is_some())];
            (given.to_vec(), "it is of files that are sent, and --uploads takes files")
        } else {
            let given = [("--force", self.force)].into_iter().chain(self.disk.given());
            (given.collect(), "it is of files that arrive, which --uploads allows")
        };
        if let Some((option, _)) = other.into_iter().find(|(_, is_given)| *is_given) {
            return Err(
                Failure::usage(format!("{option}: {why}")).at(Place::value(arguments, option, option))
            );
        }
        Ok(if self.uploads { Way::Receive { replaces: self.force } } else { Way::Send })
    }
}

#[derive(Args, Debug)]
pub(crate) struct Get {
    /// Files, each as the server and the path below its folder. A path that ends in `/` is a folder with all that is in it.
    #[arg(value_name = "HOST:PORT/PATH", required = true)]
    pub(super) from: Vec<String>,
    /// Print what is in the folders, and fetch nothing.
    #[arg(long, conflicts_with_all = ["output", "force"])]
    pub(super) list: bool,
    /// The file to write, or the folder to write into; - is standard output [the last name of each path, in the current folder].
    #[arg(long, short, value_name = "PATH", allow_hyphen_values = true, help_heading = "Output")]
    pub(super) output: Option<PathBuf>,
    /// Replace files that are there.
    #[arg(long, help_heading = "Output")]
    pub(super) force: bool,
    /// How long to wait for a silent peer.
    #[arg(long, value_name = "TIME", default_value = "30s", allow_hyphen_values = true)]
    pub(super) timeout: String,
    #[command(flatten)]
    pub(super) mtu: Mtu,
    #[command(flatten)]
    pub(super) key: KeyFile,
    #[command(flatten)]
    pub(super) ends: EndKeys,
    /// Print only JSON, a line for each file: path, length, what was there before, SHA-256, time. With --list: path and length.
    #[arg(long, help_heading = "Output")]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) logs: Logging,
}

#[derive(Args, Debug)]
pub(crate) struct Put {
    /// Files to send, and folders with all that is in them.
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
    /// The server, and the path below its folder: of the file, or of the folder for several or if it ends in `/` [the file's name].
    #[arg(value_name = "HOST:PORT[/PATH]")]
    pub(super) to: String,
    /// Schemes: each file is sent once with each; with several, the path ends in the scheme's name [hystart++:avoidance=cubic].
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(super) schemes: Option<String>,
    /// How long to wait for a silent peer.
    #[arg(long, value_name = "TIME", default_value = "30s", allow_hyphen_values = true)]
    pub(super) timeout: String,
    #[command(flatten)]
    pub(super) mtu: Mtu,
    #[command(flatten)]
    pub(super) key: KeyFile,
    #[command(flatten)]
    pub(super) ends: EndKeys,
    /// Print only JSON: a row for each file and scheme, with the fields of a race's rows.
    #[arg(long, help_heading = "Output")]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) drawn: Reporting,
    #[command(flatten)]
    pub(super) logs: Logging,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct Reporting {
    /// Write a report at the end: one HTML file that opens offline, with the first 12 transfers drawn.
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct Logging {
    /// Write a pcapng capture of each connection at this end.
    #[arg(long, value_name = "DIR")]
    pub(super) pcap: Option<PathBuf>,
    /// Keep only this much of each captured packet, such as 128B [all].
    #[arg(long, value_name = "BYTES", requires = "pcap", allow_hyphen_values = true)]
    pub(super) snap: Option<String>,
    /// Write what this end did in each connection as qlog, the format of QUIC's tools.
    #[arg(long, value_name = "DIR")]
    pub(super) qlog: Option<PathBuf>,
    /// The schema of qlogs: 0.3, which qvis reads, or draft, the newest draft [0.3].
    #[arg(long, value_name = "VERSION", requires = "qlog")]
    pub(super) qlog_schema: Option<QlogSchema>,
}

impl Logging {
    /// Creates the folders, and returns the records that the options request.
    pub(super) fn wanted(
        &self,
        end: LoggedEnd,
        report: bool,
        arguments: &[String],
    ) -> Result<Wanted, Failure> {
        let snap = snap(self.snap.as_deref(), arguments)?;
        for (option, folder) in [("--pcap", &self.pcap), ("--qlog", &self.qlog)] {
            let Some(folder) = folder else { continue };
            let made = std::fs::create_dir_all(folder).and_then(|()| check_folder(folder));
            made.map_err(|error| {
                let place = Place::value(arguments, option, &folder.to_string_lossy());
                Failure::usage(format!("{option}: cannot write into {}: {error}", folder.display())).at(place)
            })?;
        }
        let schema = self.qlog_schema.unwrap_or_default();
        let qlog = self.qlog.clone().map(|folder| (folder, schema));
        Ok(Wanted { end, pcap: self.pcap.clone(), qlog, snap, report, waits: false })
    }
}

impl Reporting {
    /// Returns the page of the report, after testing that its file can be written.
    pub(super) fn page(&self, inputs: &[Input<'_>], arguments: &[String]) -> Result<Page, Failure> {
        if let Some(path) = &self.report {
            check_file("--report", path, inputs, arguments)?;
        }
        Ok(Page::new(self.report.clone()))
    }
}

#[derive(Args, Debug)]
pub(super) struct At {
    /// The address to listen at. Only this machine reaches the default; 0.0.0.0 is every address of this machine.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(super) bind: IpAddr,
    /// The UDP port; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 4433)]
    pub(super) port: u16,
    #[command(flatten)]
    pub(super) mtu: Mtu,
    #[command(flatten)]
    pub(super) key: KeyFile,
    #[command(flatten)]
    pub(super) limits: LimitKeys,
}
