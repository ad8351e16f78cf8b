//! The scheme of each flow of a script.

use crate::by_name::ByName;
use crate::choice::{ChoiceError, SchemeChoice};
use crate::quantity::in_a_line;
use crate::scenario::Scenario;
use crate::script::ScriptedFlow;

/// The schemes of a script, and the scheme of each flow.
#[derive(Clone, Debug)]
pub struct Cast {
    /// The schemes, each once, in the order in which flows name them.
    pub choices: Vec<SchemeChoice>,
    /// The flows, in the order of the script.
    pub parts: Vec<CastFlow>,
}

/// One flow of a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CastFlow {
    /// The index of the flow's scheme in [`Cast::choices`].
    pub choice: usize,
    /// Whether the script leaves this flow's scheme to the row.
    pub of_row: bool,
}

/// Why the schemes of a script's flows cannot be determined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("flow: flow {number}: {fault}")]
pub struct CastError {
    /// The number of the flow in the script, from one.
    pub number: usize,
    /// The flow's scheme as the script states it; empty if the flow has the row's scheme.
    pub said: String,
    /// The fault of the flow's scheme, in one line.
    pub fault: String,
}

impl Scenario {
    /// Checks whether a flow of the script leaves its scheme to the row, so that the script runs once for each scheme of a list.
    pub fn has_row_scheme(&self) -> bool {
        self.script.iter().any(|flow| flow.scheme.is_none())
    }

    /// Checks whether the flows of the script are clients of rounds, each with its own scheme.
    pub fn has_client_script(&self) -> bool {
        self.rounds.is_some() && !self.script.is_empty()
    }

    /// Returns the numbers, from zero, of the clients that have the scheme `choice`. Without a script all clients have it. A scenario
    /// without rounds has one measured flow, the first.
    ///
    /// # Errors
    /// As [`Self::cast`].
    pub fn clients_of(&self, choice: &SchemeChoice) -> Result<Vec<u32>, CastError> {
        if !self.has_client_script() {
            return Ok((0..self.rounds.map_or(1, |rounds| rounds.clients)).collect());
        }
        let cast = self.cast(None)?;
        let has_it = |part: &CastFlow| cast.choices[part.choice].name() == choice.name();
        Ok((0..).zip(&cast.parts).filter(|(_, part)| has_it(part)).map(|(client, _)| client).collect())
    }

    /// Returns the schemes of the script's flows. A flow that names no scheme has `row`. A flow with its own restart policy has a separate
    /// scheme: its row is named `scheme+policy` unless the flow has a label (`as=label`).
    ///
    /// # Errors
    /// A scheme that cannot be read, a flow that names none and has no `row`, two flows whose schemes have one name and differ, a restart
    /// policy that is given twice, or a scheme that resumes an earlier connection without its saved values.
    pub fn cast(&self, row: Option<&SchemeChoice>) -> Result<Cast, CastError> {
        let mut cast = Cast { choices: Vec::new(), parts: Vec::new() };
        for (index, flow) in self.script.iter().enumerate() {
            let said = || flow.scheme.clone().unwrap_or_default();
            let fault =
                |fault: String| CastError { number: index + 1, said: said(), fault: in_a_line(&fault) };
            let choice = self.choice_of(flow, row).map_err(fault)?;
            let same = cast.choices.iter().position(|other| other.name() == choice.name());
            if let Some(other) = same.map(|at| &cast.choices[at]).filter(|other| !is_same(other, &choice)) {
                return Err(fault(format!(
                    "`{choice}` and `{other}` have one name, {}; distinguish them with as=label",
                    choice.name()
                )));
            }
            let of_row = flow.scheme.is_none();
            let choice = same.unwrap_or_else(|| {
                cast.choices.push(choice);
                cast.choices.len() - 1
            });
            cast.parts.push(CastFlow { choice, of_row });
        }
        Ok(cast)
    }

