//! Programs that send under a congestion control, and that read the data.
//!
//! The sender sends the data at once, without a preamble: the first window is whole.

use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

use socket2::{Domain, Socket, Type};

/// Bytes that are written at a time.
const PIECE: usize = 1 << 20;

/// Connects to `address` under the congestion control `name`, and sends as `parts` says: bytes, then alternating milliseconds and bytes.
///
/// # Errors
/// An error of the socket, or a part that is not a number.
pub(crate) fn send(address: &str, name: &str, parts: &[&str]) -> Result<(), String> {
    let parts: Result<Vec<u64>, _> = parts.iter().map(|part| part.parse::<u64>()).collect();
    let parts = parts.map_err(|error| format!("bytes, then milliseconds and bytes in turns: {error}"))?;
    let to: SocketAddr = address.parse().map_err(|error| format!("{address}: {error}"))?;
    connect_and_send(to, name, &parts).map_err(|error| format!("{address} under {name}: {error}"))
}

fn connect_and_send(to: SocketAddr, name: &str, parts: &[u64]) -> io::Result<()> {
    let mut socket = Socket::new(Domain::for_address(to), Type::STREAM, None)?;
    socket.set_tcp_congestion(name.as_bytes())?;
    socket.connect(&to.into())?;
    for (place, &part) in parts.iter().enumerate() {
        if place % 2 == 1 {
            thread::sleep(Duration::from_millis(part));
        } else {
            write(&mut socket, part)?;
        }
    }
    socket.flush()?;
    socket.shutdown(Shutdown::Write)?;
    // The other end closes once it has everything.
    io::copy(&mut socket, &mut io::sink())?;
    Ok(())
}

/// Writes large pieces, so that no segment but the last is short.
fn write(socket: &mut Socket, bytes: u64) -> io::Result<()> {
    let piece = vec![0x5A; PIECE];
    let mut left = usize::try_from(bytes).unwrap_or(usize::MAX);
    while left > 0 {
        let now = left.min(PIECE);
        socket.write_all(&piece[..now])?;
        left -= now;
    }
    Ok(())
}

/// Takes one connection at `address`, and reads it to its end.
///
/// # Errors
/// An error of the socket.
pub(crate) fn sink(address: &str) -> Result<(), String> {
    let listener = TcpListener::bind(address).map_err(|error| format!("{address}: {error}"))?;
    let (mut stream, _) = listener.accept().map_err(|error| format!("{address}: {error}"))?;
    io::copy(&mut stream, &mut io::sink()).map_err(|error| format!("{address}: {error}"))?;
    Ok(())
}
