//! The clairvoyant ideal: a sender that knows the available rate and uses it from the first moment.

use serde::Serialize;

use crate::available::{Steps, carried, carried_by};
use crate::fluid::{Server, after, sent, through};
use crate::others::{Hop, least_of, not_negative};

/// Whether the ideal can be reached, or is a fair share that an aggressive flow can exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdealKind {
    /// Only unresponsive traffic shares the path. A sender is faster than the ideal only at others' cost: by packets that
    /// were dropped because of it, still wait, or had not arrived (docs/decisions/measure.md).
    Exact,
    /// Responsive flows share the path: the ideal is an equal share with them, and a cost may be below one.
    FairShare,
}

impl IdealKind {
    /// The name of the kind in rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::FairShare => "fair-share",
        }
    }
}

/// IP bytes of a transfer of `size` payload bytes in full segments of `mss`, each with `headers`.
pub fn ip_bytes(size: u64, mss: u64, headers: u64) -> u64 {
    size.saturating_add(size.div_ceil(mss.max(1)).saturating_mul(headers))
}

/// The size of a transfer without a size: more bytes than any run can carry.
pub const ENDLESS: u64 = 1 << 62;

/// The policer of all traffic that enters a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policer {
    /// IP bits per second.
    pub bps: u64,
    /// The bucket's capacity in IP bytes.
    pub burst: u64,
}

/// The ideal sender: the rates of the path, and the writes of the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdealSender {
    /// The rate of the access link, in IP bits per second.
    pub access_bps: u64,
    /// The rate of the receiver's access link, the last link, in IP bits per second; `None` without such a link.
    pub receiver_bps: Option<u64>,
    /// The rate of each bottleneck, as steps in IP bits per second.
    pub rates: Vec<(u64, u64)>,
    /// The policer in front of each bottleneck.
    pub policer: Option<Policer>,
    /// The base round-trip time in nanoseconds, which the handshake takes.
    pub base_rtt: u64,
    /// The application's writes, in order: nanoseconds after the SYN, and IP bytes.
    pub writes: Vec<(u64, u64)>,
    /// IP bytes of the transfer; `None` without a size.
    pub ip_bytes: Option<u64>,
}

impl IdealSender {
    /// The rate available to the measured flow, as steps. At each instant this is the least of three rates: of the sender's
    /// access link, of the receiver's access link, and of each hop less its other traffic (docs/exports.md).
    pub fn available(&self, hops: &[Hop]) -> Vec<(u64, u64)> {
        let access = vec![(0, self.receiver_bps.map_or(self.access_bps, |bps| bps.min(self.access_bps)))];
        let policer = self.policer.map(|policer| vec![(0, policer.bps)]);
        let limits: Vec<_> = std::iter::once(self.rates.clone()).chain(policer).collect();
        let each = hops.iter().flat_map(|hop| limits.iter().map(|limit| not_negative(&hop.left(limit))));
        each.fold(access, |least, left| least_of(&least, &left))
    }

    /// The ideal sender's stream as it arrives at the receiver: IP bits per second, as steps. The stream of a transfer ends
    /// with the last byte; a stream without a size does not end.
    ///
    /// No data leaves before the handshake is over, nor before it is written. Each link carries the data at the rate that
    /// other traffic leaves at that instant; propagation to the next link follows. A policer's bucket is full when the
    /// first data arrives, although cross traffic may have used some of it. The ideal has an equal share of the rate and of
    /// the bucket that responsive flows use. The receiver's access link, if there is one, is the last link. Random loss is
    /// not modelled in either direction: a clairvoyant sender needs no ACK, and losses are part of a real sender's cost.
    pub fn stream(&self, hops: &[Hop], syn_at: u64) -> Vec<(u64, u64)> {
        let lump = |(after, bytes): &(u64, u64)| {
            (syn_at.saturating_add((*after).max(self.base_rtt)), bit_nanos(*bytes))
        };
        let lumps: Vec<(u64, u128)> = self.writes.iter().map(lump).collect();
        let access = sent(&lumps, self.access_bps);
        let arriving = hops.iter().fold(access, |mut stream, hop| {
            let begins = stream.first().map_or(0, |(at, _)| *at);
            if let Some(policer) = self.policer {
                let left = hop.left(&[(0, policer.bps)]);
                let bucket = bit_nanos(policer.burst) / u128::from(1 + hop.active_at(begins));
                stream = through(&stream, &Server { left, bucket });
            }
            let link = Server { left: hop.left(&self.rates), bucket: 0 };
            after(through(&stream, &link), hop.delay.nanos())
        });
        // No other traffic uses the receiver's access link.
        let Some(bps) = self.receiver_bps else { return arriving };
        let left = vec![(0, i64::try_from(bps).unwrap_or(i64::MAX))];
        through(&arriving, &Server { left, bucket: 0 })
    }

    /// When the last byte of the transfer arrives in an ideal stream; `None` if it never arrives, or without a size.
    pub fn end(&self, stream: &Steps) -> Option<u64> {
        ideal_fct(stream, 0, self.ip_bytes?)
    }
}

/// The ideal flow completion time in nanoseconds: from the SYN until the last IP byte of an ideal stream has arrived.
/// `None` if it never arrives.
pub fn ideal_fct(stream: &Steps, syn_at: u64, ip_bytes: u64) -> Option<u64> {
    let (from, _) = *stream.first()?;
    carried_by(stream, from, ip_bytes).map(|end| end.saturating_sub(syn_at))
}

/// The payload that the ideal sender has delivered, as corners of a line up to `until`: (when, bytes).
pub fn ideal_line(stream: &Steps, until: u64, payload_share: (u64, u64)) -> Vec<(u64, u64)> {
    let Some(&(from, _)) = stream.first() else { return Vec::new() };
    let corners = stream.iter().map(|(at, _)| *at).filter(|at| (from..until).contains(at));
    let mut times: Vec<u64> = corners.chain([until.max(from)]).collect();
    times.dedup();
    let (num, den) = payload_share;
    let payload = |at| carried(stream, from, at) / 8_000_000_000 * u128::from(num) / u128::from(den.max(1));
    times.into_iter().map(|at| (at, u64::try_from(payload(at)).unwrap_or(u64::MAX))).collect()
}

/// An amount of bytes in bits times 10^9.
fn bit_nanos(bytes: u64) -> u128 {
    u128::from(bytes) * 8_000_000_000
}
