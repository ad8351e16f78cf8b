//! A TUN device of a host, as seen by the relay.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use super::netlink::NAME;
use crate::relay::Device;

/// The relay's end of a TUN device, from which packets are read and to which they are written.
#[derive(Debug)]
pub(super) struct Tun(OwnedFd);

impl Tun {
    /// Makes the relay's end of the device from its descriptor.
    pub(super) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&descriptor, true)?;
        Ok(Self(descriptor))
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Device for Tun {
    fn read(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match rustix::io::read(&self.0, &mut *into) {
                Ok(length) => return Ok(Some(length)),
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(error) => return Err(gone(error)),
            }
        }
    }

    fn write(&mut self, packet: &[u8]) -> io::Result<bool> {
        loop {
            match rustix::io::write(&self.0, packet) {
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(error @ (Errno::BADFD | Errno::BADF)) => return Err(gone(error)),
                // The host rejects the packet, its interface is down, or it has no memory.
                Err(_) => return Ok(false),
            }
        }
    }
}

/// Explains an error of the device: either a program has deleted the host's interface, or the system failed.
fn gone(error: Errno) -> io::Error {
    match error {
        Errno::BADFD | Errno::BADF => io::Error::other(format!("the interface {NAME} of a host is gone")),
        error => error.into(),
    }
}
