//! The transfer time with slow start and with Quick-Start: Scharf, *Performance Analysis of the Quick-Start TCP
//! Extension* (2007), sections III and VII-C.
//!
//! The idea: in round `i` of slow start, a sender sends a window `W(i) = w γ^(i-1)`, with `γ = 1 + 1/b` for an ACK per `b` segments, until
//! the window fills the pipe. From then on the path is the limit. With Quick-Start, the sender sends at the approved rate for one RTT, and
//! then the path is the limit.
//!
//! How we interpret the paper where it leaves a choice:
//! - Equations 2 and 3 are solutions of conditions, and the model evaluates these conditions: the first round with `W ≥ P`, and the first
//!   round with `M ≥ ⌈s/L⌉`. This avoids logarithms at the edge of a round. It also keeps κ at 1 or above, whereas equation 2 gives zero or
//!   less if the initial window alone fills the pipe.
//! - A request above the path's rate is an error. No router grants it, and equation 5 would be faster than the link.
//!
//! The model leaves out the queueing of a round's burst, losses, and the continuation of slow start after the paced RTT. Equation 5 is
//! therefore too short if the approved rate is far below the path's rate. The last round is counted in full segments, so equation 1 may be
//! short by up to one segment's time `L/R`.

use super::error::{ModelError, positive, within};

/// One transfer that has a path to itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// Bytes of payload (`s`).
    pub size: f64,
    /// The path's rate in bit/s, headers included (`r`).
    pub rate: f64,
    /// The round-trip time in seconds (`τ`).
    pub rtt: f64,
    /// Bytes of payload in a full segment (`L`).
    pub mss: f64,
    /// Bytes of a full IP packet (`MTU`).
    pub packet: f64,
    /// The initial window in segments (`w`).
    pub initial_window: f64,
    /// Segments for each ACK (`b`): 2 with delayed ACKs, 1 without.
    pub segments_per_ack: f64,
}

/// Returns the reference case of section IV-B: 250 kB over 10 Mbit/s and 100 ms, delayed ACKs, an initial window of 3.
impl Default for Transfer {
    fn default() -> Self {
        Self {
            size: 250_000.0,
            rate: 10e6,
            rtt: 0.1,
            mss: 1460.0,
            packet: 1500.0,
            initial_window: 3.0,
            segments_per_ack: 2.0,
        }
    }
}

/// The results of equations 1 to 4, 6 and 13.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowStartTime {
    /// The path's rate in bytes of payload per second (`R = r L / MTU`).
    pub payload_rate: f64,
    /// The pipe in segments (`P = R τ / L + 1`).
    pub pipe: f64,
    /// The first round whose window fills the pipe (`κ`), at least 1 (equation 2).
    pub filling_round: u32,
    /// The number of rounds that the transfer takes if all of it is sent in slow start (`ν`, equation 3).
    pub rounds: u32,
    /// The last round that slow start uses completely (`ψ`, equation 4).
    pub whole_rounds: u32,
    /// The number of segments sent up to that round (`M(ψ)`).
    pub segments_in_rounds: f64,
    /// The time from the first data sent to the arrival of the last data, in seconds (`Γ`, equation 1).
    pub sojourn: f64,
    /// The time including the handshake if the originator sends the data, in seconds (`T = τ + Γ`, equation 6).
    pub transfer: f64,
    /// The response time of a server in seconds, from the originator's last handshake segment to the arrival of the last data (`T' = τ/2 +
    /// Γ`, equation 13).
    pub response: f64,
}

/// The results of equations 5, 6 and 13.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuickStartTime {
    /// The approved rate in bytes of payload per second (`Q = q L / MTU`).
    pub paced_rate: f64,
    /// The payload bytes that are sent in the paced RTT (`Q τ`).
    ///
    /// The curve of Figure 3 has its kink at this size. The text prints 64 kB there, which is `q τ` including headers.
    pub paced_bytes: f64,
    /// The window for the approved rate, in segments (RFC 4782 section 4.4): `q τ / MTU`.
    pub window: f64,
    /// The time from packet to packet at the approved rate, in seconds.
    pub gap: f64,
    /// Whether the sender requests Quick-Start. With [`SmallTransfers::SlowStart`] it does not if the transfer fits the initial window.
    pub asked: bool,
    /// The time from the first data sent to the arrival of the last data, in seconds (equation 5).
    pub sojourn: f64,
    /// The time including the handshake, in seconds (equation 6).
    pub transfer: f64,
    /// The response time of a server, in seconds (equation 13).
    pub response: f64,
    /// Slow start's transfer time divided by that of Quick-Start (`η`, section IV-B).
    pub improvement: f64,
    /// Slow start's response time divided by that of Quick-Start.
    pub response_improvement: f64,
}

/// The model of a transfer that fits the initial window (choice 22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmallTransfers {
    /// The sender sends a request, as in the paper, and pacing delays the last byte of the transfer.
    Ask,
    /// The sender sends no request, because the transfer cannot become faster.
    SlowStart,
}

