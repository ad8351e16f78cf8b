//! The server's side of a connection: one request, answered in steps.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files::copy::{Outgoing, Rest, Transferred};
use crate::files::error::TransferError;
use crate::files::folder::{Folder, Way};
use crate::files::hash::Hash;
use crate::files::hashes::Seen;
use crate::files::incoming::Incoming;
use crate::files::listing::Listing;
use crate::files::message::Message;
use crate::files::part::{Part, look};
use crate::files::quota::Share;
use crate::files::talk::Talk;

/// The result of a step of an [`Exchange`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// The next step can be done at once.
    Goes,
    /// The peer must first send or accept data: the stream returned [`ErrorKind::WouldBlock`].
    Waits,
    /// The exchange is complete. `None` if the client ended without a request, or only queried the server's part of a file.
    Over(Option<Transferred>),
}

/// The maximum number of bytes that are read and discarded of a file that cannot be kept. The sender receives the reason after it has sent
/// them.
const DRAINED: u64 = 64 << 20;
/// The number of bytes that are hashed before the client gets a `WAIT` line. It is less than a second of work.
const PATIENCE: u64 = 16 << 20;

/// The server's side of one connection, which carries one request. It is answered in steps, so that one thread can serve many connections
/// in turn. Each step reads, hashes or writes at most [`CHUNK`](crate::files::CHUNK) bytes. The stream may be blocking or nonblocking.
///
/// ```
/// # use std::{io, sync::Arc};
/// use firstflight_udp::files::{CHUNK, Exchange, Folder, Step, TransferError, Transferred, Way};
///
/// /// Answers the request of a connection that blocks.
/// fn answer(
///     mut peer: impl io::Read + io::Write,
///     folder: Arc<Folder>,
/// ) -> Result<Option<Transferred>, TransferError> {
///     let mut exchange = Exchange::new(folder, Way::Send, None);
///     let mut room = vec![0; CHUNK];
///     loop {
///         if let Step::Over(served) = exchange.step(&mut peer, &mut room)? {
///             return Ok(served);
///         }
///     }
/// }
/// ```
pub struct Exchange {
    folder: Arc<Folder>,
    way: Way,
    share: Option<Share>,
    talk: Talk,
    doing: Doing,
    /// The number of bytes hashed since the last `WAIT`.
    silent: u64,
}

/// The state of an exchange.
enum Doing {
    /// The request has not arrived completely.
    Asked,
    /// Answers GET: the file, its path, and the client's part of the file.
    Sending(Box<Outgoing>, String, Theirs),
    /// Waits for the client's confirmation. `known` is the file if its hash was known before.
    Sent { whole: Transferred, known: Option<Seen> },
    /// Answers ASK: the server's part of the file is read.
    Telling { file: Option<File>, path: PathBuf, hash: Hash, there: u64 },
    /// Answers LIST: the next entries of a folder follow.
    Listing(Box<Listing>),
    /// Answers PUT: the client sends a file.
    Receiving(Box<Incoming>, String, Rest),
    /// Discards up to `left` bytes from the client, then returns the error.
    Draining { left: u64, error: Option<TransferError> },
    /// Writes the last lines, then returns this result.
    Ending(Option<Result<Option<Transferred>, TransferError>>),
}

/// The length and hash of the client's part of a file, until they are compared.
type Theirs = Option<(u64, String)>;

impl Exchange {
    /// Makes an exchange. Bytes from clients are charged to `share`, if there is one.
    pub fn new(folder: Arc<Folder>, way: Way, share: Option<Share>) -> Self {
        Self { folder, way, share, talk: Talk::default(), doing: Doing::Asked, silent: 0 }
    }

    /// Returns whether the whole request has arrived.
    pub fn is_asked(&self) -> bool {
        !matches!(self.doing, Doing::Asked)
    }

