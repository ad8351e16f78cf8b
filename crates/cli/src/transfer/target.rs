//! Reads `HOST:PORT/PATH` on a command line.

use std::net::{SocketAddr, ToSocketAddrs};

use crate::failure::{Failure, Place};

/// A server, and a path below its folder.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    /// The path without a final `/`; `None` for the served folder itself.
    pub(super) path: Option<String>,
    /// Whether the text ends in `/`.
    pub(super) is_folder: bool,
}

/// Reads `HOST:PORT`, `HOST:PORT/PATH` or `HOST:PORT/PATH/`.
pub(super) fn target(text: &str, arguments: &[String]) -> Result<Target, Failure> {
    let (host, path) = text.split_once('/').map_or((text, None), |(host, path)| (host, Some(path)));
    let address = address_of(host)?.ok_or_else(|| wrong_target(text, arguments))?;
    let path = path.map(|path| path.trim_end_matches('/')).filter(|path| !path.is_empty());
    Ok(Target { address, path: path.map(str::to_owned), is_folder: text.ends_with('/') })
}

/// Reads `HOST:PORT` as an address.
pub(crate) fn address(text: &str, arguments: &[String]) -> Result<SocketAddr, Failure> {
    address_of(text)?.ok_or_else(|| {
        let message = format!("`{text}` is not allowed; HOST:PORT is, as in 127.0.0.1:4432");
        Failure::usage(message).at(Place::argument(arguments, text))
    })
}

/// Returns the address of a host; `None` if the text does not have the form `HOST:PORT`.
fn address_of(host: &str) -> Result<Option<SocketAddr>, Failure> {
    if host.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
        return Ok(None);
    }
    match host.to_socket_addrs().map(|mut all| all.next()) {
        Ok(Some(address)) => Ok(Some(address)),
        Ok(None) => Err(Failure::usage(format!("{host}: no address"))),
        Err(error) => Err(Failure::usage(format!("{host}: {error}"))),
    }
}

pub(super) fn wrong_target(text: &str, arguments: &[String]) -> Failure {
    Failure::usage(format!("`{text}` is not allowed; HOST:PORT/PATH is, as in 127.0.0.1:4433/file"))
        .at(Place::argument(arguments, text))
}
