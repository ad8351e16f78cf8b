//! The bottleneck's queue: its limit and its management.

use firstflight::Bytes;
use firstflight_sim::{CoDelSpec, Discipline, FqCoDelSpec, PieSpec, Probability, QueueLimit, RedSpec};

use super::Scenario;
use crate::bottleneck::AqmKind;
use crate::chance::PARTS;
use crate::quantity::QueueSize;

impl Scenario {
    /// Returns the queue's limit in IP bytes; `None` if the limit is in packets. A limit in bandwidth-delay products is converted to rate ×
    /// base RTT in bytes, and is at least one packet.
    pub fn queue_bytes(&self) -> Option<Bytes> {
        self.size_bytes(self.queue)
    }

    /// Returns the limit of the queue in the form that the simulator takes.
    pub fn queue_limit(&self) -> QueueLimit {
        match (self.queue, self.queue_bytes()) {
            (QueueSize::Packets(packets), _) => QueueLimit::Packets(packets),
            (_, Some(bytes)) => QueueLimit::Bytes(bytes),
            // `Scenario::resolve` has rejected a limit that does not fit.
            (_, None) => QueueLimit::Unlimited,
        }
    }

    /// Returns the queue management in the form that the simulator takes.
    pub fn discipline(&self) -> Discipline {
        let Some(aqm) = self.aqm else { return Discipline::DropTail };
        let usual = CoDelSpec::default();
        let codel = CoDelSpec {
            target: aqm.target.unwrap_or(usual.target),
            interval: aqm.interval.unwrap_or(usual.interval),
            ecn: aqm.ecn,
        };
        match aqm.kind {
            AqmKind::CoDel => Discipline::CoDel(codel),
            AqmKind::FqCoDel => {
                let usual = FqCoDelSpec::default();
                Discipline::FqCoDel(FqCoDelSpec {
                    codel,
                    flows: aqm.flows.unwrap_or(usual.flows),
                    quantum: aqm.quantum.unwrap_or(usual.quantum),
                })
            }
            AqmKind::Pie => {
                let usual = PieSpec::for_packets(self.packet());
                Discipline::Pie(PieSpec { target: aqm.target.unwrap_or(usual.target), ecn: aqm.ecn, ..usual })
            }
            AqmKind::Red => {
                let usual = RedSpec::over(self.queue_limit(), self.packet());
                let threshold = |size: Option<QueueSize>| match size? {
                    QueueSize::Packets(packets) => Some(u64::from(packets)),
                    size => self.size_bytes(size).map(Bytes::get),
                };
                let max_p = aqm.max_p.map_or(usual.max_p, |p| {
                    p.times(PARTS).map_or(usual.max_p, |p| Probability::ratio(p, PARTS))
                });
                let max = threshold(aqm.max).unwrap_or(usual.max);
                // An unset `min` is a third of `max`, whether or not `max` is set.
                let min = threshold(aqm.min).unwrap_or((max / 3).max(1));
                Discipline::Red(RedSpec { min, max, max_p, ecn: aqm.ecn, ..usual })
            }
        }
    }

    pub(super) fn red_thresholds(&self) -> Option<(u64, u64)> {
        match self.discipline() {
            Discipline::Red(red) => Some((red.min, red.max)),
            _ => None,
        }
    }

    fn size_bytes(&self, size: QueueSize) -> Option<Bytes> {
        match size {
            QueueSize::Packets(_) => None,
            QueueSize::Bytes(bytes) => Some(bytes),
            QueueSize::Bdp(share) => {
                let bit_nanos = u128::from(self.rate.bps()) * u128::from(self.rtt.nanos());
                let bytes = share.ratio(bit_nanos, 8_000_000_000)?;
                Some(Bytes::new(bytes.max(u64::from(self.packet()))))
            }
        }
    }
}