    /// Does the next step. `room` is a buffer whose contents are not kept.
    ///
    /// # Errors
    /// The first error. If possible, the reason was sent to the client. No further step may follow.
    pub fn step<S: Read + Write>(&mut self, peer: &mut S, room: &mut [u8]) -> Result<Step, TransferError> {
        match self.go_on(peer, room) {
            Err(TransferError::Connection(error)) if error.kind() == ErrorKind::WouldBlock => Ok(Step::Waits),
            Err(error) => {
                if let Doing::Sent { known: Some(seen), .. } = &self.doing {
                    self.folder.hashes().forget(seen);
                }
                let (left, error) = self.fails(error)?;
                self.doing = match left {
                    0 => Doing::Ending(Some(Err(error))),
                    left => Doing::Draining { left, error: Some(error) },
                };
                Ok(Step::Goes)
            }
            done => done,
        }
    }

    /// Queues the error as a line to the client. Returns the number of bytes to read from the client before the exchange ends, and the
    /// error.
    ///
    /// # Errors
    /// The error, if it cannot be sent as a line, or if the last line was sent already.
    fn fails(&mut self, error: TransferError) -> Result<(u64, TransferError), TransferError> {
        let left = match &self.doing {
            // The last line is queued already; the client may be gone.
            Doing::Ending(_) | Doing::Draining { .. } => return Err(error),
            // The client expects bytes of the file and would treat an error line as such bytes.
            Doing::Sending(_, _, None) if !matches!(error, TransferError::Connection(_)) => {
                return Err(TransferError::Connection(std::io::Error::other(error.to_string())));
            }
            // The client reads the answer only after it has sent its bytes, so its bytes are read and discarded.
            Doing::Receiving(_, _, rest) if !matches!(error, TransferError::Damaged { .. }) => {
                rest.length.min(DRAINED)
            }
            _ => 0,
        };
        if matches!(error, TransferError::Connection(_) | TransferError::Truncated { .. }) {
            return Err(error);
        }
        self.talk.say(&Message::No { why: error.to_string() });
        Ok((left, error))
    }

    fn go_on<S: Read + Write>(&mut self, peer: &mut S, room: &mut [u8]) -> Result<Step, TransferError> {
        // The lines of a file are sent together with its bytes. All other lines are sent now, before further work is done for a client that
        // may not read.
        if !matches!(self.doing, Doing::Sending(_, _, None)) {
            self.talk.flush(peer)?;
        }
        match &mut self.doing {
            Doing::Asked => match self.talk.read_message(peer)? {
                Some(request) => self.doing = self.begin(request)?,
                None => return Ok(Step::Over(None)),
            },
            Doing::Sending(file, path, theirs) => {
                if let Some((have, hash)) = theirs {
                    let read = file.compare((*have, hash), room)?;
                    if read == 0 {
                        *theirs = None;
                        file.take_wrong().iter().for_each(|seen| self.folder.hashes().forget(seen));
                        let Rest { from, length } = file.rest();
                        self.talk.say(&Message::Data { length, from });
                    }
                    self.was_silent_for(read);
                } else if let Some(sha256) = file.send(&mut self.talk, peer, room)? {
                    let Rest { from, length } = file.rest();
                    let whole = Transferred { path: std::mem::take(path), length, resumed: from, sha256 };
                    file.keep_hash(self.folder.hashes());
                    self.doing = Doing::Sent { whole, known: file.known() };
                }
            }
            Doing::Sent { whole, .. } => match self.talk.read_message(peer)? {
                Some(Message::Done { hash }) if hash == whole.sha256 => {
                    return Ok(Step::Over(Some(whole.clone())));
                }
                Some(other) => return Err(other.instead_of("DONE")),
                None => return Err(TransferError::Silent),
            },
            Doing::Telling { file, path, hash, there } => {
                let read = match file {
                    Some(file) => hash.read(file, u64::MAX, room).map_err(TransferError::at(path))?,
                    None => 0,
                };
                *there += read;
                if read == 0 {
                    self.talk.say(&Message::Have { have: *there, hash: hash.text() });
                    self.doing = Doing::Ending(Some(Ok(None)));
                }
                self.was_silent_for(read);
            }
            Doing::Listing(listing) => {
                if !listing.say_next(&mut self.talk)? {
                    self.doing = Doing::Ending(Some(Ok(None)));
                }
            }
            Doing::Receiving(file, path, rest) => {
                if !file.is_ready() {
                    let read = file.prepare(*rest, self.share.as_ref(), room)?;
                    self.was_silent_for(read);
                } else if let Some(sha256) = file.receive(&mut self.talk, peer, room)? {
                    self.talk.say(&Message::Done { hash: sha256.clone() });
                    let Rest { from, length } = *rest;
                    let whole = Transferred { path: std::mem::take(path), length, resumed: from, sha256 };
                    self.doing = Doing::Ending(Some(Ok(Some(whole))));
                }
            }
            Doing::Draining { left, error } => {
                let wanted = usize::try_from(*left).unwrap_or(usize::MAX).min(room.len());
                let read = match self.talk.read(peer, room.get_mut(..wanted).unwrap_or_default()) {
                    Err(TransferError::Connection(why)) if why.kind() == ErrorKind::WouldBlock => {
                        return Ok(Step::Waits);
                    }
                    read => read.unwrap_or(0) as u64,
                };
                *left -= read;
                if *left == 0 || read == 0 {
                    return Err(error.take().unwrap_or(TransferError::Silent));
                }
            }
            Doing::Ending(end) => return end.take().unwrap_or(Ok(None)).map(Step::Over),
        }
        Ok(Step::Goes)
    }

