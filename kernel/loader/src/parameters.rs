//! Parameters of a scheme as numbers, and back.

use firstflight::registry::{self, Numbers, Parameter, Value};

use crate::error::KernelError;

/// Returns the parameters of a scheme or restart policy, in the registry's order.
pub(crate) fn of(scheme: &str) -> Option<&'static [Parameter]> {
    let entry = registry::scheme(scheme).map(|entry| entry.parameters);
    entry.or_else(|| registry::restart(scheme).map(|entry| entry.parameters))
}

/// The settings that a reader of a socket cannot honour: scheme, parameter, word, and why.
const NOT_HONOURED: &[(&str, &str, &str, &str)] = &[(
    "ssr",
    "since",
    "received",
    "Linux does not notify a congestion control when the last segment was received",
)];

/// Returns the parameters of a scheme as numbers.
pub(crate) fn numbers(scheme: &str, given: &[(&'static str, Value)]) -> Result<Numbers, KernelError> {
    let parameters = of(scheme).unwrap_or_default();
    let impossible = |why: String| KernelError::Impossible { scheme: scheme.to_owned(), why };
    if let Some(beyond) = parameters.get(Numbers::MOST) {
        return Err(impossible(format!("{} is beyond its first {} parameters", beyond.name, Numbers::MOST)));
    }
    for (name, value) in given {
        let Some(parameter) = parameters.iter().find(|parameter| parameter.name == *name) else {
            return Err(impossible(format!("it has no parameter {name}")));
        };
        if !parameter.kind.allows(*value) {
            return Err(impossible(format!("{name} is {value}, allowed is {}", parameter.kind)));
        }
        for (of, key, word, why) in NOT_HONOURED {
            if *of == scheme && key == name && *value == Value::Word(word) {
                return Err(impossible(format!("{name}={value} cannot be honoured: {why}")));
            }
        }
    }
    Ok(Numbers::of(parameters, |name| {
        given.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
    }))
}

/// Returns the given parameters as on the command line: `max-ssthresh=50`, separated by commas.
pub(crate) fn text(scheme: &str, numbers: &Numbers) -> String {
    let each = of(scheme).unwrap_or_default().iter().zip(numbers.values).enumerate();
    let each = each.filter(|(place, _)| numbers.given >> place & 1 == 1).map(|(_, (parameter, number))| {
        let value = parameter.kind.value(number);
        value.map_or_else(|| format!("{}=?", parameter.name), |value| format!("{}={value}", parameter.name))
    });
    each.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight::Span;

    #[test]
    fn every_parameter_default_round_trips_as_a_number() {
        let schemes = registry::schemes().iter().map(|entry| entry.name);
        for scheme in schemes.chain(registry::restarts().iter().map(|entry| entry.name)) {
            let numbers = numbers(scheme, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((numbers.given, text(scheme, &numbers).as_str()), (0, ""), "{scheme}");
            for (parameter, number) in of(scheme).expect("known").iter().zip(numbers.values) {
                assert_eq!(
                    parameter.kind.value(number),
                    Some(parameter.default),
                    "{scheme} {}",
                    parameter.name
                );
            }
        }
    }

    #[test]
    fn given_parameters_are_marked_by_position_and_displayed_as_written() {
        let given = [("exits", Value::Word("delay")), ("hz", Value::Count(250))];
        let found = numbers("hystart", &given).expect("parameters of hystart");
        assert_eq!((found.given, found.values[0], found.values[2]), (0b101, 250, 2));
        assert_eq!(text("hystart", &found), "hz=250,exits=delay");
        assert!(numbers("hystart", &[("l", Value::Count(8))]).is_err(), "another scheme's");
        assert!(numbers("hystart", &[("hz", Value::Count(0))]).is_err(), "out of range");
        let policy =
            [("expires", Value::Span(Span::from_secs(5))), ("scale", Value::Fraction { ppm: 500_000 })];
        let found = numbers("rbp-rate", &policy).expect("parameters of rbp-rate");
        assert_eq!(text("rbp-rate", &found), "scale=50%,expires=5s");
    }

    #[test]
    fn values_unavailable_from_a_linux_socket_are_refused_by_name() {
        let refused = numbers("ssr", &[("since", Value::Word("received"))]).expect_err("not told");
        assert!(refused.to_string().contains("since=received"), "{refused}");
        assert!(numbers("ssr", &[("since", Value::Word("sent"))]).is_ok());
    }
}
