//! Parameters as numbers, by their place in an entry's list: what a constructor reads. No text is in them, so that a program
//! without pointers to text, as a kernel takes it, reads the same.

use crate::registry::parameter::{Kind, Parameter, Value};
use crate::units::{Bytes, Rate, Span};

/// The parameters of a scheme or policy in the order of its list, those not given at their defaults.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Numbers {
    /// Bit i is set if parameter i was given.
    pub given: u32,
    /// Nothing: it makes the size a multiple of eight.
    pub pad: u32,
    /// A count, nanoseconds, bits a second, bytes, millionths, or the place of a word among the words of the parameter.
    pub values: [u64; Numbers::MOST],
}

/// The place of a parameter in its list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place(usize);

/// A word that a parameter can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The parameter.
    pub place: Place,
    number: u64,
}

impl Numbers {
    /// As many parameters as fit. Those behind them are left out.
    pub const MOST: usize = 16;
    /// The word in place of a count ([`Kind::CountOr`]). No count is as great.
    pub const OTHER: u64 = u64::MAX;

    /// The numbers of `parameters`, of which those that `given` knows were given.
    pub fn of(parameters: &[Parameter], given: impl Fn(&str) -> Option<Value>) -> Self {
        let mut numbers = Self { given: 0, pad: 0, values: [0; Self::MOST] };
        for (index, (parameter, number)) in parameters.iter().zip(&mut numbers.values).enumerate() {
            let found = given(parameter.name);
            numbers.given |= u32::from(found.is_some()) << index;
            *number = parameter.kind.number(found.unwrap_or(parameter.default)).unwrap_or(0);
        }
        numbers
    }

    /// A whole number, or [`Numbers::OTHER`].
    #[inline]
    pub fn count(&self, place: Place) -> u64 {
        self.values.get(place.0).copied().unwrap_or(0)
    }

    /// The number of a parameter, if it was given.
    #[inline]
    pub fn given(&self, place: Place) -> Option<u64> {
        (place.0 < Self::MOST && self.given >> place.0 & 1 == 1).then(|| self.count(place))
    }

    /// A length of time.
    #[inline]
    pub fn span(&self, place: Place) -> Span {
        Span::from_nanos(self.count(place))
    }

    /// A number of bytes.
    #[inline]
    pub fn bytes(&self, place: Place) -> Bytes {
        Bytes::new(self.count(place))
    }

    /// A fraction in millionths.
    #[inline]
    pub fn ppm(&self, place: Place) -> u32 {
        u32::try_from(self.count(place)).unwrap_or(u32::MAX)
    }

    /// Whether a parameter has this word.
    #[inline]
    pub fn is(&self, choice: Choice) -> bool {
        self.count(choice.place) == choice.number
    }
}

/// The place of the parameter `name`. A name that is not in the list, or too far behind in it, does not compile in a constant.
pub(crate) const fn place(parameters: &[Parameter], name: &str) -> Place {
    let mut index = 0;
    while !is_same(parameters[index].name, name) {
        index += 1;
    }
    assert!(index < Numbers::MOST, "a parameter has no number");
    Place(index)
}

/// The choice of `word` for the parameter `name`. Another word than one of the parameter's does not compile in a constant.
pub(crate) const fn choice(parameters: &[Parameter], name: &str, word: &str) -> Choice {
    let place = place(parameters, name);
    let Kind::Word(words) = parameters[place.0].kind else { panic!("the parameter has no words") };
    let (mut index, mut number) = (0, 0);
    while !is_same(words[index], word) {
        index += 1;
        number += 1;
    }
    Choice { place, number }
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

impl Kind {
    /// A value of this kind as a number; see [`Numbers::values`].
    pub fn number(&self, value: Value) -> Option<u64> {
        Some(match value {
            _ if !self.allows(value) => return None,
            Value::Count(count) => count,
            Value::Span(span) => span.nanos(),
            Value::Rate(rate) => rate.bps(),
            Value::Bytes(bytes) => bytes.get(),
            Value::Fraction { ppm } => u64::from(ppm),
            Value::Word(word) => match self {
                Self::Word(words) => (0..).zip(*words).find(|(_, other)| **other == word)?.0,
                _ => Numbers::OTHER,
            },
        })
    }

    /// The value of this kind whose number this is.
    pub fn value(&self, number: u64) -> Option<Value> {
        let value = match *self {
            Self::CountOr { word, .. } if number == Numbers::OTHER => Value::Word(word),
            Self::Count { .. } | Self::CountOr { .. } => Value::Count(number),
            Self::Span { .. } => Value::Span(Span::from_nanos(number)),
            Self::Rate { .. } => Value::Rate(Rate::from_bps(number)),
            Self::Bytes { .. } => Value::Bytes(Bytes::new(number)),
            Self::Fraction { .. } => Value::Fraction { ppm: u32::try_from(number).ok()? },
            Self::Word(words) => Value::Word(words.get(usize::try_from(number).ok()?)?),
        };
        self.allows(value).then_some(value)
    }
}
