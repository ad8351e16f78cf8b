//! Cross traffic as text.

use std::fmt;

use firstflight::registry::Registry;
use firstflight::{Bytes, Rate, Span};
use firstflight_sim::Sizes;

use crate::bulk_flows::Bulk;
use crate::quantity::{self, Amount, Decimal, QuantityError, Why, refuse, show_rate, show_span};
use crate::suggest::{TRAFFIC, meant};

/// The other traffic on the bottleneck, in the measured flow's direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cross {
    /// No cross traffic.
    None,
    /// Constant bit rate: datagrams as large as the flow's full packets, at this rate in IP bits per second.
    Cbr(Rate),
    /// Bulk TCP flows with the measured flow's path, receivers and recovery.
    Tcp(Bulk),
    /// On/off datagrams: at a constant bit rate during on periods, none during off periods.
    OnOff {
        /// The rate during an on period, in IP bits per second.
        rate: Rate,
        /// The mean length of an on period.
        on: Span,
        /// The mean length of an off period.
        off: Span,
        /// The exponent of Pareto-distributed periods; `None` for exponentially distributed periods.
        pareto: Option<Decimal>,
    },
    /// TCP transfers that arrive as a Poisson process.
    Poisson {
        /// The rate of arrivals.
        often: Often,
        /// The mean size, in payload bytes or full segments.
        size: Amount,
        /// The distribution of sizes.
        sizes: SizeLaw,
    },
    /// Users who request one web page after another. Each further file is requested when the previous file has arrived.
    Users {
        /// The number of users.
        users: u32,
        /// The mean size of a file, in payload bytes or full segments.
        size: Amount,
        /// The distribution of sizes.
        sizes: SizeLaw,
    },
    /// Web pages that arrive as a Poisson process and offer this share of the bottleneck's rate.
    Web(Decimal),
}

/// The rate at which transfers arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Often {
    /// The mean number of arrivals per second.
    PerSecond(Decimal),
    /// The mean rate of the arriving transfers in IP bits per second, without retransmissions.
    Load(Rate),
}

/// The distribution of sizes around their mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeLaw {
    /// All sizes equal.
    Fixed,
    /// Exponential.
    Exponential,
    /// Log-normal, with this standard deviation of the logarithm.
    LogNormal(Decimal),
    /// Pareto with this exponent, above one.
    Pareto(Decimal),
}

/// The standard deviation of the logarithm of web file sizes (Barford and Crovella's body: 1.318).
const SIGMA: &str = "1.318";
/// The largest transfer of a heavy-tailed distribution, in multiples of the mean.
const LARGEST: f64 = 1_000.0;
/// The Pareto exponent of web pages: 1.5, as in ns-2's `ParetoTraffic`. The mean is finite.
const SHAPE: &str = "1.5";

impl Cross {
    /// Checks whether the traffic responds to congestion, so that the available rate is a fair share.
    pub const fn is_responsive(&self) -> bool {
        match self {
            Self::None | Self::Cbr(_) | Self::OnOff { .. } => false,
            Self::Tcp(_) | Self::Poisson { .. } | Self::Users { .. } | Self::Web(_) => true,
        }
    }

    /// Checks whether the rate that the traffic leaves to others changes during a run, and so may depend on the measured scheme.
    pub const fn varies(&self) -> bool {
        match self {
            Self::None | Self::Cbr(_) | Self::Tcp(_) => false,
            Self::OnOff { .. } | Self::Poisson { .. } | Self::Users { .. } | Self::Web(_) => true,
        }
    }

    /// Returns the traffic in words, for titles.
    pub fn describe(&self) -> String {
        match self {
            Self::None => "no cross traffic".to_owned(),
            Self::Cbr(rate) => format!("{} CBR across", quantity::humane_rate(*rate)),
            Self::Tcp(bulk) => bulk.describe(),
            Self::OnOff { rate, on, off, .. } => {
                let (on, off) = (quantity::humane_span(*on), quantity::humane_span(*off));
                format!("{} across for {on}, then none for {off}, in the mean", quantity::humane_rate(*rate))
            }
            Self::Users { users, size, .. } => {
                let size = humane_amount(*size);
                let who = if *users == 1 {
                    "a web user who waits".to_owned()
                } else {
                    format!("{users} web users who wait")
                };
                format!("files for {who} across, {size} in the mean")
            }
            Self::Poisson { often, size, .. } => {
                let size = humane_amount(*size);
                match often {
                    Often::PerSecond(number) => {
                        format!("{number} TCP transfers a second of {size} across, in the mean")
                    }
                    Often::Load(rate) => {
                        let rate = quantity::humane_rate(*rate);
                        format!("{rate} of TCP transfers of {size} across, in the mean")
                    }
                }
            }
            Self::Web(load) => format!("web pages across that offer {} of the rate", load.in_percent()),
        }
    }
}

