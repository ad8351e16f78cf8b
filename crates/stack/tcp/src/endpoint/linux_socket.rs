//! The options and calls of a Linux socket, [`LinuxSocket`].

use firstflight::{Avoidance, Startup};

use super::Endpoint;

/// The options and calls of a Linux socket that an endpoint with [`Config::offload`](crate::Config::offload) models. A program that runs
/// scripts against a Linux socket needs them; other hosts do not.
///
/// [`Endpoint::linux_socket`] returns it.
#[derive(Debug)]
pub struct LinuxSocket<'a, S, R, A>(&'a mut Endpoint<S, R, A>);

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// Returns the options and calls of a Linux socket.
    pub fn linux_socket(&mut self) -> LinuxSocket<'_, S, R, A> {
        LinuxSocket(self)
    }
}

impl<S: Startup, R: Startup, A: Avoidance> LinuxSocket<'_, S, R, A> {
    /// Sets whether a small segment waits until earlier small segments are acknowledged (Nagle's algorithm). It does by default.
    pub fn set_nagle(&mut self, on: bool) {
        self.0.sender.shaper.set_nagle(on);
    }

    /// Sets whether the endpoint holds back segments that are not full (Linux `TCP_CORK`).
    pub fn set_cork(&mut self, on: bool) {
        self.0.sender.shaper.set_cork(on);
    }

    /// Adds `bytes` bytes that the application has to send, with more to follow soon. A segment that is not full then waits for more data
    /// or for an ACK (Linux `MSG_MORE`).
    pub fn write_more(&mut self, bytes: u64) {
        self.0.sender.write_more(bytes);
    }

    /// Sends the data that waits to fill a segment without waiting longer.
    pub fn push(&mut self) {
        self.0.sender.shaper.push();
    }

    /// Sets whether quick ACKs may be sent ([`crate::AckPolicy::Linux`]). If so, an ACK that is delayed is sent now, unless there is data
    /// to read.
    pub fn set_quick_ack(&mut self, on: bool) {
        self.0.receiver.set_quick_ack(on);
    }

    /// Limits the number of bytes that are written and not sent. By default there is no limit.
    pub fn set_unsent_limit(&mut self, bytes: u64) {
        self.0.sender.shaper.set_unsent_limit(bytes);
    }

    /// Limits the number of bytes that are written and not acknowledged. By default there is no limit.
    pub fn set_send_limit(&mut self, bytes: u64) {
        self.0.sender.shaper.set_send_limit(bytes);
    }

    /// Checks whether the burst of the last sent segment has more segments to follow. The segments of a burst are one packet until the
    /// device splits it.
    pub fn is_in_burst(&self) -> bool {
        self.0.sender.shaper.is_in_burst()
    }

    /// Returns the number of written bytes for which [`LinuxSocket::set_send_limit`] leaves no room yet. They enter the send buffer when
    /// there is room.
    pub fn unqueued_bytes(&self) -> u64 {
        self.0.sender.shaper.unqueued_bytes()
    }

    /// Discards the written data for which there was no room in the send buffer. Returns its length in bytes.
    pub fn drop_unqueued(&mut self) -> u64 {
        self.0.sender.drop_unqueued()
    }
}
