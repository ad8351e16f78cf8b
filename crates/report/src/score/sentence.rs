//! The sentence with which a score begins: the best that one can deploy alone, and what help from beyond the sender adds.

use firstflight_lab::score::{Group, Standing};
use firstflight_measure::{ALONE, help, laws_differ, listed};

use super::quantile;

/// The sentence of all paths: the scheme of the least median cost among those that a sender's operator can deploy alone, what
/// each kind of help adds by its best scheme, and the last. `beyond` stands for an infinite median.
pub fn sentence(all: &Group, beyond: &str) -> String {
    let order = all.by_cost();
    let Some(first) = order.iter().copied().find(|one| one.deploy == ALONE).or(order.first().copied()) else {
        return String::new();
    };
    let says = |one: &Standing| {
        let law = one.law.as_deref().unwrap_or("several laws");
        format!("{} ({law}) {}", one.scheme, quantile(one.cost.at[0], 1.0, beyond))
    };
    let place = |of: &Standing| order.iter().position(|one| one.scheme == of.scheme);
    let with_help = order.iter().copied().filter(|one| one.deploy != first.deploy && one.deploy != ALONE);
    let mut bests: Vec<&Standing> = Vec::new();
    for one in with_help {
        if !bests.iter().any(|best| best.deploy == one.deploy) {
            bests.push(one);
        }
    }
    let helped = bests.iter().map(|best| {
        let (kind, does) = (help(&best.deploy), says(best));
        if place(best) > place(first) {
            return format!("; {kind} shows no gain: {does}");
        }
        let told = if all.tells(&best.draws_against_alone) {
            ""
        } else {
            ", which the sign test does not tell from chance"
        };
        format!("; with {kind} {does}{told}")
    });
    let last = order
        .last()
        .copied()
        .filter(|last| last.scheme != first.scheme && !bests.iter().any(|best| best.scheme == last.scheme));
    let behind = last.map_or_else(String::new, |last| format!("; last is {}", says(last)));
    let lead = if first.deploy != ALONE {
        format!("Best by median cost, with {}", help(&first.deploy))
    } else if order.iter().all(|one| one.deploy == ALONE) {
        "Best by median cost".to_owned()
    } else {
        "Best alone by median cost".to_owned()
    };
    let helped: String = helped.collect();
    let named: Vec<_> = [first].into_iter().chain(bests.iter().copied()).chain(last).map(law).collect();
    let laws = laws_differ(&named, order.iter().map(|one| law(one).0), |law| {
        format!("avoidance = \"{law}\" in the sweep")
    });
    format!("{lead}: {}{helped}{behind}.{}{laws}", says(first), not_told(all, first, &order))
}

fn law(one: &Standing) -> (&str, &str) {
    (one.law.as_deref().unwrap_or("several laws"), "")
}

/// Which schemes that one can deploy alone are not told from the first of them, and which are faster than it more often.
fn not_told(all: &Group, first: &Standing, order: &[&Standing]) -> String {
    if first.deploy != ALONE {
        return String::new();
    }
    let others: Vec<&Standing> =
        order.iter().copied().filter(|one| one.deploy == ALONE && one.scheme != first.scheme).collect();
    let names = |is: &dyn Fn(&Standing) -> bool| {
        others.iter().filter(|one| is(one)).map(|one| one.scheme.as_str()).collect::<Vec<_>>()
    };
    let same = names(&|one| !all.tells(&one.draws_against_alone));
    let faster = names(&|one| {
        all.tells(&one.draws_against_alone) && one.draws_against_alone.faster > one.draws_against_alone.slower
    });
    let draws = if all.is_independent() {
        "race by race"
    } else {
        "draw by draw, the costs of a draw's races averaged,"
    };
    let is_are = |names: &[&str]| if names.len() > 1 { "are" } else { "is" };
    let same = if same.is_empty() {
        String::new()
    } else {
        format!(" The sign test {draws} does not tell {} from {}.", shortened(&same), first.scheme)
    };
    let faster = if faster.is_empty() {
        String::new()
    } else {
        format!(" {} {} faster than {} more often.", shortened(&faster), is_are(&faster), first.scheme)
    };
    same + &faster
}

/// The most names in a clause.
const MOST_NAMES: usize = 4;

/// The names, the first few and how many more there are.
fn shortened(names: &[&str]) -> String {
    if names.len() <= MOST_NAMES {
        return listed(names);
    }
    let (shown, rest) = names.split_at(MOST_NAMES - 1);
    format!("{} and {} more", shown.join(", "), rest.len())
}