impl fmt::Display for Cross {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Cbr(rate) => f.write_str(&show_rate(*rate)),
            Self::Tcp(bulk) => bulk.fmt(f),
            Self::OnOff { rate, on, off, pareto } => {
                write!(f, "onoff:{},{},{}", show_rate(*rate), show_span(*on), show_span(*off))?;
                pareto.map_or(Ok(()), |shape| write!(f, ",pareto={shape}"))
            }
            Self::Poisson { often, size, sizes } => write!(f, "poisson:{often},{size},{sizes}"),
            Self::Users { users, size, sizes } => write!(f, "users:{users},{size},{sizes}"),
            Self::Web(load) => write!(f, "web:{load}"),
        }
    }
}

fn humane_amount(amount: Amount) -> String {
    match amount {
        Amount::Packets(number) => format!("{number} packets"),
        Amount::Bytes(bytes) => quantity::humane_bytes(bytes),
    }
}

impl fmt::Display for Often {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PerSecond(number) => number.fmt(f),
            Self::Load(rate) => f.write_str(&show_rate(*rate)),
        }
    }
}

impl SizeLaw {
    /// Returns the distribution of sizes with this mean in bytes.
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
    pub fn around(self, mean: Bytes) -> Sizes {
        let bytes = mean.get() as f64;
        match self {
            Self::Fixed => Sizes::Fixed(mean.get()),
            Self::Exponential => Sizes::Exponential { mean: bytes },
            Self::LogNormal(sigma) => Sizes::LogNormal { mean: bytes, sigma: sigma.to_f64() },
            Self::Pareto(shape) => Sizes::pareto(bytes, shape.to_f64(), bytes * LARGEST),
        }
    }
}

impl fmt::Display for SizeLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed => f.write_str("fixed"),
            Self::Exponential => f.write_str("exponential"),
            Self::LogNormal(sigma) => write!(f, "lognormal={sigma}"),
            Self::Pareto(shape) => write!(f, "pareto={shape}"),
        }
    }
}

const CROSS: &str = "cross traffic is `none`, a constant bit rate as in `40mbit`, bulk TCP flows as in `cubic:2`, `bbr:1`, `reno:4` or `tcp:4` \
                     (at most 1000; or `tcp:4,hystart`, `tcp:4,cubic`, `tcp:4,hystart,cubic`), datagrams in periods as in `onoff:40mbit,1s,1s` (or `…,pareto=1.5`), TCP transfers a \
                     second, or a rate of them, of a mean size as in `poisson:20,50p` or `poisson:10mbit,50p` (or `…,fixed`, `…,lognormal=1.3`, `…,pareto=1.5`), \
                     web users who wait for files of a mean size as in `users:8,10kB` (or `…,pareto=1.1`; at most 10000), or \
                     web pages that offer a share of the rate as in `web:30%`";

/// Reads cross traffic: `none`, `40mbit`, `cubic:2`, `tcp:4`, `tcp:4,cubic`, `onoff:40mbit,1s,1s`, `poisson:20,50p`, `web:30%`. A zero
/// (`0`, `tcp:0`, `web:0%`, `poisson:0,50p`) also means none. Names of schemes and laws are looked up in the registry.
///
/// # Errors
/// Anything else, a rate that [`quantity::rate`] rejects, or too many flows.
pub fn cross(registry: Registry, text: &str) -> Result<Cross, QuantityError> {
    let text = text.trim();
    if let Some(bulk) = Bulk::by_name(registry, text) {
        return bulk.map(|bulk| bulk.map_or(Cross::None, Cross::Tcp));
    }
    let found = match text.split_once(':') {
        None => quantity::or_none(text, quantity::rate).map(|rate| rate.map_or(Cross::None, Cross::Cbr)),
        Some(("tcp", flows)) => {
            return Bulk::parse(registry, flows).map(|bulk| bulk.map_or(Cross::None, Cross::Tcp));
        }
        Some(("onoff", rest)) => on_off(text, rest),
        Some(("poisson", rest)) => poisson(text, rest),
        Some(("users", rest)) => users(text, rest),
        Some(("web", load)) => web(load),
        Some((name, _)) => {
            let hint = meant(name, TRAFFIC, ["tcp", "onoff", "poisson", "users", "web"]);
            return Err(refuse(text, Why::UnknownWord, hint.unwrap_or_else(|| CROSS.to_owned())));
        }
    };
    found.map_err(|error| QuantityError { allowed: CROSS.into(), ..error })
}

