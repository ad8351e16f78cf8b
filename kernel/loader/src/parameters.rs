//! Parameters of a scheme as numbers, and back.

use firstflight::registry::{self, Kind, Parameter, Value};
use firstflight::{Bytes, Rate, Span};

use crate::error::KernelError;
use crate::settings::PARAMETERS;

/// The parameters of a scheme or restart policy, in the registry's order.
pub(crate) fn of(scheme: &str) -> Option<&'static [Parameter]> {
    let entry = registry::scheme(scheme).map(|entry| entry.parameters);
    entry.or_else(|| registry::restart(scheme).map(|entry| entry.parameters))
}

/// Which parameters were given, a bit each, and all of them as numbers.
pub(crate) fn block(
    scheme: &str,
    given: &[(&'static str, Value)],
) -> Result<(u32, [u64; PARAMETERS]), KernelError> {
    let parameters = of(scheme).unwrap_or_default();
    let impossible = |why: String| KernelError::Impossible { scheme: scheme.to_owned(), why };
    let (mut bits, mut numbers) = (0, [0; PARAMETERS]);
    if parameters.len() > PARAMETERS {
        return Err(impossible(format!("it has more than {PARAMETERS} parameters")));
    }
    for (name, _) in given {
        if !parameters.iter().any(|parameter| parameter.name == *name) {
            return Err(impossible(format!("it has no parameter {name}")));
        }
    }
    for (place, (parameter, number)) in parameters.iter().zip(&mut numbers).enumerate() {
        let found = given.iter().find(|(name, _)| *name == parameter.name);
        bits |= u32::from(found.is_some()) << place;
        let value = found.map_or(parameter.default, |(_, value)| *value);
        *number = number_of(parameter.kind, value).ok_or_else(|| {
            impossible(format!("{} is {value}, allowed is {}", parameter.name, parameter.kind))
        })?;
    }
    Ok((bits, numbers))
}

/// The given parameters as on the command line: `max-ssthresh=50`, behind each other with commas.
pub(crate) fn text(scheme: &str, given: u32, numbers: &[u64; PARAMETERS]) -> String {
    let each = of(scheme).unwrap_or_default().iter().zip(numbers).enumerate();
    let each = each.filter(|(place, _)| given >> place & 1 == 1).map(|(_, (parameter, number))| {
        let value = value_of(parameter.kind, *number);
        value.map_or_else(|| format!("{}=?", parameter.name), |value| format!("{}={value}", parameter.name))
    });
    each.collect::<Vec<_>>().join(",")
}

/// The word in place of a count. No count of a scheme is as great.
const OTHER: u64 = u64::MAX;

fn number_of(kind: Kind, value: Value) -> Option<u64> {
    if !kind.allows(value) {
        return None;
    }
    Some(match value {
        Value::Count(count) => count,
        Value::Span(span) => span.nanos(),
        Value::Rate(rate) => rate.bps(),
        Value::Bytes(bytes) => bytes.get(),
        Value::Fraction { ppm } => u64::from(ppm),
        Value::Word(word) => match kind {
            Kind::Word(words) => words.iter().position(|other| *other == word)? as u64,
            Kind::CountOr { .. } => OTHER,
            _ => return None,
        },
    })
}

fn value_of(kind: Kind, number: u64) -> Option<Value> {
    let value = match kind {
        Kind::CountOr { word, .. } if number == OTHER => Value::Word(word),
        Kind::Count { .. } | Kind::CountOr { .. } => Value::Count(number),
        Kind::Span { .. } => Value::Span(Span::from_nanos(number)),
        Kind::Rate { .. } => Value::Rate(Rate::from_bps(number)),
        Kind::Bytes { .. } => Value::Bytes(Bytes::new(number)),
        Kind::Fraction { .. } => Value::Fraction { ppm: u32::try_from(number).ok()? },
        Kind::Word(words) => Value::Word(words.get(usize::try_from(number).ok()?)?),
    };
    kind.allows(value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_of_every_scheme_and_policy_is_a_number_and_comes_back() {
        let schemes = registry::schemes().iter().map(|entry| entry.name);
        for scheme in schemes.chain(registry::restarts().iter().map(|entry| entry.name)) {
            let (given, numbers) = block(scheme, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((given, text(scheme, given, &numbers).as_str()), (0, ""), "{scheme}");
            for (parameter, number) in of(scheme).expect("known").iter().zip(numbers) {
                assert_eq!(
                    value_of(parameter.kind, number),
                    Some(parameter.default),
                    "{scheme} {}",
                    parameter.name
                );
            }
        }
    }

    #[test]
    fn what_was_given_is_marked_by_its_place_and_told_as_it_was_written() {
        let given = [("exits", Value::Word("delay")), ("hz", Value::Count(250))];
        let (bits, numbers) = block("hystart", &given).expect("parameters of hystart");
        assert_eq!((bits, numbers[0], numbers[2]), (0b101, 250, 2));
        assert_eq!(text("hystart", bits, &numbers), "hz=250,exits=delay");
        assert!(block("hystart", &[("l", Value::Count(8))]).is_err(), "another scheme's");
        assert!(block("hystart", &[("hz", Value::Count(0))]).is_err(), "out of range");
    }
}
