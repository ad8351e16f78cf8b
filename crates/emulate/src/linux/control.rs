//! What the relay's process and a host's first process say to each other: a socket of messages, each a line of text, with
//! descriptors beside some.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::cmsg_space;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair, sockopt,
};

/// A message that came.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// What it says; empty if the other end is closed.
    pub(super) text: String,
    /// The descriptor beside it.
    pub(super) descriptor: Option<OwnedFd>,
    /// The process that sent it, if this end asked to know.
    pub(super) process: Option<u32>,
}

/// Messages are this long at most.
const LONGEST: usize = 1024;

/// Two ends. The first one is told which process sent a message.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (near, far) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_passcred(&near, true)?;
    Ok((near, far))
}

/// Sends a message, with a descriptor if there is one.
pub(super) fn say(socket: impl AsFd, text: &str, descriptor: Option<BorrowedFd<'_>>) -> io::Result<()> {
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
pub(super) fn hear(socket: impl AsFd) -> io::Result<Message> {
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
        say(&far, "ready", Some(lent.as_fd())).expect("said");
        let heard = hear(&near).expect("heard");
        assert_eq!((heard.text.as_str(), heard.descriptor.is_some()), ("ready", true));
        assert_eq!(heard.process, Some(std::process::id()));
        say(&near, "go", None).expect("said");
        let heard = hear(&far).expect("heard");
        assert_eq!((heard.text.as_str(), heard.descriptor.is_some()), ("go", false));
        drop(near);
        assert_eq!(hear(&far).expect("the end").text, "");
    }
}
