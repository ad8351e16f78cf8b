//! A connection for a transfer. It counts the bytes written, and fails if the peer is silent or the user interrupts.

use std::io::{self, IoSlice, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use firstflight_udp::files::TransferError;
use firstflight_udp::{Options, Stream};

use crate::clock::now;
use crate::interrupt::Interrupt;

/// The maximum time to wait at the end for the peer to acknowledge and close, so that the peer receives the last bytes.
const LINGER: Duration = Duration::from_secs(3);
/// The time between two checks for the user's interrupt.
const LOOK: Duration = Duration::from_millis(100);

/// A handle to the counter of written bytes. It remains valid after the connection has ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Count(Arc<AtomicU64>);

impl Count {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

pub(super) struct Wire {
    stream: Stream,
    patience: Duration,
    interrupt: Option<Interrupt>,
    written: Count,
}

impl Wire {
    pub(super) fn new(stream: Stream, patience: Duration) -> Self {
        stream.set_read_timeout(Some(LOOK.min(patience)));
        stream.set_write_timeout(Some(LOOK.min(patience)));
        Self { stream, patience, interrupt: None, written: Count::default() }
    }

    pub(super) fn connect(
        address: SocketAddr,
        options: &Options,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<Self, TransferError> {
        let any: SocketAddr =
            if address.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
        let options = options.clone().linger(patience.min(LINGER));
        let host = firstflight_udp::Host::bind(any, &options).map_err(TransferError::Connection)?;
        let stream = host.connect_timeout(address, patience).map_err(|error| match error.kind() {
            io::ErrorKind::TimedOut => {
                let wait = patience.as_secs_f64();
                let why =
                    format!("no answer within {wait} s: nothing listens at {address}, or it has another key");
                TransferError::Connection(io::Error::new(io::ErrorKind::TimedOut, why))
            }
            _ => TransferError::Connection(error),
        })?;
        Ok(Self { interrupt: Some(interrupt.clone()), ..Self::new(stream, patience) })
    }

    /// Returns a handle to the counter of written bytes. The handle remains valid after the connection has ended.
    pub(super) fn count(&self) -> Count {
        self.written.clone()
    }

    fn patiently(&mut self, mut call: impl FnMut(&Stream) -> io::Result<usize>) -> io::Result<usize> {
        let heard = || {
            let info = self.stream.info();
            (info.acknowledged, info.received)
        };
        let (mut begin, mut last) = (now(), heard());
        loop {
            match call(&self.stream) {
                Err(error)
                    if error.kind() == io::ErrorKind::TimedOut
                        && begin.elapsed() < self.patience
                        && !self.interrupt.as_ref().is_some_and(Interrupt::happened) =>
                {
                    // A peer that acknowledges data in flight, or sends data that has not been read yet, is not silent.
                    let heard = heard();
                    if std::mem::replace(&mut last, heard) != heard {
                        begin = now();
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    let why = format!("the peer was silent for {} s", self.patience.as_secs_f64());
                    return Err(io::Error::new(io::ErrorKind::TimedOut, why));
                }
                done => return done,
            }
        }
    }
}

impl Read for Wire {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        // A server that sends lines without an end is never silent.
        if self.interrupt.as_ref().is_some_and(Interrupt::happened) {
            return Err(io::Error::other("interrupted"));
        }
        self.patiently(|mut stream| stream.read(bytes))
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.patiently(|mut stream| stream.write(bytes))?;
        self.written.0.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let written = self.patiently(|mut stream| stream.write_vectored(pieces))?;
        self.written.0.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