    fn choice_of(&self, flow: &ScriptedFlow, row: Option<&SchemeChoice>) -> Result<SchemeChoice, String> {
        let choice = match (&flow.scheme, row) {
            (Some(text), _) => self.one_choice(text)?,
            (None, Some(row)) => row.clone(),
            (None, None) => return Err("it has the row's scheme, and no scheme is listed".to_owned()),
        };
        if choice.lacks_saved() {
            return Err(format!(
                "{0}: what an earlier connection saved has to be said, as in `{0}:saved=64kB,rtt=40ms`",
                choice.name()
            ));
        }
        let Some(policy) = &flow.restart else { return Ok(choice) };
        if choice.has_own_restart() {
            return Err(format!("restart is said twice: {policy}, and in `{choice}`"));
        }
        let label = match (&choice.label, &flow.scheme) {
            (Some(label), Some(_)) => label.clone(),
            _ => format!("{}+{}", choice.name(), policy.entry.name),
        };
        Ok(choice.restarting(policy, label))
    }

    fn one_choice(&self, text: &str) -> Result<SchemeChoice, String> {
        let choices = self.registry.parse_choices(text).map_err(|error: ChoiceError| error.to_string())?;
        match <[SchemeChoice; 1]>::try_from(choices) {
            Ok([choice]) => Ok(choice),
            Err(choices) => Err(format!("`{text}` are {} schemes; a flow has one", choices.len())),
        }
    }
}

fn is_same(one: &SchemeChoice, other: &SchemeChoice) -> bool {
    one.to_string() == other.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, parse_choices};

    fn scenario(script: &str) -> Scenario {
        let mut options = Options::default();
        for (key, text) in [("rate", "10mbit"), ("flow", script)] {
            options.set(key, text).expect(text);
        }
        Scenario::resolve(&options).expect("a scenario")
    }

    fn cast(script: &str, row: Option<&str>) -> Result<(Vec<String>, Vec<usize>), String> {
        let row = row.map(|row| parse_choices(row).expect(row).remove(0));
        let cast = scenario(script).cast(row.as_ref()).map_err(|error| error.to_string())?;
        let names = cast.choices.iter().map(|choice| choice.name().to_owned()).collect();
        Ok((names, cast.parts.iter().map(|part| part.choice).collect()))
    }

    fn names(names: &[&str], parts: &[usize]) -> (Vec<String>, Vec<usize>) {
        (names.iter().map(|name| (*name).to_owned()).collect(), parts.to_vec())
    }

    #[test]
    fn flows_share_a_row_per_scheme_and_default_to_the_row_scheme() {
        let script = "scheme=paced;start=1s;scheme=paced,start=2s;scheme=paced:first=4,as=four";
        assert_eq!(
            cast(script, Some("slow-start")),
            Ok(names(&["paced", "slow-start", "four"], &[0, 1, 0, 2]))
        );
        assert_eq!(cast(script, Some("paced")), Ok(names(&["paced", "four"], &[0, 0, 0, 1])));
        assert!(scenario(script).has_row_scheme() && !scenario("scheme=paced").has_row_scheme());
    }

    #[test]
    fn a_policy_of_its_own_makes_a_row_of_its_own() {
        let script = "restart=ssr;restart=rbp-rate;scheme=vegas,restart=nssr;scheme=vegas:as=v,restart=nssr";
        assert_eq!(
            cast(script, Some("slow-start")),
            Ok(names(&["slow-start+ssr", "slow-start+rbp-rate", "vegas+nssr", "v"], &[0, 1, 2, 3]))
        );
    }

    #[test]
    fn an_invalid_cast_is_refused_with_its_flow_in_one_line() {
        for (script, says) in [
            ("start=0s;scheme=hystrat", "flow: flow 2: unknown scheme `hystrat`; is `hystart` meant?"),
            (
                "scheme=paced;scheme=paced:first=4",
                "flow: flow 2: `paced:first=4` and `paced` have one name, paced",
            ),
            (
                "start=0s;scheme=slow-start:iw=2p",
                "flow: flow 2: `slow-start:iw=2p` and `slow-start` have one name",
            ),
            ("scheme=all", "flow: flow 1: `all` are "),
            ("scheme=vegas:restart=ssr,restart=nssr", "flow: flow 1: restart is said twice: nssr"),
            ("scheme=careful-resume", "flow: flow 1: careful-resume: what an earlier connection saved"),
        ] {
            let error = cast(script, Some("slow-start")).expect_err(script);
            assert!(error.starts_with(says) && !error.contains('\n'), "{script}: {error}");
        }
        assert_eq!(
            cast("start=0s", None),
            Err("flow: flow 1: it has the row's scheme, and no scheme is listed".to_owned())
        );
    }
}
