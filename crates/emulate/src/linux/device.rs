//! A TUN device of a host, as the relay has it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use crate::relay::Device;

/// The end of a TUN device that packets are read from and written to.
#[derive(Debug)]
pub(super) struct Tun(OwnedFd);

impl Tun {
    /// The device behind a descriptor.
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
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn write(&mut self, packet: &[u8]) -> io::Result<bool> {
        loop {
            match rustix::io::write(&self.0, packet) {
                Ok(_) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(Errno::BADFD | Errno::BADF) => return Err(Errno::BADF.into()),
                // The packet is not one that the host takes, its interface is down, or it has no memory.
                Err(_) => return Ok(false),
            }
        }
    }
}