fn on_off(text: &str, rest: &str) -> Result<Cross, QuantityError> {
    let parts: Vec<&str> = rest.split(',').collect();
    let (rate, on, off, law) = match *parts.as_slice() {
        [rate, on, off] => (rate, on, off, None),
        [rate, on, off, law] => (rate, on, off, Some(law)),
        _ => return Err(refuse(text, Why::UnknownWord, CROSS)),
    };
    let pareto = match law.map(size_law) {
        None | Some(Ok(SizeLaw::Exponential)) => None,
        Some(Ok(SizeLaw::Pareto(shape))) => Some(shape),
        Some(_) => return Err(refuse(text, Why::UnknownWord, CROSS)),
    };
    let (rate, on, off) = (quantity::rate(rate)?, quantity::span(on)?, quantity::span(off)?);
    Ok(Cross::OnOff { rate, on, off, pareto })
}

fn poisson(text: &str, rest: &str) -> Result<Cross, QuantityError> {
    let mut parts = rest.split(',');
    let (Some(per_second), Some(size)) = (parts.next(), parts.next()) else {
        return Err(refuse(text, Why::UnknownWord, CROSS));
    };
    let sizes = parts.next().map_or(Ok(SizeLaw::Exponential), size_law)?;
    if parts.next().is_some() {
        return Err(refuse(text, Why::UnknownWord, CROSS));
    }
    let size = quantity::amount(size)?;
    if per_second.trim().ends_with("bit") {
        let load = quantity::or_none(per_second, quantity::rate)?;
        return Ok(load.map_or(Cross::None, |load| Cross::Poisson { often: Often::Load(load), size, sizes }));
    }
    let per_second = quantity::number(per_second.strip_suffix("/s").unwrap_or(per_second))?;
    match per_second.floor() {
        _ if per_second.is_zero() => Ok(Cross::None),
        Some(whole) if whole < 100_000 => {
            Ok(Cross::Poisson { often: Often::PerSecond(per_second), size, sizes })
        }
        _ => Err(refuse(text, Why::TooLarge, CROSS)),
    }
}

/// Reads the distribution of sizes: `fixed`, `exponential`, `lognormal=1.3`, `pareto=1.5`.
pub(crate) fn size_law(text: &str) -> Result<SizeLaw, QuantityError> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    match (name, value) {
        ("fixed", None) => Ok(SizeLaw::Fixed),
        ("exponential", None) => Ok(SizeLaw::Exponential),
        ("lognormal", value) => {
            let sigma = quantity::number(value.unwrap_or(SIGMA))?;
            if sigma.floor().is_some_and(|whole| whole < 10) {
                Ok(SizeLaw::LogNormal(sigma))
            } else {
                Err(refuse(text, Why::TooLarge, CROSS))
            }
        }
        ("pareto", value) => {
            let shape = quantity::number(value.unwrap_or(SHAPE))?;
            let above_one =
                shape.floor().is_some_and(|whole| (1..100).contains(&whole)) && shape != Decimal::whole(1);
            if above_one { Ok(SizeLaw::Pareto(shape)) } else { Err(refuse(text, Why::OutOfRange, CROSS)) }
        }
        _ => Err(refuse(text, Why::UnknownWord, CROSS)),
    }
}

/// Maximum number of users.
pub(crate) const MAX_USERS: u32 = 10_000;

