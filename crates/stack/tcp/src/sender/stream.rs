//! The stream from the sender's view: the data written, sent and acknowledged, and the segment size.

use firstflight::Bytes;

/// The sender's sequence variables (RFC 9293 section 3.3.1), as stream offsets. A FIN takes the offset after the last written byte.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Stream {
    /// `SND.UNA`: the first byte that is not acknowledged.
    una: u64,
    /// `SND.NXT`: the next byte to send.
    nxt: u64,
    /// Number of bytes that the application wrote.
    written: u64,
    /// Payload bytes of a full segment.
    mss: Bytes,
    /// Length of the headers of a segment in bytes.
    headers: u16,
    /// Whether a FIN follows the written data.
    fin: bool,
    /// Whether the handshake is complete, so that data may be sent.
    established: bool,
}

/// Length of the IP and TCP headers until the handshake has negotiated options.
const HEADERS: u16 = 40;

impl Stream {
    pub(super) fn new(mss: Bytes) -> Self {
        Self { una: 0, nxt: 0, written: 0, mss, headers: HEADERS, fin: false, established: false }
    }

    /// Sets the negotiated segment size, and the length of the headers. Returns whether the segment size changed.
    pub(super) fn establish(&mut self, mss: Bytes, headers: u16) -> bool {
        let resized = self.mss != mss;
        (self.mss, self.headers, self.established) = (mss, headers, true);
        resized
    }

    /// Records that the application wrote `bytes` more bytes. Returns false if they are refused, which is so after [`Stream::shut`].
    pub(super) fn write(&mut self, bytes: u64) -> bool {
        if !self.fin {
            self.written = self.written.saturating_add(bytes);
        }
        !self.fin
    }

    /// Removes the last `bytes` bytes written, which will not be sent.
    pub(super) fn take_back(&mut self, bytes: u64) {
        self.written -= bytes;
    }

    pub(super) fn shut(&mut self) {
        self.fin = true;
    }

    /// Records that all data below `una` is acknowledged.
    #[inline]
    pub(super) fn acknowledge(&mut self, una: u64) {
        self.una = una;
    }

    /// Records the transmission of new data up to `end`.
    #[inline]
    pub(super) fn advance(&mut self, end: u64) {
        self.nxt = end;
    }

    #[inline]
    pub(super) fn una(&self) -> u64 {
        self.una
    }

    #[inline]
    pub(super) fn nxt(&self) -> u64 {
        self.nxt
    }

    #[inline]
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    #[inline]
    pub(super) fn mss(&self) -> Bytes {
        self.mss
    }

    /// Returns the length of a full segment with its headers, in bytes.
    #[inline]
    pub(super) fn wire(&self) -> Bytes {
        self.mss + self.headers()
    }

    /// Returns the length of a segment's headers in bytes.
    #[inline]
    pub(super) fn headers(&self) -> Bytes {
        Bytes::new(u64::from(self.headers))
    }

    #[inline]
    pub(super) fn is_established(&self) -> bool {
        self.established
    }

    /// Checks whether a FIN will follow the written data, or was sent.
    #[inline]
    pub(super) fn is_shut(&self) -> bool {
        self.fin
    }

    /// Checks whether the FIN was sent.
    #[inline]
    pub(super) fn fin_sent(&self) -> bool {
        self.fin && self.nxt > self.written
    }

    /// Checks whether the FIN was sent and acknowledged.
    #[inline]
    pub(super) fn finished(&self) -> bool {
        self.fin && self.una > self.written
    }

    /// Checks whether all written data and, if there is one, the FIN were sent.
    #[inline]
    pub(super) fn is_all_sent(&self) -> bool {
        self.nxt >= self.written && (!self.fin || self.nxt > self.written)
    }

    /// Checks whether sent data or a FIN is not acknowledged.
    #[inline]
    pub(super) fn is_outstanding(&self) -> bool {
        self.nxt != self.una
    }

    /// Returns the number of bytes sent and not acknowledged. The FIN counts as one byte.
    #[inline]
    pub(super) fn outstanding(&self) -> Bytes {
        Bytes::new(self.nxt - self.una)
    }

    /// Returns the number of bytes written and not sent.
    #[inline]
    pub(super) fn backlog(&self) -> u64 {
        self.written.saturating_sub(self.nxt)
    }

    /// Returns the number of written bytes that are acknowledged.
    pub(super) fn acknowledged(&self) -> u64 {
        self.una.min(self.written)
    }

    /// Returns the number of bytes written and not acknowledged.
    pub(super) fn queued(&self) -> u64 {
        self.written - self.acknowledged()
    }
}
