//! Paths drawn from M-Lab's percentiles of a territory's NDT tests.
//!
//! M-Lab publishes percentiles of each metric alone, and no joint distribution. The user chooses the rank correlation of the metrics. A Gaussian
//! copula with one common factor draws them: Spearman's coefficient ρₛ needs Pearson's 2 sin(π ρₛ / 6) (Kruskal
//! 1958, section 6).

use firstflight::{Rate, Span};
use firstflight_scenario::quantity::{self, show_rate, show_span};
use firstflight_scenario::suggest::{OPTIONS, meant};

use super::path_list::{ListedPath, PathList};
use super::value::{Draws, rounded};

/// M-Lab's percentiles, as bench/mlab.py writes them: M-Lab reserves no rights on its data (measurementlab.net/data), which github.com/m-lab/iqb
/// (commit dbd7401, Apache-2.0) has in aggregated form. Percentiles go from the
/// worst test to the best: the first round-trip time is the longest.
const DATA: &str = include_str!("mlab.csv");

/// The shares of tests that are no better than each percentile of the data.
const SHARES: [f64; 9] = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];

/// The default number of paths.
const PATHS: u64 = 500;

/// The maximum number of paths.
const MOST: u64 = 100_000;

/// The percentiles of a territory in a month.
#[derive(Clone, Debug)]
struct Territory {
    /// Download rate in kbit/s.
    down: [f64; 9],
    /// Upload rate in kbit/s.
    up: [f64; 9],
    /// Minimum round-trip time in microseconds.
    rtt: [f64; 9],
    /// Retransmitted share in millionths.
    retransmitted: [f64; 9],
}

/// The request: what to draw, and how.
struct Request<'t> {
    territory: &'t str,
    month: Option<&'t str>,
    paths: u64,
    rank_correlation: f64,
    /// Whether the retransmitted share is the random loss of the path.
    has_loss: bool,
}

const ALLOWED: &str = "allowed is a territory's code and any of a month, paths=N, rank-correlation=R and loss=retransmitted, as in \
                       `mlab:DE,2025-10,paths=500,rank-correlation=0.5`";

impl<'t> Request<'t> {
    fn parse(text: &'t str) -> Result<Self, String> {
        let mut parts = text.split(',').map(str::trim);
        let territory = parts.next().unwrap_or_default();
        let mut request =
            Self { territory, month: None, paths: PATHS, rank_correlation: 0.0, has_loss: false };
        let mut before = Vec::new();
        for part in parts {
            let key = part.split_once('=').map_or("a month", |(key, _)| key);
            if before.contains(&key) {
                return Err(format!("{} is there twice", quantity::in_a_line(key)));
            }
            before.push(key);
            match part.split_once('=') {
                Some(("paths", count)) => {
                    let count = count.parse::<u64>().ok().filter(|count| (1..=MOST).contains(count));
                    request.paths =
                        count.ok_or_else(|| format!("paths: allowed is a whole number from 1 to {MOST}"))?;
                }
                Some(("rank-correlation", number)) => {
                    let number = number.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
                    request.rank_correlation = number
                        .ok_or_else(|| "rank-correlation: allowed is a number from 0 to 1".to_owned())?;
                }
                Some(("loss", "none")) => request.has_loss = false,
                Some(("loss", "retransmitted")) => request.has_loss = true,
                Some(("loss", _)) => return Err("loss: allowed are none and retransmitted".to_owned()),
                None if part.starts_with("20") => request.month = Some(part),
                _ => {
                    return Err(format!("`{}` cannot be read; {ALLOWED}", quantity::in_a_line(part)));
                }
            }
        }
        Ok(request)
    }
}

