//! The state that all connections of a port of `firstflight serve` share, and the report on each connection.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use firstflight_udp::files::{Folder, Quota, Share, TransferError, Transferred, Way};
use firstflight_udp::{Options, Source};

use super::logs::FAILED;
use super::reported::Page;
use super::watched::{Connection, Watchers};
use super::{measured, said};
use crate::clock::now;
use crate::failure::Failure;
use crate::lines::Lines;
use crate::output;

/// The settings that the connections of a port share.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) folder: Arc<Folder>,
    pub(super) way: Way,
    pub(super) patience: Duration,
    pub(super) watchers: Watchers,
    pub(super) quota: Option<Arc<Quota>>,
    pub(super) options: Options,
    pub(super) json: bool,
    pub(super) page: Page,
    pub(super) lines: Arc<Lines>,
    /// The first failure to print a row, if any. Transfers continue, and the command returns the failure when it ends.
    pub(super) unprinted: Arc<Mutex<Option<Failure>>>,
}

impl Server {
    /// Returns the share of the disk that a peer may use; `None` without a limit.
    pub(super) fn share(&self, peer: SocketAddr) -> Option<Share> {
        self.quota.as_ref().map(|quota| quota.share(Source::of(peer.ip()).address()))
    }

    /// Keeps a failure to print, and reports it if it is the first.
    fn keep(&self, printed: Result<(), Failure>) {
        let Err(failure) = printed else { return };
        let before = self.unprinted.lock().unwrap_or_else(PoisonError::into_inner).replace(failure);
        if before.is_none() {
            output::say("warning: standard output takes no more rows; the rest of them are lost");
        }
    }

    /// Reports the result of a connection to which `written` bytes were written.
    pub(super) fn conclude(
        &self,
        connection: &Connection,
        peer: SocketAddr,
        written: u64,
        served: Result<Option<Transferred>, TransferError>,
    ) {
        let name = match &served {
            Ok(Some(file)) => Some(file.path.as_str()),
            Ok(None) => None,
            Err(_) => Some(FAILED),
        };
        let heard = self.watchers.take(connection, name);
        match served {
            Ok(Some(file)) if self.way == Way::Send => {
                let row = heard.and_then(|heard| measured::Row::of(&self.options, heard, written));
                if let Some(row) = &row {
                    self.page.take(&file, row);
                }
                self.keep(said::show_sent(&file, row.as_ref(), self.json));
            }
            Ok(Some(file)) => {
                self.keep(if self.json {
                    output::print(&said::json(&file, None))
                } else {
                    output::print_words(&(said::whole(&file) + "\n"))
                });
            }
            Ok(None) => {}
            Err(error) => {
                let why = match &error {
                    TransferError::Connection(why) if why.kind() == ErrorKind::ConnectionAborted => {
                        "its connection made room for another".to_owned()
                    }
                    error => error.to_string(),
                };
                self.lines.say(Source::of(peer.ip()), now(), &format!("{peer}: {why}"));
            }
        }
    }
}
