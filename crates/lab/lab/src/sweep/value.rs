//! The values of an option in a sweep, and how a value is drawn.

use firstflight_scenario::kind::Kind;
use firstflight_scenario::quantity::{self, QuantityError, QueueSize, Why, refuse};

/// The values that an option can have.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// One fixed value, as its text on the command line.
    Text(String),
    /// Several values. Each occurs in all combinations with the other lists.
    List(Vec<Value>),
    /// Several values, one of which is drawn with equal probability.
    OneOf(Vec<Value>),
    /// A number drawn between two ends.
    Between(Between),
    /// A rate that is this share of the path's rate: of constant cross traffic, or of another link.
    Share(Box<Value>),
}

/// A distribution between two ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between {
    law: Law,
    low: f64,
    high: f64,
    unit: Unit,
}

/// The distribution of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Law {
    /// The number is uniform.
    Uniform,
    /// The logarithm of the number is uniform.
    LogUniform,
}

/// The quantity of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    Bits,
    Nanos,
    Bytes,
    Bdp,
    One,
    Packets,
}

/// A drawn value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Sample {
    /// The text of the option.
    Text(String),
    /// A rate that is this share of the path's rate.
    Share(f64),
}

impl Value {
    /// Returns the number of values in a list, which are taken in turn; 1 for other values.
    pub(super) fn len(&self) -> u64 {
        if let Self::List(values) = self { values.len() as u64 } else { 1 }
    }

    /// Checks whether the value is drawn at random.
    pub(super) fn is_drawn(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::List(values) => values.iter().any(Self::is_drawn),
            Self::OneOf(_) | Self::Between(_) => true,
            Self::Share(share) => share.is_drawn(),
        }
    }

    /// Draws a value. `pick` is the place of the value in a list.
    pub(super) fn sample(&self, pick: u64, draws: &mut Draws) -> Sample {
        match self {
            Self::Text(text) => Sample::Text(text.clone()),
            Self::List(values) => one(values, pick, draws),
            Self::OneOf(values) => {
                let pick = draws.below(values.len() as u64);
                one(values, pick, draws)
            }
            Self::Between(between) => Sample::Text(between.unit.show(between.number(draws))),
            Self::Share(share) => match share.as_ref() {
                Self::Between(between) => Sample::Share(rounded(between.number(draws))),
                other => match other.sample(pick, draws) {
                    Sample::Text(text) => {
                        Sample::Share(quantity::fraction(&text).map_or(0.0, quantity::Decimal::to_f64))
                    }
                    share @ Sample::Share(_) => share,
                },
            },
        }
    }
}

fn one(values: &[Value], at: u64, draws: &mut Draws) -> Sample {
    let value = usize::try_from(at).ok().and_then(|at| values.get(at));
    value.map_or(Sample::Text(String::new()), |value| value.sample(0, draws))
}

impl Between {
    /// Creates a distribution over a key's quantities, from the text of its ends.
    ///
    /// # Errors
    /// Fails if the key's kind is not a quantity, if an end cannot be read, or if the low end is not below the high one.
    pub(super) fn new(kind: Kind, law: Law, low: &str, high: &str) -> Result<Self, QuantityError> {
        let ((low_number, unit), (high_number, other)) = (number(kind, low)?, number(kind, high)?);
        if unit != other {
            return Err(refuse(high, Why::Conflict, "both ends of a range count the same thing"));
        }
        if low_number >= high_number {
            return Err(refuse(high, Why::OutOfRange, "the second end of a range is above the first"));
        }
        if law == Law::LogUniform && low_number <= 0.0 {
            return Err(refuse(low, Why::Zero, "a log-uniform range begins above zero"));
        }
        Ok(Self { law, low: low_number, high: high_number, unit })
    }

    fn number(&self, draws: &mut Draws) -> f64 {
        let unit = draws.unit();
        let number = match self.law {
            Law::Uniform => self.low + unit * (self.high - self.low),
            Law::LogUniform => {
                let (low, high) = (libm::log(self.low), libm::log(self.high));
                libm::exp(low + unit * (high - low))
            }
        };
        number.clamp(self.low, self.high)
    }
}

#[expect(clippy::cast_precision_loss, reason = "what is drawn has four digits")]
fn number(kind: Kind, text: &str) -> Result<(f64, Unit), QuantityError> {
    const ALLOWED: &str = "ranges are of rates, times, sizes in bytes, queues in bandwidth-delay products, \
                           numbers of ACKs, and fractions; other options take a value or a list";
    Ok(match kind {
        Kind::Rate => (quantity::rate(text)?.bps() as f64, Unit::Bits),
        Kind::Span => (quantity::span(text)?.nanos() as f64, Unit::Nanos),
        Kind::Size => (quantity::bytes(text)?.get() as f64, Unit::Bytes),
        Kind::Queue => match quantity::queue(text)? {
            QueueSize::Bdp(share) => (share.to_f64(), Unit::Bdp),
            QueueSize::Bytes(bytes) => (bytes.get() as f64, Unit::Bytes),
            QueueSize::Packets(_) => return Err(refuse(text, Why::UnknownUnit("p".into()), ALLOWED)),
        },
        Kind::Share => (quantity::fraction(text)?.to_f64(), Unit::One),
        Kind::SpanOrCount => match quantity::count(text) {
            Ok(count) => (count as f64, Unit::Packets),
            Err(_) => (quantity::span(text)?.nanos() as f64, Unit::Nanos),
        },
        Kind::Packets | Kind::Count(_) | Kind::PerSecond | Kind::Word(_) | Kind::Text(_) => {
            return Err(refuse(text, Why::UnknownWord, ALLOWED));
        }
    })
}

impl Unit {
    /// Returns the number as text of the option, with four digits.
    fn show(self, number: f64) -> String {
        let whole = || rounded(number).max(1.0);
        match self {
            Self::Bits => format!("{:.0}bit", whole()),
            Self::Nanos => format!("{:.0}ns", whole()),
            Self::Bytes => format!("{:.0}B", whole()),
            Self::Bdp => format!("{}bdp", rounded(number)),
            Self::One => rounded(number).to_string(),
            Self::Packets => format!("{:.0}", libm::round(number).max(1.0)),
        }
    }
}

/// Rounds to four significant digits, so that people can read and type a path.
pub(super) fn rounded(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}

/// Returns the rate that is this share of a rate, as it is declared: rounded to four digits and to whole bits, at least one.
pub(crate) fn share_bps(rate: f64, share: f64) -> f64 {
    libm::trunc(rounded(rate * share).max(1.0))
}

/// The random numbers of one option in one draw.
#[derive(Clone, Debug)]
pub(crate) struct Draws(u64);

impl Draws {
    /// Creates the random numbers of the option `key` in the `draw`-th draw of a sweep with this seed.
    pub(crate) fn new(seed: u64, key: &str, draw: u64) -> Self {
        Self(mix(mix(mix(seed) ^ firstflight_scenario::fnv_1a(key.as_bytes())) ^ draw))
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// Returns a number strictly between zero and one.
    #[expect(clippy::cast_precision_loss, reason = "52 bits fit a double")]
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / 4_503_599_627_370_496.0
    }

    /// Returns a whole number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.bits()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or(u64::MAX)
    }
}

/// The increment of `SplitMix64` (Steele, Lea and Flood 2014).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

const fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
