//! The ideal sender: it is clairvoyant, so it knows the available rate and uses it from the first moment.

use serde::Serialize;

use crate::available::{Steps, carried, carried_by};
use crate::early::{EARLY_ROUND_TRIPS, after_handshake};
use crate::fluid::{Server, after, sent, through};
use crate::others::{Hop, least_of, not_negative};

/// Whether the ideal completion time is a bound, or a fair share that an aggressive flow can exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdealKind {
    /// Only unresponsive traffic shares the path. A sender completes before the ideal only at others' cost: some of their packets were
    /// dropped because of it, still wait, or had not arrived (docs/decisions/measure.md).
    Exact,
    /// Responsive flows share the path. The ideal sender has an equal share with them, and a faster flow has a cost below one.
    FairShare,
}

impl IdealKind {
    /// Returns the word that rows have for this kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::FairShare => "fair-share",
        }
    }
}

/// Returns the IP bytes of a transfer of `size` payload bytes in full segments of `mss`, each with `headers` bytes.
pub fn ip_bytes(size: u64, mss: u64, headers: u64) -> u64 {
    size.saturating_add(size.div_ceil(mss.max(1)).saturating_mul(headers))
}

/// The IP bits of a flow without a size, as a number that no run can carry.
const FOR_EVER: u64 = u64::MAX >> 1;

/// The payload bytes of a flow without a size: more than any run can carry.
pub const ENDLESS: u64 = 1 << 62;

/// The policer of all traffic that enters a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policer {
    /// IP bits per second.
    pub bps: u64,
    /// The bucket's capacity in IP bytes.
    pub burst: u64,
}

/// The path and the application's writes, as the ideal sender knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdealSender {
    /// The rate of the access link, in IP bits per second.
    pub access_bps: u64,
    /// The rate of the receiver's access link, in IP bits per second. It is the last link; `None` if there is none.
    pub receiver_bps: Option<u64>,
    /// The rate of each bottleneck, as steps in IP bits per second.
    pub rates: Vec<(u64, u64)>,
    /// The rate of each bottleneck in which each opportunity for a packet is a separate step; `None` if the bottleneck has a rate. The
    /// stream uses it, and the available rate does not: that has the rates averaged in `rates`.
    pub opportunities: Option<Vec<(u64, u64)>>,
    /// The policer in front of each bottleneck, if there is one.
    pub policer: Option<Policer>,
    /// The base round-trip time in nanoseconds, which is also the duration of the handshake.
    pub base_rtt: u64,
    /// The application's writes in order, each as (nanoseconds after the SYN, IP bytes).
    pub writes: Vec<(u64, u64)>,
    /// IP bytes of the transfer; `None` without a size.
    pub ip_bytes: Option<u64>,
}

impl IdealSender {
    /// Returns the rate available to the measured flow, as steps. At each instant this is the minimum over the sender's access link, the
    /// receiver's access link, and what other traffic leaves of each hop (docs/reference/exports.md). From `syn_at` on, other transfers
    /// share their hop with the measured flow.
    pub fn available(&self, hops: &[Hop], syn_at: u64) -> Vec<(u64, u64)> {
        let access = vec![(0, self.receiver_bps.map_or(self.access_bps, |bps| bps.min(self.access_bps)))];
        let policer = self.policer.map(|policer| vec![(0, policer.bps)]);
        let limits: Vec<_> = std::iter::once(self.rates.clone()).chain(policer).collect();
        let hops: Vec<Hop> = hops.iter().map(|hop| hop.shared(&self.rates, (syn_at, FOR_EVER))).collect();
        let each = hops.iter().flat_map(|hop| limits.iter().map(|limit| not_negative(&hop.left(limit))));
        each.fold(access, |least, left| least_of(&least, &left))
    }

    /// Returns the ideal sender's stream as it arrives at the receiver: IP bits per second, as steps. The stream of a transfer ends with
    /// the last byte; a stream without a size does not end.
    ///
    /// Data is sent after the handshake and after it is written. Each link carries the data at the rate that other traffic leaves at that
    /// instant; propagation to the next link follows. A policer's bucket is full when the first data arrives, although cross traffic may
    /// have used some of it. If responsive flows use a rate and a bucket, the ideal sender has an equal share of both. Random loss is not
    /// modelled in either direction: a clairvoyant sender needs no ACK, and losses are part of a real sender's cost.
    pub fn stream(&self, hops: &[Hop], syn_at: u64) -> Vec<(u64, u64)> {
        let rates = self.opportunities.as_ref().unwrap_or(&self.rates);
        let lump = |(after, bytes): &(u64, u64)| {
            (syn_at.saturating_add((*after).max(self.base_rtt)), bit_nanos(*bytes))
        };
        let lumps: Vec<(u64, u128)> = self.writes.iter().map(lump).collect();
        let access = sent(&lumps, self.access_bps);
        let begins = lumps.first().map_or(syn_at, |(at, _)| *at);
        let own = (begins, self.ip_bytes.map_or(FOR_EVER, |bytes| bytes.saturating_mul(8)));
        let arriving = hops.iter().fold(access, |mut stream, hop| {
            let hop = hop.shared(rates, own);
            let begins = stream.first().map_or(0, |(at, _)| *at);
            if let Some(policer) = self.policer {
                let left = hop.left(&[(0, policer.bps)]);
                let bucket = bit_nanos(policer.burst) / u128::from(1 + hop.active_at(begins));
                stream = through(&stream, &Server { left, bucket });
            }
            let link = Server { left: hop.left(rates), bucket: 0 };
            after(through(&stream, &link), hop.delay.nanos())
        });
        // No other traffic uses the receiver's access link.
        let Some(bps) = self.receiver_bps else { return arriving };
        let left = vec![(0, i64::try_from(bps).unwrap_or(i64::MAX))];
        through(&arriving, &Server { left, bucket: 0 })
    }

