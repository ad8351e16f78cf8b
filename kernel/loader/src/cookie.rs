//! The socket option `SO_NETNS_COOKIE`, which nix does not have.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// Returns the cookie of the socket's network namespace.
///
/// # Errors
/// A kernel before 5.14.
pub(crate) fn of(socket: BorrowedFd<'_>) -> io::Result<u64> {
    let mut cookie = 0u64;
    let mut length: libc::socklen_t = 8;
    // SAFETY: the descriptor is open for the call, and the kernel writes at most `length` bytes, those of the number.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut length,
        )
    };
    if status == 0 { Ok(cookie) } else { Err(io::Error::last_os_error()) }
}
