//! Parameters as numbers, indexed by their position in an entry's list. Constructors take them. They contain no text: a kernel permits no
//! pointers to text in a program, and a program without text can still read the same values.

use crate::registry::parameter::{Kind, Parameter, Value};
use crate::units::{Bytes, Rate, Span};

/// The parameters of a scheme or policy in the order of its list; parameters not given have their defaults.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Numbers {
    /// Bit i is set if parameter i was given.
    pub given: u32,
    /// Padding that makes the size a multiple of eight. It has no meaning.
    pub pad: u32,
    /// The value of each parameter: a count, nanoseconds, bits per second, bytes, millionths, or the index of a word among the words of the
    /// parameter.
    pub values: [u64; Numbers::MOST],
}

/// The position of a parameter in its entry's list.
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
    /// Maximum number of parameters. Parameters after these are left out.
    pub const MOST: usize = 16;
    /// The number that represents the word of a [`Kind::CountOr`]. No count is this large.
    pub const OTHER: u64 = u64::MAX;

    /// Returns the numbers of `parameters`; `given` returns the value of a parameter that was given.
    pub fn of(parameters: &[Parameter], given: impl Fn(&str) -> Option<Value>) -> Self {
        let mut numbers = Self { given: 0, pad: 0, values: [0; Self::MOST] };
        for (index, (parameter, number)) in parameters.iter().zip(&mut numbers.values).enumerate() {
            let found = given(parameter.name);
            numbers.given |= u32::from(found.is_some()) << index;
            *number = parameter.kind.number(found.unwrap_or(parameter.default)).unwrap_or(0);
        }
        numbers
    }

    /// Returns the whole number of the parameter at `place`, or [`Numbers::OTHER`] for the parameter's word.
    #[inline]
    pub fn count(&self, place: Place) -> u64 {
        self.values.get(place.0).copied().unwrap_or(0)
    }

    /// Returns the number of the parameter at `place`; `None` if it was not given.
    #[inline]
    pub fn given(&self, place: Place) -> Option<u64> {
        (place.0 < Self::MOST && self.given >> place.0 & 1 == 1).then(|| self.count(place))
    }

    /// Returns the length of time of the parameter at `place`.
    #[inline]
    pub fn span(&self, place: Place) -> Span {
        Span::from_nanos(self.count(place))
    }

    /// Returns the number of bytes of the parameter at `place`.
    #[inline]
    pub fn bytes(&self, place: Place) -> Bytes {
        Bytes::new(self.count(place))
    }

    /// Returns the fraction of the parameter at `place`, in millionths.
    #[inline]
    pub fn ppm(&self, place: Place) -> u32 {
        u32::try_from(self.count(place)).unwrap_or(u32::MAX)
    }

    /// Returns whether the parameter of `choice` has the word of `choice`.
    #[inline]
    pub fn is(&self, choice: Choice) -> bool {
        self.count(choice.place) == choice.number
    }
}

/// Returns the place of the parameter `name`. In a constant, a name that is not in the list, or too far down in it, does not compile.
pub(crate) const fn place(parameters: &[Parameter], name: &str) -> Place {
    let mut index = 0;
    while !is_same(parameters[index].name, name) {
        index += 1;
    }
    assert!(index < Numbers::MOST, "a parameter has no number");
    Place(index)
}

/// Returns the choice of `word` for the parameter `name`. In a constant, a word that the parameter does not have does not compile.
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
    /// Returns `value` as a number (see [`Numbers::values`]); `None` if this kind does not allow the value.
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

    /// Returns the value that `number` represents; `None` if this kind does not allow that value.
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
