//! The combinations of every scheme with every restart policy.

use crate::choice::{ChoiceError, OFFERS, SchemeChoice};
use crate::options::Options;

/// Combines every scheme with every restart policy, if more than one policy was set. A scheme that sets its own policy keeps it. A row is
/// named `scheme+policy`; a policy that recurs with other parameters is named `scheme+policy.2`.
///
/// # Errors
/// A policy that the simulated host cannot run.
pub fn over_restarts(
    choices: Vec<SchemeChoice>,
    options: &Options,
) -> Result<Vec<SchemeChoice>, ChoiceError> {
    let policies = options.restart.as_deref().unwrap_or_default();
    for policy in policies {
        policy.entry.check(OFFERS).map_err(ChoiceError::Host)?;
    }
    if policies.len() < 2 {
        return Ok(choices);
    }
    let mut spread = Vec::new();
    for choice in choices {
        if choice.has_own_restart() {
            spread.push(choice);
            continue;
        }
        for (index, policy) in policies.iter().enumerate() {
            let same = policies.iter().take(index).filter(|p| p.entry.name == policy.entry.name).count();
            let number = if same == 0 { String::new() } else { format!(".{}", same + 1) };
            let label = format!("{}+{}{number}", choice.name(), policy.entry.name);
            spread.push(choice.clone().restarting(policy, label));
        }
    }
    Ok(spread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_choices, show_choices};

    #[test]
    fn several_policies_make_a_row_of_each_scheme_with_each() {
        let mut options = Options::default();
        options.set("restart", "ssr,rbp-rate/after=cut,rbp-rate").expect("policies");
        let choices = parse_choices("slow-start,limited:restart=nssr").expect("schemes");
        let spread = over_restarts(choices, &options).expect("rows");
        let names: Vec<&str> = spread.iter().map(SchemeChoice::name).collect();
        assert_eq!(names, ["slow-start+ssr", "slow-start+rbp-rate", "slow-start+rbp-rate.2", "limited"]);
        let list = show_choices(&spread);
        assert_eq!(show_choices(&parse_choices(&list).expect("the list reads back")), list);
        assert!(list.contains("slow-start:restart=rbp-rate/after=cut,as=slow-start+rbp-rate,"), "{list}");
    }
}
