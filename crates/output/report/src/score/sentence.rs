//! The verdict of a score: the best scheme that needs no help beyond the sender, and notes on the gain from help and on what is undecided.

use firstflight_lab::score::{Group, Standing};
use firstflight_measure::{
    ALONE, Better, Claim, Quantile, credit_notes, help, laws_differ, listed, noted, owing,
};

use super::cells::{nearest, quantile};

/// Returns the verdict over all paths. Its first line names the scheme with the smallest median cost among those that need no help, and the
/// last scheme. The notes say what the best scheme for each kind of help gains, which schemes the sign test does not distinguish, and which
/// scheme is most often within 1 % of the best of a race. `beyond` is the text of an infinite median.
pub fn verdict(all: &Group, beyond: &str) -> String {
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
            return format!("{kind} shows no gain: {does}.");
        }
        let chance = if all.differs(&best.draws_against_alone) {
            ""
        } else {
            ", which the sign test does not distinguish from chance"
        };
        format!("with {kind}, {does}{chance}.")
    });
    let last = order
        .last()
        .copied()
        .filter(|last| last.scheme != first.scheme && !bests.iter().any(|best| best.scheme == last.scheme));
    let worst = last.map_or_else(String::new, |last| format!(" Worst: {}.", says(last)));
    let (owed, credit) = credit(all, &order, beyond);
    let is_owed = owed.contains(&first.scheme.as_str()) && first.bytes_cost.of * 2 >= first.rows;
    let is_all_alone = order.iter().all(|one| one.deploy == ALONE);
    let lead = match (first.deploy.as_str(), is_all_alone) {
        (ALONE, true) if is_owed => "No scheme beats byte-counting slow start by median cost".to_owned(),
        (ALONE, false) if is_owed => {
            "No scheme without help beats byte-counting slow start by median cost".to_owned()
        }
        (ALONE, true) => "Best by median cost".to_owned(),
        (ALONE, false) => "Best without help by median cost".to_owned(),
        (deploy, _) => format!("Best by median cost, with {}", help(deploy)),
    };
    let laws: Vec<_> = order.iter().copied().map(law).collect();
    let laws = laws_differ(law(first).0, &laws, |law| format!("avoidance = \"{law}\" in the sweep"));
    let nearest = nearest(all, all.decided());
    let nearest = format!("most often within 1 % of the best of a race: {nearest}.");
    let harm = harm(first, &order);
    let notes =
        helped.chain(harm).chain(undecided(all, first, &order)).chain(credit).chain(laws).chain([nearest]);
    noted(&format!("{lead}: {}.{worst}", says(first)), notes)
}

/// Returns the note on what the best scheme, and the scheme with the smallest harm, cost others: the median and the 90th percentile of the
/// bytes that others lose for each byte carried. `None` if no race has others.
fn harm(first: &Standing, order: &[&Standing]) -> Option<String> {
    let at = |one: &Standing, place: usize| match one.harm_per_byte.at[place] {
        Quantile::Value { value, .. } => Some(value),
        _ => None,
    };
    let of = |one: &Standing| Some(format!("{} {:.2} / {:.2}", one.scheme, at(one, 0)?, at(one, 1)?));
    let gentle = order.iter().copied().filter(|one| at(one, 1).is_some());
    let gentle =
        gentle.min_by(|one, other| at(one, 1).unwrap_or(0.0).total_cmp(&at(other, 1).unwrap_or(0.0)))?;
    let mut said = vec![of(first)?];
    said.extend(of(gentle).filter(|_| gentle.scheme != first.scheme));
    Some(format!("harm per byte, median / p90: {}.", said.join(", ")))
}

/// Returns the schemes that are no better than byte-counting slow start by the rule of races, and the notes on them. Each is compared with
/// byte-counting slow start over the races that both ran in.
fn credit<'a>(all: &Group, order: &[&'a Standing], beyond: &str) -> (Vec<&'a str>, Vec<String>) {
    let claim = |one: &&'a Standing| Claim {
        name: &one.scheme,
        counts: one.counts,
        never_left: one.never_left,
        deploy: &one.deploy,
        number: one.cost.median(),
    };
    let claims: Vec<Claim<'a>> = order.iter().map(claim).collect();
    let names = owing(Better::Less, &claims);
    let held: Vec<&'a Standing> = order
        .iter()
        .copied()
        .filter(|one| names.contains(&one.scheme.as_str()) && one.bytes_cost.of > 0)
        .collect();
    let Some(of_first) = held.first() else { return (Vec::new(), Vec::new()) };
    let is_better =
        |one: &Standing| Better::Less.is_better(one.cost_beside_bytes.median(), one.bytes_cost.median());
    // Only schemes with the same reference are compared. Schemes with other path options have another slow start as their reference.
    let beside = held.iter().filter(|one| one.bytes_cost == of_first.bytes_cost);
    let owed: Vec<&str> = beside.filter(|one| !is_better(one)).map(|one| one.scheme.as_str()).collect();
    let races = match of_first.bytes_cost.of {
        some if some < of_first.rows => format!(" over the {some} of {} races that it ran in", all.races),
        _ => String::new(),
    };
    let number = format!("a median cost of {}{races}", quantile(of_first.bytes_cost.at[0], 1.0, beyond));
    let notes = credit_notes(&owed, &claims, &number, COUNT_ALIKE);
    (owed, notes.into())
}

/// The key of a sweep with which all schemes count bytes.
const COUNT_ALIKE: &str = "slow-start-counts = \"bytes\" in the sweep";

fn law(one: &Standing) -> (&str, &str) {
    (one.law.as_deref().unwrap_or("several laws"), "")
}

/// Returns the notes on the schemes deployable alone that the sign test does not distinguish from `first`, and on those that are faster than
/// `first` in significantly more races.
fn undecided(all: &Group, first: &Standing, order: &[&Standing]) -> Vec<String> {
    if first.deploy != ALONE {
        return Vec::new();
    }
    let others: Vec<&Standing> =
        order.iter().copied().filter(|one| one.deploy == ALONE && one.scheme != first.scheme).collect();
    let names = |is: &dyn Fn(&Standing) -> bool| {
        others.iter().filter(|one| is(one)).map(|one| one.scheme.as_str()).collect::<Vec<_>>()
    };
    let same = names(&|one| !all.differs(&one.draws_against_alone));
    let faster = names(&|one| {
        all.differs(&one.draws_against_alone)
            && one.draws_against_alone.faster > one.draws_against_alone.slower
    });
    let draws = if all.is_independent() {
        "race by race"
    } else {
        "draw by draw, the costs of a draw's races averaged,"
    };
    let is_are = |names: &[&str]| if names.len() > 1 { "are" } else { "is" };
    let same = (!same.is_empty()).then(|| {
        format!("the sign test {draws} does not distinguish {} from {}.", shortened(&same), first.scheme)
    });
    let faster = (!faster.is_empty()).then(|| {
        format!("{} {} faster than {} in most races.", shortened(&faster), is_are(&faster), first.scheme)
    });
    same.into_iter().chain(faster).collect()
}

/// The maximum number of names in a clause.
const MAX_NAMES: usize = 4;

/// Lists the first few names, and the number of the others.
fn shortened(names: &[&str]) -> String {
    if names.len() <= MAX_NAMES {
        return listed(names);
    }
    let (shown, rest) = names.split_at(MAX_NAMES - 1);
    format!("{} and {} more", shown.join(", "), rest.len())
}