fn users(text: &str, rest: &str) -> Result<Cross, QuantityError> {
    let parts: Vec<&str> = rest.split(',').collect();
    let (users, size, law) = match *parts.as_slice() {
        [users, size] => (users, size, None),
        [users, size, law] => (users, size, Some(law)),
        _ => return Err(refuse(text, Why::UnknownWord, CROSS)),
    };
    let sizes = law.map_or(Ok(SizeLaw::Exponential), size_law)?;
    let size = quantity::amount(size)?;
    match users.trim().parse::<u32>() {
        Ok(0) => Ok(Cross::None),
        Ok(users) if users <= MAX_USERS => Ok(Cross::Users { users, size, sizes }),
        Ok(_) => Err(refuse(text, Why::TooLarge, CROSS)),
        Err(_) => Err(refuse(text, Why::UnknownWord, CROSS)),
    }
}

fn web(load: &str) -> Result<Cross, QuantityError> {
    let share = quantity::fraction(load)?;
    Ok(if share.is_zero() { Cross::None } else { Cross::Web(share) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cross(text: &str) -> Result<Cross, QuantityError> {
        super::cross(Registry::builtin(), text)
    }

    #[test]
    fn cross_traffic_reads_back_as_what_it_shows() {
        for text in [
            "none",
            "40mbit",
            "tcp:4",
            "tcp:2,hystart,cubic",
            "onoff:40mbit,1s,500ms",
            "onoff:40mbit,1s,1s,pareto=1.5",
            "poisson:20,50p,exponential",
            "poisson:0.5,64kB,fixed",
            "poisson:20,50p,lognormal=1.318",
            "poisson:10mbit,50p,lognormal=1.318",
            "poisson:20,50p,pareto=1.2",
            "web:0.3",
            "users:8,10kB,pareto=1.1",
        ] {
            assert_eq!(cross(text).expect(text).to_string(), text);
        }
        assert_eq!(cross("40mbit"), Ok(Cross::Cbr(Rate::from_bps(40_000_000))));
        assert_eq!(cross("tcp:4"), Ok(Cross::Tcp(Bulk::plain(4))));
        assert_eq!(cross("poisson:20/s,50p"), cross("poisson:20,50p,exponential"));
        assert_eq!(cross("poisson:20,50p,pareto"), cross("poisson:20,50p,pareto=1.5"));
        assert_eq!(cross("web:30%"), cross("web:0.3"));
        for text in ["0", "0mbit", "tcp:0", "web:0", "web:0%", "poisson:0,50p", "users:0,10kB"] {
            assert_eq!(cross(text), Ok(Cross::None), "{text}");
        }
    }

    #[test]
    fn cross_traffic_that_makes_no_sense_is_refused() {
        for (text, why) in [
            ("tcp:1001", Why::TooLarge),
            ("tcp:x", Why::UnknownWord),
            ("users:x,10kB", Why::UnknownWord),
            ("users:8", Why::UnknownWord),
            ("users:10001,10kB", Why::TooLarge),
            ("web", Why::NoNumber),
            ("web:110%", Why::OutOfRange),
            ("0.1bit", Why::Zero),
            ("trace:x", Why::UnknownWord),
            ("onoff:1mbit,1s", Why::UnknownWord),
            ("onoff:1mbit,1s,0s", Why::Zero),
            ("onoff:1mbit,1s,1s,fixed", Why::UnknownWord),
            ("poisson:20", Why::UnknownWord),
            ("poisson:100000,50p", Why::TooLarge),
            ("poisson:20,50p,pareto=1", Why::OutOfRange),
            ("poisson:20,50p,pareto=0.9", Why::OutOfRange),
            ("poisson:20,50p,lognormal=10", Why::TooLarge),
            ("poisson:20,50p,fixed,x", Why::UnknownWord),
        ] {
            assert_eq!(cross(text).expect_err(text).why, why, "{text}");
        }
    }

    #[test]
    fn sizes_have_the_mean_asked_for_with_their_cut() {
        for law in [
            "fixed",
            "exponential",
            "lognormal=1.3",
            "pareto=1.000001",
            "pareto=1.1",
            "pareto=1.5",
            "pareto=2",
            "pareto=99",
        ] {
            for mean in [1_000, 10_000, 50_000_000] {
                let sizes = size_law(law).expect(law).around(Bytes::new(mean));
                #[expect(clippy::cast_precision_loss, reason = "a test's means")]
                let ratio = sizes.mean() / mean as f64;
                assert!((ratio - 1.0).abs() < 1e-9, "{law}: {ratio} of {mean}");
            }
        }
    }
}
