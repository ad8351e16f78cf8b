//! The packets that the host sent, and the fate of each.

use std::collections::BTreeMap;

use firstflight::{
    Ack, Bytes, Delivered, Event, Loss, Origin, Path, SendLimit, Sent, Tag, Time, TraceRecord,
};

use crate::breach::Breaches;
use crate::law::Law;
use crate::order::event;

/// The maximum number of lost transmissions in memory. It is needed because a host that counts retransmitted bytes does not report which
/// loss a retransmission repairs. Transmissions that are no longer in memory are not checked.
const MAX_LOST: usize = 1 << 16;

/// A transmission, as its `sent` event described it.
#[derive(Clone, Copy, Debug)]
struct Transmission {
    bytes: Bytes,
    tag: Tag,
    sent_at: Time,
    delivered: Bytes,
    limit: SendLimit,
    /// Whether the application had no more data to send after this packet.
    last: bool,
    again: bool,
    /// The value of `nxt` before the transmission. The packet ends at or before the offset `until`.
    start: u64,
    until: u64,
    fate: Fate,
}

/// The fate of a transmission. The number is the count of events, at that time, that make this fate uncertain: undos for a loss, timeouts
/// for a selective acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Out,
    Lost(u32),
    Selected(u32),
}

#[derive(Debug, Default)]
pub(super) struct Packets {
    /// Transmissions that are neither acknowledged cumulatively nor below `una`, by packet number.
    out: BTreeMap<u64, Transmission>,
    /// The packet number of the next transmission.
    next: u64,
    /// Packets with lower numbers may have been removed from memory. Those that are not in memory are not checked.
    forgotten: u64,
    lost: usize,
    /// Packets with lower numbers were sent over an earlier path.
    elsewhere: u64,
    /// The value of `nxt` in the previous call, if that call retransmitted data.
    again: Option<u64>,
    /// The number of transmissions that a later transmission of the same data may have replaced.
    replaced: u64,
    /// Bytes of the first outstanding packet that may be acknowledged already.
    partial: Bytes,
    largest: Bytes,
    /// The number of duplicate ACKs without new bytes since the last advance of the cumulative ACK.
    told_of: u64,
    /// The number of packets that were selectively acknowledged and that are still above the cumulative ACK.
    selected: u64,
    /// The number of timeouts, after which the receiver may renege on selective acknowledgements. The number of undos, after which no
    /// packet counts as lost, follows.
    timeouts: u32,
    undos: u32,
    /// Whether ACKs list their packets; `None` before the first ACK.
    lists: Option<bool>,
    /// Whether the host itself determines the bytes by which an ACK advances.
    host_judges: bool,
}

impl Packets {
    /// Records that the host itself determines the bytes that may grow the window. It may then report an ACK that advances without these
    /// bytes.
    pub(super) fn host_limits_growth(&mut self) {
        self.host_judges = true;
    }

    /// Returns the number of the next packet to be sent.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the end of the newest packet that an ACK acknowledges, as an offset of a host with packet numbers.
    pub(super) fn newest_end(&self, record: &TraceRecord) -> Option<u64> {
        let Some(Event::Acked(ack)) = event(record) else { return None };
        let newest = ack.packets.iter().chain(ack.newest).map(|packet| packet.packet).max()?;
        self.out.get(&newest).map(|sent| sent.start.saturating_add(sent.bytes.get()))
    }

    pub(super) fn kept(&self) -> usize {
        self.out.len()
    }

    pub(super) fn check_record(&mut self, record: &TraceRecord, breaches: &mut Breaches) {
        // If a host's `nxt` counts retransmitted data, it sends this data in new packets.
        self.replaced += u64::from(self.again.take() == Some(record.path.nxt));
        match event(record) {
            Some(Event::Begin(Origin::PathChange)) => self.elsewhere = self.next,
            Some(Event::Sent(sent)) => self.sent(&sent, &record.path, breaches),
            Some(Event::Acked(ack)) => self.acked(&ack, &record.path, breaches),
            Some(Event::Lost(loss)) => self.found_lost(&loss, breaches),
            Some(Event::TimedOut { .. }) => {
                self.timeouts += 1;
                self.told_of = 0;
            }
            Some(Event::SpuriousLoss) => self.undos += 1,
            _ => {}
        }
    }