/// Draws the paths of a request such as `DE,2025-10,paths=500,rank-correlation=0.5`.
pub(super) fn draw(text: &str, seed: u64) -> Result<PathList, String> {
    let request = Request::parse(text)?;
    let territory = find(&request)?;
    let mut keys = vec!["rate", "reverse-rate", "rtt"];
    keys.extend(request.has_loss.then_some("loss"));
    let paths = (0..request.paths).map(|path| {
        let [down, up, rtt, retransmitted] =
            qualities(request.rank_correlation, &mut Draws::new(seed, "mlab", path));
        let rate = |kbit: f64| show_rate(Rate::from_bps(whole(kbit * 1e3)));
        let mut texts = vec![
            rate(at(&territory.down, down)),
            rate(at(&territory.up, up)),
            show_span(Span::from_nanos(whole(at(&territory.rtt, rtt) * 1e3))),
        ];
        let loss = rounded(at(&territory.retransmitted, retransmitted) / 1e4);
        texts.extend(request.has_loss.then(|| format!("{loss}%")));
        ListedPath { name: None, weight: 1.0, texts: texts.into_iter().map(Some).collect(), line: 0 }
    });
    Ok(PathList { source: format!("mlab:{text}"), keys, paths: paths.collect() })
}

/// Rounds to four digits and to a whole number of at least 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates and times are far below 2^53"
)]
fn whole(number: f64) -> u64 {
    rounded(number).max(1.0) as u64
}

/// Draws the share of tests that are no better than the path's, for each metric.
fn qualities(rank_correlation: f64, draws: &mut Draws) -> [f64; 4] {
    let correlation = 2.0 * libm::sin(core::f64::consts::PI * rank_correlation / 6.0);
    let common = normal(draws);
    std::array::from_fn(|_| {
        let own = normal(draws);
        let z = libm::sqrt(correlation) * common + libm::sqrt((1.0 - correlation).max(0.0)) * own;
        0.5 * libm::erfc(-z / core::f64::consts::SQRT_2)
    })
}

/// Draws a standard normal number (Box and Muller 1958).
fn normal(draws: &mut Draws) -> f64 {
    let (radius, angle) = (draws.unit(), draws.unit());
    libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(core::f64::consts::TAU * angle)
}

/// Returns the value at a share of the tests. Between two percentiles its logarithm is linear, or the value if one of them is zero. Below the
/// first percentile and above the last it is that percentile.
fn at(percentiles: &[f64; 9], share: f64) -> f64 {
    let Some(next) = SHARES.iter().position(|one| *one >= share).filter(|next| *next > 0) else {
        return if share <= SHARES[0] { percentiles[0] } else { percentiles[8] };
    };
    let (low, high) = (percentiles[next - 1], percentiles[next]);
    let part = (share - SHARES[next - 1]) / (SHARES[next] - SHARES[next - 1]);
    if low > 0.0 && high > 0.0 {
        libm::exp(libm::log(low) + part * (libm::log(high) - libm::log(low)))
    } else {
        low + part * (high - low)
    }
}

