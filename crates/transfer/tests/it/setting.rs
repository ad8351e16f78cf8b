//! Folders of files, and servers of one connection.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use firstflight_transfer::{Folder, TransferError, Transferred, Way, serve};

/// A folder that goes with its guard.
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

/// Bytes that no two places of a file have alike.
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

/// A server that answers connections until a file got across, or one fails.
pub(crate) fn server(
    folder: &Path,
    way: Way,
) -> (SocketAddr, JoinHandle<Result<Option<Transferred>, TransferError>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let folder = Folder::open(folder).expect("a folder");
    let served = std::thread::spawn(move || {
        loop {
            let (mut peer, _) = listener.accept().expect("a connection");
            let served = serve(&mut peer, &folder, way, &mut always);
            if !matches!(served, Ok(None)) {
                return served;
            }
        }
    });
    (address, served)
}

/// A server that answers with these bytes, whatever it is told.
pub(crate) fn parrot(says: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().expect("a connection");
        // The client may end at any of them.
        let _ = peer.write_all(&says);
        let _ = peer.shutdown(std::net::Shutdown::Write);
        let _ = io::copy(&mut peer, &mut io::sink());
    });
    address
}

pub(crate) fn connect(address: SocketAddr) -> Result<TcpStream, TransferError> {
    TcpStream::connect(address).map_err(TransferError::Connection)
}

/// A connection that ends after so many bytes were read.
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