    fn sent(&mut self, sent: &Sent, path: &Path, breaches: &mut Breaches) {
        let Sent { packet, bytes, tag, retransmission, .. } = *sent;
        if packet != self.next {
            let next = self.next;
            breaches.add(Law::PacketNumbers, format!("packet {packet} leaves; the next one is {next}"));
        }
        if retransmission && path.nxt <= path.una {
            let what = format!("packet {packet} is reported as retransmitted; nothing is outstanding");
            breaches.add(Law::Retransmission, what);
        }
        self.next = packet.saturating_add(1).max(self.next);
        self.largest = self.largest.max(bytes);
        let last = path.backlog.is_none_or(|backlog| backlog <= bytes);
        self.again = retransmission.then_some(path.nxt);
        let until = path.nxt.saturating_add(if retransmission { 0 } else { bytes.get() });
        let transmission = Transmission {
            bytes,
            tag,
            sent_at: path.now,
            delivered: path.delivered,
            limit: path.limit,
            last,
            again: retransmission,
            start: path.nxt,
            until,
            fate: Fate::Out,
        };
        self.out.insert(packet, transmission);
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path, breaches: &mut Breaches) {
        if !ack.bytes.is_zero() {
            // An ACK that covers only a part of a packet may list no packet.
            let lists = !ack.packets.is_empty();
            if lists || ack.bytes >= self.largest {
                self.lists.get_or_insert(lists);
            }
        }
        let mut behind: Option<&Delivered> = None;
        // If a host's ACKs do not list packets, a part of the newest packet may be acknowledged before the rest.
        if let Some(newest) = ack.newest.filter(|_| ack.packets.is_empty()) {
            self.acknowledged(newest, None, breaches);
        }
        for packet in ack.packets {
            self.acknowledged(packet, behind, breaches);
            behind = Some(packet).filter(|packet| !packet.retransmitted).or(behind);
        }
        if self.lists == Some(true) {
            self.sums(ack, breaches);
            self.segments(ack, breaches);
        }
        for packet in ack.packets {
            self.settle(packet);
        }
        if !ack.advanced.is_zero() {
            self.told_of = 0;
        } else if ack.duplicate && ack.bytes.is_zero() {
            self.told_of += 1;
        }
        self.sample(ack, path, breaches);
        self.leave_behind(path);
    }

    /// Removes the oldest transmissions below `una`. The data of these was acknowledged under the packet numbers of retransmissions.
    fn leave_behind(&mut self, path: &Path) {
        while let Some(first) = self.out.first_entry()
            && first.get().until < path.una
        {
            let selected = matches!(first.get().fate, Fate::Selected(_));
            if !selected && self.replaced == 0 {
                return;
            }
            self.replaced -= u64::from(!selected);
            self.lost -= usize::from(matches!(first.get().fate, Fate::Lost(_)));
            first.remove();
        }
    }