    /// Returns the ideal sender that learns the path with its first ACK. The application writes all data at once; `first` IP bytes are sent
    /// after the handshake and the rest a base RTT after that. Before the first ACK it knows nothing, so no sender with this initial window
    /// and without memory or help completes sooner. `None` if the application writes more than once.
    pub fn informed_after_a_round_trip(&self, first: u64) -> Option<Self> {
        let [(after, bytes)] = self.writes[..] else { return None };
        let first = first.min(bytes);
        let leaves = after.max(self.base_rtt);
        let writes = vec![(leaves, first), (leaves.saturating_add(self.base_rtt), bytes - first)];
        Some(Self { writes, ..self.clone() })
    }

    /// Returns the payload that `stream` has delivered by each of [`EARLY_ROUND_TRIPS`] base RTTs after the handshake. Of every `packet` IP
    /// bytes, `payload` bytes are payload.
    pub fn delivered_early(&self, stream: &Steps, syn_at: u64, (payload, packet): (u64, u64)) -> Vec<u64> {
        let Some(&(from, _)) = stream.first() else { return vec![0; EARLY_ROUND_TRIPS.len()] };
        let bytes = |trips: &u64| {
            let by = after_handshake(syn_at, self.base_rtt, *trips).max(from);
            let bytes = carried(stream, from, by) / 8_000_000_000 * u128::from(payload);
            u64::try_from(bytes / u128::from(packet.max(1))).unwrap_or(u64::MAX)
        };
        EARLY_ROUND_TRIPS.iter().map(bytes).collect()
    }

    /// Returns when the last byte of the transfer arrives in an ideal stream; `None` if it never arrives, or if the transfer has no size.
    pub fn end(&self, stream: &Steps) -> Option<u64> {
        ideal_fct(stream, 0, self.ip_bytes?)
    }
}

/// Returns the ideal flow completion time in nanoseconds: from the SYN until the last IP byte of an ideal stream has arrived. `None` if it
/// never arrives.
pub fn ideal_fct(stream: &Steps, syn_at: u64, ip_bytes: u64) -> Option<u64> {
    let (from, _) = *stream.first()?;
    carried_by(stream, from, ip_bytes).map(|end| end.saturating_sub(syn_at))
}

/// Returns the payload that the ideal sender has delivered up to `until`, as the points of a line: (when, bytes). `payload_share` is the
/// payload bytes in a number of IP bytes.
pub fn ideal_line(stream: &Steps, until: u64, payload_share: (u64, u64)) -> Vec<(u64, u64)> {
    let Some(&(from, _)) = stream.first() else { return Vec::new() };
    let corners = stream.iter().map(|(at, _)| *at).filter(|at| (from..until).contains(at));
    let mut times: Vec<u64> = corners.chain([until.max(from)]).collect();
    times.dedup();
    let (num, den) = payload_share;
    let payload = |at| carried(stream, from, at) / 8_000_000_000 * u128::from(num) / u128::from(den.max(1));
    times.into_iter().map(|at| (at, u64::try_from(payload(at)).unwrap_or(u64::MAX))).collect()
}

/// Returns an amount of bytes in the unit bits times 10^9.
fn bit_nanos(bytes: u64) -> u128 {
    u128::from(bytes) * 8_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A path of 8 Mbit/s and 100 ms: a packet of 1000 bytes takes a millisecond, and the BDP is 100 packets.
    fn sender(bytes: u64) -> IdealSender {
        IdealSender {
            access_bps: 8_000_000_000_000,
            receiver_bps: None,
            rates: vec![(0, 8_000_000)],
            opportunities: None,
            policer: None,
            base_rtt: 100 * MS,
            writes: vec![(0, bytes)],
            ip_bytes: Some(bytes),
        }
    }

    fn end(sender: &IdealSender) -> u64 {
        let hop = Hop { delay: firstflight::Span::from_millis(50), ..Hop::default() };
        sender.end(&sender.stream(&[hop], 0)).expect("it ends") / MS
    }

    #[test]
    fn a_sender_informed_after_one_round_trip_loses_the_unfilled_first_window() {
        // The ideal sender takes 1.5 round trips, and a millisecond for each packet.
        assert_eq!(end(&sender(500_000)), 650);
        let informed =
            |bytes, first| end(&sender(bytes).informed_after_a_round_trip(first).expect("one write"));
        // Ten packets fill 10 ms of the first round trip's 100 ms.
        assert_eq!(informed(500_000, 10_000), 650 + 90);
        // With a window of a whole BDP no time is idle. The same holds for a transfer that fits its first window.
        assert_eq!((informed(500_000, 100_000), informed(9_000, 10_000)), (650, end(&sender(9_000))));
        let several = IdealSender { writes: vec![(0, 1), (1, 1)], ..sender(2) };
        assert_eq!(several.informed_after_a_round_trip(1), None, "an application that writes twice");
    }

    #[test]
    fn early_delivery_of_the_ideal_counts_payload_per_round_trip() {
        let informed = sender(500_000).informed_after_a_round_trip(10_000).expect("one write");
        let hop = Hop { delay: firstflight::Span::from_millis(50), ..Hop::default() };
        let stream = informed.stream(&[hop], 0);
        // The window arrives from 150 ms on, and the remaining data from 250 ms on. The deliveries are counted at 300, 400 and 600 ms.
        assert_eq!(informed.delivered_early(&stream, 0, (96, 100)), [57_600, 153_600, 345_600]);
    }
}
