//! The stream as the sender sees it: what was written, what left, what is acknowledged, and how large a segment of it is.

use firstflight::Bytes;

/// Sequence space, in stream offsets (RFC 9293 section 3.3.1). A FIN takes the place after the last byte written.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Stream {
    /// `SND.UNA`.
    una: u64,
    /// `SND.NXT`.
    nxt: u64,
    /// Bytes that the application wrote.
    written: u64,
    /// Payload bytes of a full segment.
    mss: Bytes,
    /// Bytes of the headers of a segment.
    headers: u16,
    /// Whether a FIN follows what was written.
    fin: bool,
    /// Whether the handshake is over, so that data may leave.
    established: bool,
}

/// IP and TCP headers, until the handshake has agreed on options.
const HEADERS: u16 = 40;

impl Stream {
    pub(super) fn new(mss: Bytes) -> Self {
        Self { una: 0, nxt: 0, written: 0, mss, headers: HEADERS, fin: false, established: false }
    }

    /// The handshake agreed on the size of segments, and on `headers` bytes of headers. Says whether the size is another one
    /// than before.
    pub(super) fn establish(&mut self, mss: Bytes, headers: u16) -> bool {
        let resized = self.mss != mss;
        (self.mss, self.headers, self.established) = (mss, headers, true);
        resized
    }

    /// The application wrote `bytes` more. Says whether they are taken: after [`Stream::shut`] they are not.
    pub(super) fn write(&mut self, bytes: u64) -> bool {
        if !self.fin {
            self.written = self.written.saturating_add(bytes);
        }
        !self.fin
    }

    /// The last `bytes` that were written will not be sent after all.
    pub(super) fn take_back(&mut self, bytes: u64) {
        self.written -= bytes;
    }

    pub(super) fn shut(&mut self) {
        self.fin = true;
    }

    /// All up to `una` is acknowledged.
    #[inline]
    pub(super) fn acknowledge(&mut self, una: u64) {
        self.una = una;
    }

    /// New data left, up to `end`.
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

    /// Bytes of a full segment with its headers.
    #[inline]
    pub(super) fn wire(&self) -> Bytes {
        self.mss + self.headers()
    }

    /// Bytes of headers of a segment.
    #[inline]
    pub(super) fn headers(&self) -> Bytes {
        Bytes::new(u64::from(self.headers))
    }

    #[inline]
    pub(super) fn is_established(&self) -> bool {
        self.established
    }

    /// Whether a FIN follows what was written.
    #[inline]
    pub(super) fn is_shut(&self) -> bool {
        self.fin
    }

    /// Whether the FIN was sent.
    #[inline]
    pub(super) fn fin_sent(&self) -> bool {
        self.fin && self.nxt > self.written
    }

    /// Whether the FIN was sent and acknowledged.
    #[inline]
    pub(super) fn finished(&self) -> bool {
        self.fin && self.una > self.written
    }

    /// Whether all that was written left, and the FIN if there is one.
    #[inline]
    pub(super) fn is_all_sent(&self) -> bool {
        self.nxt >= self.written && (!self.fin || self.nxt > self.written)
    }

    /// Whether something that left is not acknowledged.
    #[inline]
    pub(super) fn is_outstanding(&self) -> bool {
        self.nxt != self.una
    }

    /// Bytes that left and are not acknowledged, the FIN counted as one.
    #[inline]
    pub(super) fn outstanding(&self) -> Bytes {
        Bytes::new(self.nxt - self.una)
    }

    /// Bytes written that did not leave.
    #[inline]
    pub(super) fn backlog(&self) -> u64 {
        self.written.saturating_sub(self.nxt)
    }

    /// Bytes written that are acknowledged.
    pub(super) fn acknowledged(&self) -> u64 {
        self.una.min(self.written)
    }

    /// Bytes written that are not acknowledged.
    pub(super) fn queued(&self) -> u64 {
        self.written - self.acknowledged()
    }
}