/// Finds the data of a request.
fn find(request: &Request<'_>) -> Result<Territory, String> {
    let rows = || DATA.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let code = request.territory.to_ascii_uppercase();
    let months: Vec<&str> = rows().filter(|row| row[0] == code).map(|row| row[1]).collect();
    if months.is_empty() {
        let codes: std::collections::BTreeSet<&str> = rows().map(|row| row[0]).collect();
        let count = codes.len();
        let near = meant(&code, OPTIONS, codes).map_or_else(String::new, |near| format!("; {near}"));
        return Err(format!(
            "there are no data of the territory `{}`; allowed are the codes of ISO 3166 of {count} territories with 1,000 \
             tests a month, such as DE, IN and US{near}",
            quantity::in_a_line(request.territory)
        ));
    }
    let month = request.month.unwrap_or(months[months.len() - 1]);
    let row = rows().find(|row| row[0] == code && row[1] == month).ok_or_else(|| {
        format!(
            "there are no data of the month `{}`; allowed are {}",
            quantity::in_a_line(month),
            months.join(", ")
        )
    })?;
    let percentiles = |cell: &str| {
        let mut all = [0.0; 9];
        for (one, text) in all.iter_mut().zip(cell.split(' ')) {
            *one = text.parse().unwrap_or_default();
        }
        all
    };
    Ok(Territory {
        down: percentiles(row[4]),
        up: percentiles(row[5]),
        rtt: percentiles(row[6]),
        retransmitted: percentiles(row[7]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_data_has_nine_percentiles_from_worst_to_best() {
        for line in DATA.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            assert!(cells.len() == 8 && cells[2].parse::<u64>().is_ok_and(|tests| tests >= 1_000), "{line}");
            for (place, cell) in cells[4..].iter().enumerate() {
                let numbers: Vec<u64> =
                    cell.split(' ').map(|number| number.parse().expect("a number")).collect();
                let rises = place < 2;
                assert_eq!(numbers.len(), 9, "{line}");
                assert!(numbers.is_sorted_by(|a, b| if rises { a <= b } else { a >= b }), "{line}");
                assert!(place == 3 || numbers.iter().all(|number| *number > 0), "{line}");
            }
        }
        assert!(DATA.len() <= 100_000, "{} bytes", DATA.len());
    }

    /// Germany in October 2025: half of the downloads reach 51.4 Mbit/s, half of the tests have 17.4 ms or less (M-Lab's file
    /// `de_2025_10.json`).
    #[test]
    fn drawn_paths_have_the_percentiles_of_the_data() {
        let list = draw("DE,2025-10,paths=20000", 1).expect("a list");
        assert_eq!(list.keys, ["rate", "reverse-rate", "rtt"]);
        let mut rates: Vec<u64> = list
            .paths
            .iter()
            .map(|path| quantity::rate(path.texts[0].as_deref().expect("a rate")).expect("a rate").bps())
            .collect();
        rates.sort_unstable();
        let mut rtts: Vec<u64> = list
            .paths
            .iter()
            .map(|path| quantity::span(path.texts[2].as_deref().expect("a time")).expect("a time").nanos())
            .collect();
        rtts.sort_unstable();
        // Five standard deviations of a share of 20,000 draws are 1.8 %.
        for (sorted, wanted, share) in [
            (&rates, 51_373_000, 0.5),
            (&rates, 4_291_000, 0.1),
            (&rtts, 17_351_000, 0.5),
            (&rtts, 36_000_000, 0.9),
        ] {
            let below = sorted.iter().filter(|value| **value <= wanted).map(|_| 1.0).sum::<f64>() / 20_000.0;
            assert!((below - share).abs() < 0.018, "{wanted}: {below} of the draws, not {share}");
        }
    }

    #[test]
    fn the_rank_correlation_is_that_which_is_asked_for() {
        for wanted in [0.0, 0.5, 0.9] {
            let pairs: Vec<[f64; 4]> =
                (0..20_000).map(|path| qualities(wanted, &mut Draws::new(1, "mlab", path))).collect();
            for (a, b) in [(0, 1), (0, 2), (2, 3)] {
                // Uniform numbers have a mean of a half and a variance of a twelfth; their correlation is that of the ranks.
                let sum: f64 = pairs.iter().map(|pair| (pair[a] - 0.5) * (pair[b] - 0.5)).sum();
                let found = 12.0 * sum / 20_000.0;
                assert!((found - wanted).abs() < 0.035, "{wanted}: {found}");
            }
        }
    }

    #[test]
    fn the_same_request_draws_the_same_paths() {
        assert_eq!(draw("IN", 7).map(|list| list.paths), draw("in,2025-10", 7).map(|list| list.paths));
        assert_ne!(draw("IN", 7), draw("IN", 8), "another seed");
        assert_eq!(draw("IN,paths=3", 7).expect("three").paths, draw("IN", 7).expect("all").paths[..3]);
    }

    #[test]
    fn faults_say_what_is_allowed() {
        for (text, says) in [
            ("", "there are no data of the territory ``"),
            ("XX", "there are no data of the territory `XX`"),
            ("DE,2023-01", "there are no data of the month `2023-01`; allowed are 2024-10, 2025-10"),
            ("DE,paths=0", "paths: allowed is a whole number from 1 to 100000"),
            ("DE,rank-correlation=2", "rank-correlation: allowed is a number from 0 to 1"),
            ("DE,loss=1%", "loss: allowed are none and retransmitted"),
            ("DE,paths=3,paths=4", "paths is there twice"),
            ("DE,2024-10,2025-10", "a month is there twice"),
            ("DE,october", "`october` cannot be read; allowed is a territory's code"),
        ] {
            let error = draw(text, 1).expect_err(text);
            assert!(error.contains(says) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
