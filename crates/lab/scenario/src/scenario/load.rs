//! The load that cross traffic and the arrivals of a population offer to the path.

use firstflight::Rate;
use firstflight_measure::ideal::ip_bytes;
use firstflight_sim::{Content, Sizes};

use super::{Goal, Scenario};
use crate::cross::Often;
use crate::cross_entries::Beside;
use crate::keywords::Cross;
use crate::population::ArrivalProcess;
use crate::topology::Hosts;

#[expect(clippy::cast_precision_loss, reason = "rates and sizes are far below 2^53")]
impl Scenario {
    /// Returns the mean IP bits of an arrival. The headers are counted as if all segments were full. The last segment of a file is shorter,
    /// so that web pages have up to 0.04 % more bits (20 bytes for a file of 61 kB). Handshakes, ACKs and retransmissions are not counted.
    pub fn mean_bits(&self, content: Content) -> f64 {
        content.mean_bytes() * 8.0 * f64::from(self.packet()) / f64::from(self.mss)
    }

    /// Checks whether cross traffic that arrives independently of the path offers more than the bottleneck carries, for the whole run. The
    /// remaining rate then depends on how long the overload has lasted, so that no ideal completion time exists.
    pub fn is_overloaded(&self) -> bool {
        let sender = self.ideal_sender();
        let most = sender.rates.iter().map(|(_, bps)| *bps).max().unwrap_or(0);
        let carried = sender.policer.map_or(most, |policer| most.min(policer.bps));
        self.forward_for_good().map(|entry| self.offered(&entry)).sum::<f64>() > carried as f64
    }

    /// Checks whether transfers of the cross traffic arrive faster than the bottleneck carries them, so that their number grows until the
    /// run ends.
    pub fn piles_up(&self) -> bool {
        self.transfers_per_second() > 0.0 && self.is_overloaded()
    }

    /// Returns the number of TCP transfers per second that cross traffic begins during the whole run. Bulk flows and users do not count,
    /// because they adapt to the path.
    pub fn transfers_per_second(&self) -> f64 {
        let number = |entry: Beside| {
            let content = self.arriving(entry.cross)?;
            Some(self.offered(&entry) / self.mean_bits(content) * content.mean_flows())
        };
        self.forward_for_good().filter_map(number).sum()
    }

    /// Returns the entries of cross traffic that flow in the direction of the measured flow and never stop.
    fn forward_for_good(&self) -> impl Iterator<Item = Beside> + '_ {
        self.traffic().filter(|entry| !entry.reverse && entry.stop.is_none())
    }

    /// Returns the content of one arrival of the traffic. `None` for traffic without arrivals, and for users, whose requests depend on the
    /// path.
    fn arriving(&self, cross: Cross) -> Option<Content> {
        match cross {
            Cross::Poisson { size, sizes, .. } => {
                size.in_bytes(u64::from(self.mss)).map(|size| Content::Transfer(sizes.around(size)))
            }
            Cross::Web(_) => Some(Content::Page(Sizes::Web)),
            Cross::None | Cross::Cbr(_) | Cross::Tcp(_) | Cross::OnOff { .. } | Cross::Users { .. } => None,
        }
    }

    /// Returns the mean rate that an entry offers independently of the path, in IP bits per second. Traffic that adapts to the path, such
    /// as bulk TCP flows and users, has zero.
    fn offered(&self, entry: &Beside) -> f64 {
        match entry.cross {
            Cross::Cbr(rate) | Cross::Poisson { often: Often::Load(rate), .. } => rate.bps() as f64,
            Cross::OnOff { rate, on, off, .. } => {
                let (on, off) = (on.nanos() as f64, off.nanos() as f64);
                rate.bps() as f64 * on / (on + off)
            }
            Cross::Poisson { often: Often::PerSecond(number), .. } => {
                self.arriving(entry.cross).map_or(0.0, |content| self.mean_bits(content) * number.to_f64())
            }
            Cross::Web(load) => load.to_f64() * self.rate_of(entry).bps() as f64,
            Cross::None | Cross::Tcp(_) | Cross::Users { .. } => 0.0,
        }
    }
}

/// The load of a population's transfers, and the rate of the links between routers.
#[derive(Clone, Copy)]
pub(super) struct Load {
    /// Payload bytes of a segment.
    pub(super) mss: u16,
    /// The goal, whose size is the mean payload bytes of a transfer.
    pub(super) goal: Goal,
    /// The highest rate of a link between routers.
    pub(super) rate: Rate,
}

impl Load {
    /// Checks whether Poisson arrivals between these hosts offer more IP bits per second than the busiest link carries.
    #[expect(clippy::cast_precision_loss, reason = "sizes and rates are far below 2^53")]
    pub(super) fn exceeds_path(self, arrivals: &ArrivalProcess, hosts: Hosts) -> bool {
        let (ArrivalProcess::Poisson(per_second), Goal::Size(mean)) = (arrivals, self.goal) else {
            return false;
        };
        let bits = 8.0 * ip_bytes(mean.get(), u64::from(self.mss), HEADERS) as f64;
        per_second.to_f64() * bits * busiest_share(hosts) > self.rate.bps() as f64
    }
}

/// Bytes of the IPv4 and TCP headers without options.
const HEADERS: u64 = 40;

/// Returns the share of transfers between random routers that cross the busiest link in one direction. In a line of `n` links, the `k`-th
/// link has `k` routers before it and `n + 1 - k` routers after it.
fn busiest_share(hosts: Hosts) -> f64 {
    let routers = f64::from(hosts.hops) + 1.0;
    let before = f64::from(hosts.hops.div_ceil(2));
    let pairs = routers * (routers - 1.0) / if hosts.onward { 2.0 } else { 1.0 };
    before * (routers - before) / pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_link_is_the_middle_one() {
        let share = |hops, onward| busiest_share(Hosts { hops, each: 3, onward });
        assert_eq!([share(1, true), share(1, false)].map(f64::to_bits), [1.0, 0.5].map(f64::to_bits));
        assert!(
            (share(3, true) - 4.0 / 6.0).abs() < 1e-12,
            "of six pairs of routers four cross the second link"
        );
        assert!((share(4, false) - 6.0 / 20.0).abs() < 1e-12);
    }
}