    fn acknowledged(&self, packet: &Delivered, behind: Option<&Delivered>, breaches: &mut Breaches) {
        let number = packet.packet;
        if number < self.elsewhere {
            breaches.add(Law::AckedInFlight, format!("packet {number} left over another path"));
            return;
        }
        let Some(sent) = self.out.get(&number) else {
            if number >= self.next {
                let next = self.next;
                breaches.add(
                    Law::AckedInFlight,
                    format!("packet {number} did not leave; the next one is {next}"),
                );
            } else if number >= self.forgotten {
                let what = format!(
                    "packet {number} is in flight no more: it or all sent up to it was acknowledged before"
                );
                breaches.add(Law::AckedInFlight, what);
            }
            return;
        };
        if sent.fate == Fate::Selected(self.timeouts) {
            let what = format!("packet {number} was acknowledged selectively before");
            breaches.add(Law::AckedInFlight, what);
        }
        let mut differs = |what: &str, is: String, was: String| {
            breaches.add(Law::PacketAsSent, format!("packet {number} has {what} {is}; it left with {was}"));
        };
        if packet.bytes > sent.bytes || sent.bytes - packet.bytes > self.partial {
            differs("bytes", packet.bytes.get().to_string(), sent.bytes.get().to_string());
        }
        if packet.tag != sent.tag {
            differs("tag", packet.tag.0.to_string(), sent.tag.0.to_string());
        }
        if packet.sent_at != sent.sent_at {
            differs("sent_at", packet.sent_at.nanos().to_string(), sent.sent_at.nanos().to_string());
        }
        if packet.delivered_at_send != sent.delivered {
            let [is, was] = [packet.delivered_at_send, sent.delivered].map(|bytes| bytes.get().to_string());
            differs("delivered_at_send", is, was);
        }
        if packet.limit != sent.limit && !(packet.limit == SendLimit::App && sent.last) {
            differs("limit", format!("{:?}", packet.limit), format!("{:?}", sent.limit));
        }
        if packet.retransmitted != sent.again {
            differs("retransmitted", packet.retransmitted.to_string(), sent.again.to_string());
        }
        let behind = behind
            .filter(|_| !packet.retransmitted)
            .and_then(|behind| Some((behind, self.out.get(&behind.packet)?)));
        if let Some((behind, before)) = behind
            && before.start > sent.start
        {
            let what = format!(
                "packet {number} stands behind packet {}, whose data comes after its own",
                behind.packet
            );
            breaches.add(Law::AckOrder, what);
        }
    }

    fn sums(&self, ack: &Ack<'_>, breaches: &mut Breaches) {
        let (is, sum) = (ack.bytes.get(), total(ack.packets.iter().map(|packet| packet.bytes)));
        let listed = sum.get();
        // Without SACK, duplicate ACKs report deliveries of packets that a later ACK lists.
        let record = self.largest * self.told_of;
        let fits = if ack.bytes < sum {
            sum - ack.bytes <= record
        } else {
            ack.bytes - sum < self.largest.max(Bytes::new(1))
        };
        if !fits || ack.bytes > sum && ack.bytes - sum > ack.advanced {
            breaches.add(Law::AckBytes, format!("bytes is {is}; the packets have {listed} B"));
        }
        let selective =
            total(ack.packets.iter().filter(|packet| packet.selectively).map(|packet| packet.bytes));
        if ack.sacked != selective {
            let (is, was) = (ack.sacked.get(), selective.get());
            breaches.add(
                Law::AckSacked,
                format!("sacked is {is}; the packets selectively acknowledged have {was} B"),
            );
        }
    }

    fn segments(&mut self, ack: &Ack<'_>, breaches: &mut Breaches) {
        let selectively = ack.packets.iter().filter(|packet| packet.selectively).count() as u64;
        let whole = ack.packets.len() as u64 - selectively;
        let is = u64::from(ack.segments);
        let most = if ack.advanced.is_zero() && !self.host_judges { 0 } else { whole + self.selected };
        if is < whole || is > most {
            let what = format!("segments is {is}; from {whole} to {most} are allowed");
            breaches.add(Law::AckSegments, what);
        }
        self.selected = (self.selected + whole).saturating_sub(is) + selectively;
    }

    /// Records that a packet is acknowledged.
    fn settle(&mut self, packet: &Delivered) {
        if !packet.selectively {
            if let Some(sent) = self.out.remove(&packet.packet) {
                self.lost -= usize::from(matches!(sent.fate, Fate::Lost(_)));
            }
        } else if let Some(sent) = self.out.get_mut(&packet.packet) {
            self.lost -= usize::from(matches!(sent.fate, Fate::Lost(_)));
            sent.fate = Fate::Selected(self.timeouts);
        }
    }

