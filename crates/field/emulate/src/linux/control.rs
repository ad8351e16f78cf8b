//! The messages between the relay's process and a host's first process. Each message is a line of text on a socket. Some have a descriptor
//! attached.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::cmsg_space;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair, sockopt,
};

/// A message that was received.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// The text; empty if the other end is closed.
    pub(super) text: String,
    /// The descriptor attached to the message, if any.
    pub(super) descriptor: Option<OwnedFd>,
    /// The process that sent the message, if this end requested credentials.
    pub(super) process: Option<u32>,
}

/// The maximum length of a message in bytes.
const LONGEST: usize = 1024;

/// Makes a socket with two ends. The first end also receives, with each message, the process that sent it.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (near, far) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_passcred(&near, true)?;
    Ok((near, far))
}

/// Sends a message, with a descriptor if there is one.
pub(super) fn send(socket: impl AsFd, text: &str, descriptor: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let descriptors: Vec<_> = descriptor.into_iter().collect();
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
    }
    let bytes = text.as_bytes();
    let text = IoSlice::new(bytes.get(..LONGEST).unwrap_or(bytes));
    sendmsg(socket, &[text], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Waits for a message.
pub(super) fn receive(socket: impl AsFd) -> io::Result<Message> {
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1), ScmCredentials(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut bytes = [0; LONGEST];
    let received = loop {
        match recvmsg(&socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::CMSG_CLOEXEC) {
            Ok(received) => break received,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    };
    let text = String::from_utf8_lossy(bytes.get(..received.bytes).unwrap_or_default()).into_owned();
    let mut message = Message { text, ..Message::default() };
    for beside in control.drain() {
        match beside {
            RecvAncillaryMessage::ScmRights(mut descriptors) => message.descriptor = descriptors.next(),
            RecvAncillaryMessage::ScmCredentials(sender) => {
                message.process = u32::try_from(sender.pid.as_raw_nonzero().get()).ok();
            }
            _ => {}
        }
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_and_the_sender_come_beside_a_message() {
        let (near, far) = pair().expect("a pair");
        let (lent, _) = pair().expect("a pair");
        send(&far, "ready", Some(lent.as_fd())).expect("sent");
        let received = receive(&near).expect("received");
        assert_eq!((received.text.as_str(), received.descriptor.is_some()), ("ready", true));
        assert_eq!(received.process, Some(std::process::id()));
        send(&near, "go", None).expect("sent");
        let received = receive(&far).expect("received");
        assert_eq!((received.text.as_str(), received.descriptor.is_some()), ("go", false));
        drop(near);
        assert_eq!(receive(&far).expect("the end").text, "");
    }
}
