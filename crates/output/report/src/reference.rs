//! The reference line of the plots of windows. The page and the figure both use it.

use firstflight_measure::Recording;

/// The name of the reference line in legends.
pub(crate) const NAME: &str = "available rate × base RTT";

/// The maximum ratio of the reference line to the largest window drawn, up to which the line still affects the scale of a plot.
pub(crate) const ROOM: f64 = 2.0;

/// The properties of the path that determine the bandwidth-delay product.
#[derive(Clone, Copy, Debug)]
pub struct BasePath {
    /// The propagation delay there and back, in nanoseconds.
    pub base_rtt: u64,
    /// IP bytes of a full packet.
    pub packet: u32,
}

impl BasePath {
    /// Returns the bandwidth-delay product of the available rate in full packets, as steps. They end at `end` or at the end of the run,
    /// whichever is earlier. The first step has the value when the SYN is sent, but may start earlier. The available rate counts IP bytes,
    /// so the product is divided by the IP bytes of a full packet. Windows count payload and are divided by the MSS.
    pub(crate) fn products(&self, run: &Recording, end: u64) -> Vec<(u64, f64)> {
        let end = end.min(run.ended_at);
        let packets =
            |bps: u64| float(bps) * (float(self.base_rtt) / 1e9) / 8.0 / f64::from(self.packet.max(1));
        // The first step has the rate at the time of the SYN.
        let first = run.available.partition_point(|&(at, _)| at <= run.syn_at).saturating_sub(1);
        let steps = run.available[first..].iter().take_while(|&&(at, _)| at <= end);
        let mut points: Vec<_> = steps.map(|&(at, bps)| (at, packets(bps))).collect();
        if let Some(&(at, last)) = points.last()
            && at < end
        {
            points.push((end, last));
        }
        points
    }
}

#[expect(clippy::cast_precision_loss, reason = "to draw, 53 bits are plenty")]
fn float(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_in_full_packets_from_the_syn_to_the_end() {
        // 8.32 Mbit/s for 100 ms carry 104 kB, which is a hundred packets of 1040 bytes.
        let path = BasePath { base_rtt: 100_000_000, packet: 1040 };
        let available = vec![(0, 1), (5, 8_320_000), (50, 4_160_000)];
        let run = Recording { syn_at: 10, ended_at: 90, available, ..Recording::default() };
        assert_eq!(path.products(&run, u64::MAX), [(5, 100.0), (50, 50.0), (90, 50.0)]);
        assert_eq!(path.products(&run, 40), [(5, 100.0), (40, 100.0)]);
    }
}
