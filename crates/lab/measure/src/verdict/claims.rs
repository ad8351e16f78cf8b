//! The rule of credit: a scheme gets no credit for the gain of counting bytes. A start-up that counts bytes is faster than one that counts
//! ACKs, whatever else it does, so it is compared with byte-counting slow start. A claim is a scheme of a race, of a population or of a
//! sweep, with its numbers.

use super::judged::EQUAL;
use super::words::listed;
use crate::evidence::SuCounts;
use crate::row::ALONE;

/// A scheme with the values that the rule of credit needs.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The scheme's name.
    pub name: &'a str,
    /// The highest growth class of the scheme's start-ups.
    pub counts: SuCounts,
    /// Whether none of the scheme's flows left start-up.
    pub never_left: bool,
    /// The help that the scheme needs beyond the sender ([`crate::Row::deploy`]).
    pub deploy: &'a str,
    /// The number that decides the comparison; `None` if a run lacks it.
    pub number: Option<f64>,
}

/// Which of two numbers is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The smaller number is better: a cost or a time.
    Less,
    /// The larger number is better: a throughput.
    More,
}

impl Better {
    /// Checks whether `one` is better than `other` by more than a hundredth, or is defined if `other` is not.
    pub fn is_better(self, one: Option<f64>, other: Option<f64>) -> bool {
        self.is_better_by(EQUAL, one, other)
    }

    /// Checks whether `one` is better than `other` by more than this share, or is defined if `other` is not.
    fn is_better_by(self, share: f64, one: Option<f64>, other: Option<f64>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) if self == Self::More => one > other * (1.0 + share),
            (Some(one), Some(other)) => one < other * (1.0 - share),
            (one, other) => one.is_some() && other.is_none(),
        }
    }
}

/// Returns the names of the claims that must be compared with byte-counting slow start. Each of them widened the window by more than a
/// segment per ACK, and is better than a claim that counts ACKs. It also never left start-up, or it counts bytes and is the best that can
/// be deployed alone.
pub fn owing<'a>(better: Better, claims: &[Claim<'a>]) -> Vec<&'a str> {
    let is_better = |one: &Claim<'_>, other: &Claim<'_>| better.is_better_by(0.0, one.number, other.number);
    let is_alone = |one: &Claim<'_>| matches!(one.deploy, "" | ALONE);
    let is_best_alone = |one: &Claim<'_>| {
        is_alone(one) && !claims.iter().filter(|other| is_alone(other)).any(|other| is_better(other, one))
    };
    let owes = |one: &&Claim<'a>| {
        let may_owe = match one.counts {
            SuCounts::Either | SuCounts::Acks => false,
            SuCounts::Bytes => one.never_left || is_best_alone(one),
            SuCounts::Beyond => one.never_left,
        };
        may_owe && claims.iter().any(|other| other.counts == SuCounts::Acks && is_better(one, other))
    };
    claims.iter().filter(owes).map(|claim| claim.name).collect()
}

/// Returns the notes on byte-counting slow start, which has this `number`. They name the claims that are no better, and those that count
/// ACKs. `advice` is the option with which all schemes count bytes.
pub fn credit_notes(no_better: &[&str], claims: &[Claim<'_>], number: &str, advice: &str) -> [String; 2] {
    let count = format!("{}; {advice} makes all schemes count bytes.", count_acks(claims));
    if no_better.is_empty() {
        return [format!("byte-counting slow start: {number}."), count];
    }
    let have_left = claims.iter().any(|claim| no_better.contains(&claim.name) && !claim.never_left);
    let never = if have_left { "" } else { " never exited start-up and" };
    let are = if no_better.len() > 1 { "are" } else { "is" };
    [format!("{}{never} {are} no better than byte-counting slow start ({number}).", listed(no_better)), count]
}

/// The maximum number of names in a clause.
const MAX_NAMES: usize = 6;

/// Describes which claims count ACKs: names them, or says "all but" and names the others if these are fewer.
fn count_acks(claims: &[Claim<'_>]) -> String {
    let (acks, others): (Vec<&Claim<'_>>, Vec<&Claim<'_>>) =
        claims.iter().partition(|claim| claim.counts == SuCounts::Acks);
    let names = |of: &[&Claim<'_>]| of.iter().map(|claim| claim.name.to_owned()).collect::<Vec<_>>();
    let (acks, others) = (names(&acks), names(&others));
    let said = |names: &[String]| listed(&names.iter().map(String::as_str).collect::<Vec<_>>());
    match acks.as_slice() {
        [one] => format!("{one} counts ACKs"),
        few if few.len() <= MAX_NAMES => format!("{} count ACKs", said(few)),
        _ if others.len() <= MAX_NAMES => format!("all but {} count ACKs", said(&others)),
        many => {
            let (shown, more) = many.split_at(MAX_NAMES - 1);
            format!("{} and {} more count ACKs", shown.join(", "), more.len())
        }
    }
}
