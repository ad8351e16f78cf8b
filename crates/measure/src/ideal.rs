//! The clairvoyant ideal: a sender that knows the available rate and uses it from the first moment.

use serde::Serialize;

use crate::available::{Steps, carried, carried_by};
use crate::early::{EARLY_ROUND_TRIPS, after_handshake};
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

    /// The ideal sender that learns the path with its first ACK: of what the application writes at once, `first` IP bytes leave
    /// after the handshake and the rest a base round trip later. Until then it knows nothing, so that no sender with this
    /// initial window and without memory or help completes sooner. `None` if the application writes more than once.
    pub fn informed_after_a_round_trip(&self, first: u64) -> Option<Self> {
        let [(after, bytes)] = self.writes[..] else { return None };
        let first = first.min(bytes);
        let leaves = after.max(self.base_rtt);
        let writes = vec![(leaves, first), (leaves.saturating_add(self.base_rtt), bytes - first)];
        Some(Self { writes, ..self.clone() })
    }

    /// The payload that this sender's stream has delivered by so many base round trips after the handshake, for each of
    /// [`EARLY_ROUND_TRIPS`]: `payload` bytes of every `packet` IP bytes.
    pub fn delivered_early(&self, stream: &Steps, syn_at: u64, (payload, packet): (u64, u64)) -> Vec<u64> {
        let Some(&(from, _)) = stream.first() else { return vec![0; EARLY_ROUND_TRIPS.len()] };
        let bytes = |trips: &u64| {
            let by = after_handshake(syn_at, self.base_rtt, *trips).max(from);
            let bytes = carried(stream, from, by) / 8_000_000_000 * u128::from(payload);
            u64::try_from(bytes / u128::from(packet.max(1))).unwrap_or(u64::MAX)
        };
        EARLY_ROUND_TRIPS.iter().map(bytes).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// 8 Mbit/s and 100 ms: a packet of 1000 bytes a millisecond, a product of 100 of them.
    fn sender(bytes: u64) -> IdealSender {
        IdealSender {
            access_bps: 8_000_000_000_000,
            receiver_bps: None,
            rates: vec![(0, 8_000_000)],
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
    fn who_knows_after_a_round_trip_leaves_the_bottleneck_idle_for_what_its_first_window_does_not_fill() {
        // The ideal takes 1.5 round trips and a millisecond a packet.
        assert_eq!(end(&sender(500_000)), 650);
        let informed =
            |bytes, first| end(&sender(bytes).informed_after_a_round_trip(first).expect("one write"));
        // Ten packets fill 10 of the 100 ms.
        assert_eq!(informed(500_000, 10_000), 650 + 90);
        // A window of a whole product leaves nothing idle, nor does a transfer that fits its first window.
        assert_eq!((informed(500_000, 100_000), informed(9_000, 10_000)), (650, end(&sender(9_000))));
        let several = IdealSender { writes: vec![(0, 1), (1, 1)], ..sender(2) };
        assert_eq!(several.informed_after_a_round_trip(1), None, "an application that writes twice");
    }

    #[test]
    fn what_is_delivered_early_is_payload_by_round_trips_after_the_handshake() {
        let informed = sender(500_000).informed_after_a_round_trip(10_000).expect("one write");
        let hop = Hop { delay: firstflight::Span::from_millis(50), ..Hop::default() };
        let stream = informed.stream(&[hop], 0);
        // The window arrives from 150 ms on, all else from 250 ms on: by 300, 400 and 600 ms.
        assert_eq!(informed.delivered_early(&stream, 0, (96, 100)), [57_600, 153_600, 345_600]);
    }
}