    /// Counts bytes that were hashed, and queues a `WAIT` line after [`PATIENCE`] of them.
    fn was_silent_for(&mut self, bytes: u64) {
        self.silent += bytes;
        if self.silent >= PATIENCE {
            self.silent = 0;
            self.talk.say(&Message::Wait);
        }
    }

    /// Starts to answer a request.
    fn begin(&self, request: Message) -> Result<Doing, TransferError> {
        match (request, self.way) {
            (Message::Get { path, have, hash }, Way::Send) => {
                let file = self.folder.file(&path)?;
                let file = Outgoing::of_server(file, Path::new(&path), self.folder.hashes())?;
                Ok(Doing::Sending(Box::new(file), path, Some((have, hash))))
            }
            (Message::List { path }, Way::Send) => {
                Ok(Doing::Listing(Box::new(Listing::open(&self.folder, path.as_deref())?)))
            }
            (Message::Ask { path, length }, Way::Receive { replaces }) => {
                let file = match self.folder.place(&path) {
                    // PUT creates missing folders.
                    Err(error) if error.is_not_found() => None,
                    place => {
                        let (place, name) = place?;
                        look(&place, name, Path::new(&path), replaces)?
                    }
                };
                // A part longer than the whole file cannot be its start.
                let is_start = |file: &File| file.metadata().is_ok_and(|about| about.len() <= length);
                let (file, path) = (file.filter(is_start), PathBuf::from(path));
                Ok(Doing::Telling { file, path, hash: Hash::default(), there: 0 })
            }
            (Message::Put { path, length, from }, Way::Receive { replaces }) => {
                let rest = Rest { from, length };
                // The client sends all of a file even if the file cannot be received.
                let allow = |folder: &str| {
                    self.share.as_ref().map_or(Ok(()), |share| share.charge_for_good(&format!("{folder}/")))
                };
                let part = self
                    .folder
                    .make_place(&path, allow)
                    .and_then(|(place, name)| Part::open(place, name, Path::new(&path), replaces));
                Ok(Doing::Receiving(Box::new(Incoming::new(part, length)), path, rest))
            }
            (other, Way::Send) => {
                Err(other.instead_of("GET or LIST: this server sends files and takes none"))
            }
            (other, Way::Receive { .. }) => {
                Err(other.instead_of("ASK or PUT: this server takes files and sends none"))
            }
        }
    }
}