    /// Checks the RTT sample, and updates the acknowledged part of the first outstanding packet.
    fn sample(&mut self, ack: &Ack<'_>, path: &Path, breaches: &mut Breaches) {
        let part = ack.bytes - total(ack.packets.iter().map(|packet| packet.bytes));
        let passed = ack.packets.iter().any(|packet| !packet.selectively) || ack.segments > 0;
        self.partial = part + if passed { Bytes::ZERO } else { self.partial };
        let Some(sample) = ack.rtt else { return };
        let ago = path.now.since(ack.packets.iter().map(|packet| packet.sent_at).min().unwrap_or(Time::ZERO));
        // With timestamps, the sample may belong to an earlier transmission of the packet.
        let known = ack.packets.iter().all(|packet| !packet.retransmitted);
        if sample.rtt.is_zero() {
            breaches.add(Law::RttSample, "the sample is zero".to_owned());
        } else if known && sample.rtt > ago {
            let (is, most) = (sample.rtt.nanos(), ago.nanos());
            breaches
                .add(Law::RttSample, format!("the sample is {is} ns; the oldest packet left {most} ns ago"));
        }
    }

    fn found_lost(&mut self, loss: &Loss<'_>, breaches: &mut Breaches) {
        for lost in loss.packets {
            let number = lost.packet;
            let mut refuse = |law, what: &str| breaches.add(law, format!("packet {number} {what}"));
            let Some(sent) = self.out.get_mut(&number) else {
                if number >= self.next {
                    refuse(Law::LostInFlight, "did not leave");
                } else if number >= self.forgotten {
                    refuse(Law::LostInFlight, "is in flight no more");
                }
                continue;
            };
            match sent.fate {
                Fate::Lost(undos) if undos == self.undos => {
                    refuse(Law::LostInFlight, "was found lost before");
                }
                Fate::Selected(timeouts) if timeouts == self.timeouts => {
                    refuse(Law::LostInFlight, "was acknowledged selectively before");
                }
                _ if number < self.elsewhere => {
                    refuse(Law::LostInFlight, "left over another path");
                }
                Fate::Out | Fate::Lost(_) | Fate::Selected(_) => {}
            }
            if lost.tag != sent.tag {
                let (is, was) = (lost.tag.0, sent.tag.0);
                refuse(Law::PacketAsSent, &format!("has tag {is}; it left with {was}"));
            }
            // The end of the stream may count as one byte of the lost packet.
            let most = sent.bytes + Bytes::new(u64::from(sent.last));
            if lost.bytes > most || sent.bytes - lost.bytes > self.partial {
                let (is, was) = (lost.bytes.get(), sent.bytes.get());
                refuse(Law::PacketAsSent, &format!("has bytes {is}; it left with {was}"));
            }
            self.lost += usize::from(!matches!(sent.fate, Fate::Lost(_)));
            sent.fate = Fate::Lost(self.undos);
        }
        let departures =
            loss.packets.iter().filter_map(|lost| self.out.get(&lost.packet)).map(|sent| sent.sent_at);
        if let (Some(is), Some(was)) = (loss.sent_at, departures.max())
            && is != was
        {
            let (is, was) = (is.nanos(), was.nanos());
            let what = format!("the loss has sent_at {is} ns; the newest of its packets left at {was} ns");
            breaches.add(Law::PacketAsSent, what);
        }
        if loss.packets.is_empty() && self.lists != Some(true) {
            return;
        }
        let (is, sum) = (loss.bytes.get(), total(loss.packets.iter().map(|lost| lost.bytes)).get());
        if is != sum {
            breaches.add(Law::LostBytes, format!("bytes is {is}; the packets have {sum} B"));
        }
        let (ranges, most) = (loss.ranges as usize, loss.packets.len());
        if ranges > most || ranges == 0 && most > 0 {
            breaches.add(
                Law::LostBytes,
                format!("ranges is {ranges}; from {} to {most} are allowed", most.min(1)),
            );
        }
        self.forget_the_oldest();
    }

    fn forget_the_oldest(&mut self) {
        while self.lost > MAX_LOST
            && let Some((number, sent)) = self.out.pop_first()
        {
            self.lost -= usize::from(matches!(sent.fate, Fate::Lost(_)));
            self.forgotten = number.saturating_add(1);
        }
    }
}

fn total(bytes: impl Iterator<Item = Bytes>) -> Bytes {
    bytes.fold(Bytes::ZERO, |sum, bytes| sum + bytes)
}