impl Transfer {
    /// Returns the times of the transfer with slow start.
    ///
    /// # Errors
    /// A quantity outside the model's domain, by name.
    pub fn slow_start(&self) -> Result<SlowStartTime, ModelError> {
        self.check()?;
        // The factor L/MTU cancels from R τ / L.
        let pipe = self.rate * self.rtt / (8.0 * self.packet) + 1.0;
        let payload_rate = self.rate / 8.0 * (self.mss / self.packet);
        let segments = libm::ceil(self.size / self.mss);
        let (filling_round, _) = self.first_round(|round| round.window >= pipe);
        let (rounds, _) = self.first_round(|round| round.total >= segments);
        let whole_rounds = filling_round.min(rounds) - 1;
        let (_, before) = self.first_round(|round| round.index > whole_rounds);
        let sojourn = self.rtt / 2.0
            + (self.rtt + self.mss / payload_rate) * f64::from(whole_rounds)
            + (self.size - self.mss * before) / payload_rate;
        Ok(SlowStartTime {
            payload_rate,
            pipe,
            filling_round,
            rounds,
            whole_rounds,
            segments_in_rounds: before,
            sojourn,
            transfer: self.rtt + sojourn,
            response: self.rtt / 2.0 + sojourn,
        })
    }

    /// Returns the times of the transfer with Quick-Start. `request` is the approved rate in bit/s, including headers.
    ///
    /// # Errors
    /// A quantity outside the model's domain, by name; a request above the path's rate.
    pub fn quick_start(&self, request: f64, small: SmallTransfers) -> Result<QuickStartTime, ModelError> {
        let slow = self.slow_start()?;
        positive("request", request)?;
        if request > self.rate {
            let why = format!(
                "{request} bit/s is above the path's rate of {} bit/s; no router grants that, and equation 5 does \
                 not hold",
                self.rate
            );
            return Err(ModelError::Together { parameter: "request", why });
        }
        let paced_rate = request / 8.0 * (self.mss / self.packet);
        let paced_bytes = paced_rate * self.rtt;
        let asked = small == SmallTransfers::Ask || self.size > self.initial_window * self.mss;
        let sojourn = if !asked {
            slow.sojourn
        } else if self.size < paced_bytes {
            self.rtt / 2.0 + self.size / paced_rate
        } else {
            self.rtt / 2.0 + self.rtt + (self.size - paced_bytes) / slow.payload_rate
        };
        let (transfer, response) = (self.rtt + sojourn, self.rtt / 2.0 + sojourn);
        Ok(QuickStartTime {
            paced_rate,
            paced_bytes,
            window: request * self.rtt / (8.0 * self.packet),
            gap: 8.0 * self.packet / request,
            asked,
            sojourn,
            transfer,
            response,
            improvement: slow.transfer / transfer,
            response_improvement: slow.response / response,
        })
    }

    /// Returns the first round of slow start for which `found` holds, and the segments sent before it.
    fn first_round(&self, found: impl Fn(Round) -> bool) -> (u32, f64) {
        let gamma = 1.0 + 1.0 / self.segments_per_ack;
        let mut round = Round { index: 1, window: self.initial_window, total: self.initial_window };
        let mut before = 0.0;
        while !found(round) {
            before = round.total;
            let window = round.window * gamma;
            round = Round { index: round.index + 1, window, total: before + window };
        }
        (round.index, before)
    }

    fn check(&self) -> Result<(), ModelError> {
        positive("size", self.size)?;
        positive("rate", self.rate)?;
        positive("rtt", self.rtt)?;
        positive("mss", self.mss)?;
        positive("packet", self.packet)?;
        positive("iw", self.initial_window)?;
        positive("segments-per-ack", self.segments_per_ack)?;
        if self.mss > self.packet {
            let why = format!(
                "a segment of {} bytes is larger than its packet of {} bytes; --packet counts the headers too",
                self.mss, self.packet
            );
            return Err(ModelError::Together { parameter: "mss", why });
        }
        // Beyond these bounds, windows in doubles no longer distinguish rounds.
        within(1.0..=1e18, "size", self.size, "1 to 1e18 bytes are")?;
        within(1.0..=1e18, "rate", self.rate, "1 to 1e18 bit/s are")?;
        within(0.0..=1e9, "rtt", self.rtt, "a time up to 1e9 seconds is")?;
        within(1.0..=1e9, "mss", self.mss, "1 to 1e9 bytes are")?;
        within(1.0..=1e9, "packet", self.packet, "1 to 1e9 bytes are")?;
        within(1.0..=1e9, "iw", self.initial_window, "1 to 1e9 segments are")?;
        within(1.0..=1e3, "segments-per-ack", self.segments_per_ack, "1 to 1000 are")
    }
}

/// A round of slow start (section III-B).
#[derive(Clone, Copy)]
struct Round {
    index: u32,
    /// The window of the round, `W(i) = w γ^(i-1)`, in segments.
    window: f64,
    /// The number of segments sent in all rounds up to this one, `M(i)`.
    total: f64,
}
