//! A connection as a transfer uses it: it counts what is written, and ends when the peer is silent or the user interrupts.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use firstflight_live::{Options, Stream};
use firstflight_transfer::TransferError;

use crate::interrupt::Interrupt;

/// For how long a peer that left is waited for at most, so that it hears the end.
const LINGER: Duration = Duration::from_secs(3);
/// How often a wait looks for the user's interrupt.
const LOOK: Duration = Duration::from_millis(100);

/// Bytes written, for whoever outlives the connection.
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
        let host = firstflight_live::Host::bind(any, &options).map_err(TransferError::Connection)?;
        let stream = host.connect_timeout(address, patience).map_err(TransferError::Connection)?;
        Ok(Self { interrupt: Some(interrupt.clone()), ..Self::new(stream, patience) })
    }

    /// Bytes that were written.
    pub(super) fn written(&self) -> u64 {
        self.written.get()
    }

    /// Their count, also once the connection is gone.
    pub(super) fn count(&self) -> Count {
        self.written.clone()
    }

    fn patiently(&mut self, mut call: impl FnMut(&Stream) -> io::Result<usize>) -> io::Result<usize> {
        let now = || {
            #[expect(clippy::disallowed_methods, reason = "a silent peer is waited for so long")]
            Instant::now()
        };
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
                    // A peer that acknowledges what is on its way, or says what is not read yet, is not silent.
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
        self.patiently(|mut stream| stream.read(bytes))
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.patiently(|mut stream| stream.write(bytes))?;
        self.written.0.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
