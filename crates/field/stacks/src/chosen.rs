//! A scheme of Firstflight as a QUIC stack runs it.

use firstflight_quic::Choice;
use firstflight_scenario::SchemeOrder;

/// Returns the choice of a scheme with its parameters, law and initial window.
///
/// # Errors
/// Fails with one line about a name or a parameter that does not exist.
pub(crate) fn choice(order: &SchemeOrder<'_>) -> Result<Choice, String> {
    let &SchemeOrder { name, settings, law, iw } = order;
    let chosen = Choice::named(name).and_then(|choice| choice.law(law));
    let chosen = chosen.map(|choice| choice.initial_window(iw));
    let set = |choice: Choice, (parameter, value): &(&'static str, _)| choice.set(parameter, *value);
    chosen.and_then(|choice| settings.iter().try_fold(choice, set)).map_err(|error| error.to_string())
}
