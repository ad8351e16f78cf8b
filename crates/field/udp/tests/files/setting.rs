//! Folders of files, and servers of one connection.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use firstflight_udp::files::{CHUNK, Exchange, Folder, Share, Step, TransferError, Transferred, Way};

/// A folder that is removed with its guard.
pub(crate) struct Place(pub(crate) PathBuf);

impl Place {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("firstflight-transfer-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        for folder in ["there", "here"] {
            std::fs::create_dir_all(path.join(folder)).expect("a folder");
        }
        Self(path)
    }

    /// A file of the server's folder.
    pub(crate) fn there(&self, name: &str) -> PathBuf {
        self.0.join("there").join(name)
    }

    /// A file of the client's folder.
    pub(crate) fn here(&self, name: &str) -> PathBuf {
        self.0.join("here").join(name)
    }

    /// The names in a folder, in order.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.join(folder)).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns bytes whose pattern does not repeat within a file.
pub(crate) fn bytes(length: usize) -> Vec<u8> {
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

pub(crate) fn always(_: u64, _: u64) -> bool {
    true
}

/// Starts a server that answers connections until a transfer is complete or fails.
pub(crate) fn server(
    folder: &Path,
    way: Way,
) -> (SocketAddr, JoinHandle<Result<Option<Transferred>, TransferError>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let folder = Arc::new(Folder::open(folder).expect("a folder"));
    let served = std::thread::spawn(move || {
        loop {
            let (peer, _) = listener.accept().expect("a connection");
            let served = answer(peer, Exchange::new(Arc::clone(&folder), way, None));
            if !matches!(served, Ok(None)) {
                return served;
            }
        }
    });
    (address, served)
}

/// Answers the request of a connection.
pub(crate) fn answer(
    mut peer: impl Read + Write,
    mut exchange: Exchange,
) -> Result<Option<Transferred>, TransferError> {
    let mut room = vec![0; CHUNK];
    loop {
        if let Step::Over(served) = exchange.step(&mut peer, &mut room)? {
            return Ok(served);
        }
    }
}

/// Sends `says` to a receiver, and nothing else. Returns its answer, and the result of its exchange.
pub(crate) fn record(
    folder: &Path,
    says: &str,
    share: Option<Share>,
) -> (String, Result<Option<Transferred>, TransferError>) {
    let folder = Arc::new(Folder::open(folder).expect("a folder"));
    let mut peer = Client { says: says.as_bytes().to_vec(), heard: Vec::new() };
    let served = answer(&mut peer, Exchange::new(folder, Way::Receive { replaces: false }, share));
    (String::from_utf8(peer.heard).expect("ASCII"), served)
}

/// A client that has sent all of its data.
struct Client {
    says: Vec<u8>,
    heard: Vec<u8>,
}

impl Read for &mut Client {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let length = room.len().min(self.says.len());
        room[..length].copy_from_slice(&self.says[..length]);
        self.says.drain(..length);
        Ok(length)
    }
}

impl Write for &mut Client {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.heard.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts a server that answers any request with these bytes.
pub(crate) fn parrot(says: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().expect("a connection");
        // The client may end after any of them.
        let _ = peer.write_all(&says);
        let _ = peer.shutdown(std::net::Shutdown::Write);
        let _ = io::copy(&mut peer, &mut io::sink());
    });
    address
}

pub(crate) fn connect(address: SocketAddr) -> Result<TcpStream, TransferError> {
    TcpStream::connect(address).map_err(TransferError::Connection)
}

/// A connection that ends after this number of bytes was read.
pub(crate) struct Cut(pub(crate) TcpStream, pub(crate) usize);

impl Read for Cut {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.1 == 0 {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let room = bytes.len().min(self.1);
        let read = self.0.read(&mut bytes[..room])?;
        self.1 -= read;
        Ok(read)
    }
}

impl Write for Cut {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
