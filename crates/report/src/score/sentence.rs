//! The sentence with which a score begins: the best that one can deploy alone, and what help from beyond the sender adds.

use firstflight_lab::score::{Group, Standing};
use firstflight_measure::{ALONE, Better, Claim, credit_sentence, help, laws_differ, listed, owing};

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
    let (owed, credit) = credit(all, &order, beyond);
    let is_owed = owed.contains(&first.scheme.as_str()) && first.bytes_cost.of * 2 >= first.rows;
    let is_all_alone = order.iter().all(|one| one.deploy == ALONE);
    let lead = match (first.deploy.as_str(), is_all_alone) {
        (ALONE, true) if is_owed => {
            "None is better by median cost than slow start that counts bytes".to_owned()
        }
        (ALONE, false) if is_owed => {
            "None that one can deploy alone is better by median cost than slow start that counts bytes"
                .to_owned()
        }
        (ALONE, true) => "Best by median cost".to_owned(),
        (ALONE, false) => "Best alone by median cost".to_owned(),
        (deploy, _) => format!("Best by median cost, with {}", help(deploy)),
    };
    let helped: String = helped.collect();
    let named: Vec<_> = [first].into_iter().chain(bests.iter().copied()).chain(last).map(law).collect();
    let laws = laws_differ(&named, order.iter().map(|one| law(one).0), |law| {
        format!("avoidance = \"{law}\" in the sweep")
    });
    format!("{lead}: {}{helped}{behind}.{}{credit}{laws}", says(first), not_told(all, first, &order))
}

/// The schemes that are no better than slow start that counts bytes, by the rule of races, and the sentence that says so. Each is
/// compared with it over the races that both were in.
fn credit<'a>(all: &Group, order: &[&'a Standing], beyond: &str) -> (Vec<&'a str>, String) {
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
    let Some(of_first) = held.first() else { return (Vec::new(), String::new()) };
    let is_better =
        |one: &Standing| Better::Less.is_better(one.cost_beside_bytes.median(), one.bytes_cost.median());
    // Schemes with other options of the path have another slow start beside them.
    let beside = held.iter().filter(|one| one.bytes_cost == of_first.bytes_cost);
    let owed: Vec<&str> = beside.filter(|one| !is_better(one)).map(|one| one.scheme.as_str()).collect();
    let races = match of_first.bytes_cost.of {
        some if some < of_first.rows => format!(" over the {some} of {} races that it ran in", all.races),
        _ => String::new(),
    };
    let number = format!("a median cost of {}{races}", quantile(of_first.bytes_cost.at[0], 1.0, beyond));
    let sentence = credit_sentence(&owed, &claims, &number, COUNT_ALIKE);
    (owed, sentence)
}

/// The key of a sweep with which all schemes count alike.
const COUNT_ALIKE: &str = "slow-start-counts = \"bytes\" in the sweep";

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
