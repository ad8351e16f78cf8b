//! Dumps of the kernel's tables by netlink: messages and their attributes.

use std::os::fd::AsRawFd as _;

use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};

use crate::error::KernelError;

/// Bytes of the header of a message, and of an attribute.
const HEADER: usize = 16;
const ATTRIBUTE: usize = 4;
const REQUEST_DUMP: u16 = 0x301;
const ERROR: u16 = 2;
const DONE: u16 = 3;

/// Passes the body of each message of a dump to `take`.
///
/// # Errors
/// A protocol or table that the kernel does not have.
pub(crate) fn dump(
    protocol: SockProtocol,
    (kind, request): (u16, &[u8]),
    mut take: impl FnMut(&[u8]),
) -> Result<(), KernelError> {
    let failed = |error: nix::Error| KernelError::system(&"netlink", &error);
    let socket =
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol).map_err(failed)?;
    let length = u32::try_from(HEADER + request.len()).unwrap_or(u32::MAX);
    let mut message = Vec::with_capacity(HEADER + request.len());
    message.extend(length.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend(REQUEST_DUMP.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(request);
    send(socket.as_raw_fd(), &message, MsgFlags::empty()).map_err(failed)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty()).map_err(failed)?;
        let mut rest = buffer.get(..length).unwrap_or_default();
        if rest.is_empty() {
            return Err(failed(nix::Error::EPROTO));
        }
        while let Some(header) = rest.first_chunk::<HEADER>() {
            let length = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
            let kind = u16::from_ne_bytes([header[4], header[5]]);
            let Some(body) = rest.get(HEADER..length) else { return Err(failed(nix::Error::EPROTO)) };
            match kind {
                DONE | ERROR => return ended(kind, body).map_err(failed),
                _ => take(body),
            }
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
    }
}

/// Reads the last message of a dump. Both kinds begin with zero or a negative error.
fn ended(kind: u16, body: &[u8]) -> nix::Result<()> {
    let number = body.first_chunk().map_or(0, |four| i32::from_ne_bytes(*four));
    if kind == DONE && number >= 0 { Ok(()) } else { Err(nix::Error::from_raw(number.saturating_neg())) }
}

/// Returns the attributes, by number.
pub(crate) fn attributes(mut rest: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let header = rest.first_chunk::<ATTRIBUTE>()?;
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        // The two highest bits are flags.
        let kind = u16::from_ne_bytes([header[2], header[3]]) & 0x3fff;
        let body = rest.get(ATTRIBUTE..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, body))
    })
}

/// Returns a text that ends with a zero.
pub(crate) fn text(bytes: &[u8]) -> String {
    let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_end_with_their_last_whole_one() {
        let bytes = [6, 0, 4, 0x80, b'a', 0, 0, 0, 5, 0, 7, 0, 9, 0, 0, 0, 200, 0, 1, 0, 1];
        let found: Vec<(u16, &[u8])> = attributes(&bytes).collect();
        assert_eq!(found, [(4, &b"a\0"[..]), (7, &[9][..])]);
        assert_eq!(attributes(&[1, 0, 1, 0]).count(), 0, "shorter than its header");
        assert_eq!(text(b"bbr\0x"), "bbr");
    }

    #[test]
    fn a_dump_that_ends_with_an_error_is_an_error() {
        assert_eq!(ended(DONE, &[]), Ok(()));
        assert_eq!(ended(DONE, &0i32.to_ne_bytes()), Ok(()));
        for kind in [DONE, ERROR] {
            assert_eq!(ended(kind, &(-2i32).to_ne_bytes()), Err(nix::Error::ENOENT));
        }
    }

    #[test]
    fn the_kernel_lists_its_routes_to_any_user() {
        let mut count = 0;
        dump(SockProtocol::NetlinkRoute, (26, &[0; 12]), |body| count += usize::from(body.len() >= 12))
            .unwrap();
        println!("{count} routes");
    }
}
