//! The values of expressions: one number, a number at each place of an axis, or a sample at each place.

use std::iter::Zip;
use std::slice::Iter;

use firstflight_measure::{Quantile, quantile};

use crate::expression::Operator;
use crate::function::Function;

/// A value. An undefined number is NaN, which every operation keeps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// A number.
    Number(f64),
    /// A number at each place of an axis.
    Points(Vec<(f64, f64)>),
    /// A sample at each place of an axis.
    Samples(Vec<(f64, Vec<f64>)>),
}

type Outcome = Result<Value, String>;

impl Value {
    /// Returns the numbers over the axis. A single number has one place.
    pub(crate) fn points(&self) -> Result<Vec<(f64, f64)>, String> {
        match self {
            Self::Number(number) => Ok(vec![(0.0, *number)]),
            Self::Points(points) => Ok(points.clone()),
            Self::Samples(_) => Err(
                "a sample is no number; median(…), quantile(Q, …), share(…) or another reduction is wanted"
                    .into(),
            ),
        }
    }

    /// Returns the number; an error if there are several. `what` names the value in the error.
    fn number(&self, what: &str) -> Result<f64, String> {
        match self.points()?.as_slice() {
            [(_, number)] => Ok(*number),
            points => Err(format!("{what}: found {} values; one is wanted", points.len())),
        }
    }
}

/// Applies an operation to two values, at each place and to each element of samples.
pub(crate) fn binary(operator: Operator, left: &Value, right: &Value) -> Outcome {
    let of = |a: f64, b: f64| operate(operator, a, b);
    Ok(match (left, right) {
        (Value::Number(a), Value::Number(b)) => Value::Number(of(*a, *b)),
        (Value::Number(a), Value::Points(points)) => Value::Points(each(points, |b| of(*a, b))),
        (Value::Points(points), Value::Number(b)) => Value::Points(each(points, |a| of(a, *b))),
        (Value::Points(a), Value::Points(b)) => {
            let pairs = same(a, b)?;
            Value::Points(pairs.map(|((x, a), (_, b))| (*x, of(*a, *b))).collect())
        }
        (Value::Samples(samples), Value::Number(b)) => Value::Samples(
            samples.iter().map(|(x, sample)| (*x, sample.iter().map(|a| of(*a, *b)).collect())).collect(),
        ),
        (Value::Number(a), Value::Samples(samples)) => Value::Samples(
            samples.iter().map(|(x, sample)| (*x, sample.iter().map(|b| of(*a, *b)).collect())).collect(),
        ),
        (Value::Samples(samples), Value::Points(points)) => {
            let pairs = same(samples, points)?;
            Value::Samples(
                pairs
                    .map(|((x, sample), (_, b))| (*x, sample.iter().map(|a| of(*a, *b)).collect()))
                    .collect(),
            )
        }
        (Value::Points(points), Value::Samples(samples)) => {
            let pairs = same(points, samples)?;
            Value::Samples(
                pairs
                    .map(|((x, a), (_, sample))| (*x, sample.iter().map(|b| of(*a, *b)).collect()))
                    .collect(),
            )
        }
        (Value::Samples(left), Value::Samples(right)) => {
            let mut both = Vec::with_capacity(left.len());
            for ((x, a), (_, b)) in same(left, right)? {
                if a.len() != b.len() {
                    return Err(format!(
                        "samples of {} and {} values do not go together; both must be of the same flows",
                        a.len(),
                        b.len()
                    ));
                }
                both.push((*x, a.iter().zip(b).map(|(a, b)| of(*a, *b)).collect()));
            }
            Value::Samples(both)
        }
    })
}

/// Applies a function to values.
pub(crate) fn call(function: Function, arguments: &[Value]) -> Outcome {
    match (function, arguments) {
        (Function::Abs, [value]) => Ok(map(value, f64::abs)),
        (Function::Sqrt, [value]) => Ok(map(value, f64::sqrt)),
        (Function::Log2, [value]) => Ok(map(value, f64::log2)),
        (Function::Defined, [value]) => keep(value, &|number| !number.is_nan()),
        (Function::Where, [condition, value]) => choose(condition, value),
        (Function::Diff, [value]) => diff(value),
        (
            Function::ArgMax | Function::ArgMin | Function::When | Function::Longest | Function::Integral,
            [value],
        ) => Ok(over_axis(function, &value.points()?)),
        (Function::At, [place, value]) => {
            let place = place.number("at")?;
            at(place, &value.points()?)
        }
        (Function::Held, [place, value]) => {
            let place = place.number("held")?;
            let points = value.points()?;
            let before = points.iter().take_while(|(x, _)| *x <= place + near(place));
            Ok(Value::Number(before.last().map_or(f64::NAN, |(_, y)| *y)))
        }
        (Function::Between, [from, to, value]) => {
            let (from, to) = (from.number("between")?, to.number("between")?);
            let inside = |x: f64| x >= from - near(from) && x <= to + near(to);
            Ok(match value {
                Value::Samples(samples) => {
                    Value::Samples(samples.iter().filter(|(x, _)| inside(*x)).cloned().collect())
                }
                other => Value::Points(other.points()?.into_iter().filter(|(x, _)| inside(*x)).collect()),
            })
        }
        (Function::Quantile, [share, value]) => {
            let share = share.number("quantile")?;
            if !(0.0..=1.0).contains(&share) {
                return Err(format!("quantile: {share} is not from 0 to 1"));
            }
            Ok(reduce(value, &|sample| quantile_of(sample, share)))
        }
        (Function::Pick, [place, value]) => {
            let place = place.number("pick")?;
            if place < 0.0 || place.fract() != 0.0 {
                return Err(format!("pick: {place} is not a whole number from 0"));
            }
            Ok(reduce(value, &|sample| nth(sample, place)))
        }
        (_, [value]) => {
            let reduction = reduction(function).ok_or("the function is no reduction")?;
            Ok(reduce(value, &reduction))
        }
        _ => Err(format!("{} is wanted", function.usage())),
    }
}

/// Applies `of` to the value at each place of an axis.
pub(crate) fn each(points: &[(f64, f64)], of: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    points.iter().map(|(x, y)| (*x, of(*y))).collect()
}

/// Maximum difference of two numbers that count as the same place on an axis.
fn near(x: f64) -> f64 {
    x.abs() * 1e-9
}

/// The entries of two values, paired by place.
type Pairs<'a, A, B> = Zip<Iter<'a, (f64, A)>, Iter<'a, (f64, B)>>;

fn same<'a, A, B>(left: &'a [(f64, A)], right: &'a [(f64, B)]) -> Result<Pairs<'a, A, B>, String> {
    let are_same =
        left.len() == right.len() && left.iter().zip(right).all(|((a, _), (b, _))| (a - b).abs() <= near(*a));
    if are_same {
        return Ok(left.iter().zip(right));
    }
    Err(format!(
        "values at {} and at {} places do not go together; both must be over the same axis",
        left.len(),
        right.len()
    ))
}

fn operate(operator: Operator, a: f64, b: f64) -> f64 {
    let truth = |is_so: bool| if a.is_nan() || b.is_nan() { f64::NAN } else { f64::from(u8::from(is_so)) };
    match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::Less => truth(a < b),
        Operator::AtMost => truth(a <= b),
        Operator::Greater => truth(a > b),
        Operator::AtLeast => truth(a >= b),
        Operator::Equal => truth((a - b).abs() <= near(a)),
        Operator::Unequal => truth((a - b).abs() > near(a)),
        Operator::And => truth(a != 0.0 && b != 0.0),
        Operator::Or => truth(a != 0.0 || b != 0.0),
    }
}

fn map(value: &Value, of: fn(f64) -> f64) -> Value {
    match value {
        Value::Number(number) => Value::Number(of(*number)),
        Value::Points(points) => Value::Points(each(points, of)),
        Value::Samples(samples) => Value::Samples(
            samples.iter().map(|(x, sample)| (*x, sample.iter().map(|one| of(*one)).collect())).collect(),
        ),
    }
}

fn keep(value: &Value, is_kept: &dyn Fn(f64) -> bool) -> Outcome {
    Ok(match value {
        Value::Samples(samples) => Value::Samples(
            samples
                .iter()
                .map(|(x, sample)| (*x, sample.iter().copied().filter(|one| is_kept(*one)).collect()))
                .collect(),
        ),
        other => Value::Points(other.points()?.into_iter().filter(|(_, y)| is_kept(*y)).collect()),
    })
}

/// Returns only those entries of a value for which the condition holds.
fn choose(condition: &Value, value: &Value) -> Outcome {
    let holds = |truth: f64| truth != 0.0 && !truth.is_nan();
    match (condition, value) {
        (Value::Samples(conditions), Value::Samples(samples)) => {
            let mut chosen = Vec::with_capacity(samples.len());
            for ((x, conditions), (_, sample)) in same(conditions, samples)? {
                if conditions.len() != sample.len() {
                    return Err("where: the condition and the sample are not of the same flows".into());
                }
                let both = conditions.iter().zip(sample).filter(|(truth, _)| holds(**truth));
                chosen.push((*x, both.map(|(_, one)| *one).collect()));
            }
            Ok(Value::Samples(chosen))
        }
        (condition, value) => {
            let (conditions, points) = (condition.points()?, value.points()?);
            let both = same(&conditions, &points)?.filter(|((_, truth), _)| holds(*truth));
            Ok(Value::Points(both.map(|(_, point)| *point).collect()))
        }
    }
}

/// Returns the difference of consecutive values, at the place of the later value.
fn diff(value: &Value) -> Outcome {
    Ok(match value {
        Value::Samples(samples) => {
            let differences = |sample: &[f64]| sample.windows(2).map(|pair| pair[1] - pair[0]).collect();
            Value::Samples(samples.iter().map(|(x, sample)| (*x, differences(sample))).collect())
        }
        other => {
            Value::Points(other.points()?.windows(2).map(|pair| (pair[1].0, pair[1].1 - pair[0].1)).collect())
        }
    })
}

/// Returns the value at a place.
fn at(place: f64, points: &[(f64, f64)]) -> Outcome {
    let found: Vec<_> = points.iter().filter(|(x, _)| (x - place).abs() <= near(place)).collect();
    match found.as_slice() {
        [(_, y)] => Ok(Value::Number(*y)),
        [] => {
            let places: Vec<String> =
                points.iter().take(12).map(|(x, _)| crate::quantity::show(*x)).collect();
            Err(format!(
                "at: nothing is at {}; the axis has {}",
                crate::quantity::show(place),
                places.join(", ")
            ))
        }
        several => Err(format!(
            "at: {} values are at {}; at(KEY=VALUE, …) is wanted",
            several.len(),
            crate::quantity::show(place)
        )),
    }
}

fn over_axis(function: Function, points: &[(f64, f64)]) -> Value {
    let extreme = |sign: f64| {
        if points.iter().any(|(_, y)| y.is_nan()) {
            return f64::NAN;
        }
        let best = points.iter().fold(None, |best: Option<(f64, f64)>, (x, y)| match best {
            Some((_, most)) if sign * y <= sign * most => best,
            _ => Some((*x, *y)),
        });
        best.map_or(f64::NAN, |(x, _)| x)
    };
    Value::Number(match function {
        Function::ArgMax => extreme(1.0),
        Function::ArgMin => extreme(-1.0),
        Function::When => points.iter().find(|(_, y)| *y != 0.0 && !y.is_nan()).map_or(f64::NAN, |(x, _)| *x),
        Function::Longest => longest(points),
        _ => points.windows(2).map(|pair| (pair[1].0 - pair[0].0) * pair[0].1).sum(),
    })
}

/// Returns the length of the longest interval of the axis in which a condition holds. An interval ends at the first point without the
/// condition, or at the last point. NaN if a value is undefined.
fn longest(points: &[(f64, f64)]) -> f64 {
    if points.is_empty() || points.iter().any(|(_, truth)| truth.is_nan()) {
        return f64::NAN;
    }
    let (mut most, mut began) = (0.0_f64, None);
    for (x, truth) in points {
        if let Some(from) = began {
            most = most.max(x - from);
        }
        began = if *truth == 0.0 { None } else { began.or(Some(*x)) };
    }
    most
}

/// Reduces a value with `of`: points over the whole axis, and samples at each place. Undefined numbers in samples are left out.
fn reduce(value: &Value, of: &dyn Fn(&[f64]) -> f64) -> Value {
    match value {
        Value::Number(number) => Value::Number(of(&[*number])),
        Value::Points(points) => {
            let all: Vec<f64> = points.iter().map(|(_, y)| *y).collect();
            Value::Number(if all.iter().any(|one| one.is_nan()) { f64::NAN } else { of(&all) })
        }
        Value::Samples(samples) => {
            let defined =
                |sample: &[f64]| sample.iter().copied().filter(|one| !one.is_nan()).collect::<Vec<_>>();
            Value::Points(samples.iter().map(|(x, sample)| (*x, of(&defined(sample)))).collect())
        }
    }
}

fn reduction(function: Function) -> Option<fn(&[f64]) -> f64> {
    Some(match function {
        Function::Max => |all| all.iter().copied().reduce(f64::max).unwrap_or(f64::NAN),
        Function::Min => |all| all.iter().copied().reduce(f64::min).unwrap_or(f64::NAN),
        Function::Mean => mean,
        Function::Share => {
            |all| mean(&all.iter().map(|one| f64::from(u8::from(*one != 0.0))).collect::<Vec<_>>())
        }
        Function::Median => |all| quantile_of(all, 0.5),
        Function::Sum => |all| all.iter().sum(),
        Function::First => |all| all.first().copied().unwrap_or(f64::NAN),
        Function::Last => |all| all.last().copied().unwrap_or(f64::NAN),
        Function::Count => count,
        _ => return None,
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn count(all: &[f64]) -> f64 {
    all.len() as f64
}

fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / count(all)
}

fn quantile_of(all: &[f64], share: f64) -> f64 {
    let mut sorted: Vec<Option<f64>> = all.iter().copied().map(Some).collect();
    sorted.sort_by(|a, b| a.unwrap_or(f64::INFINITY).total_cmp(&b.unwrap_or(f64::INFINITY)));
    match quantile(&sorted, share, false) {
        Quantile::Value { value, .. } => value,
        Quantile::Undefined | Quantile::Beyond { .. } => f64::NAN,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place from zero")]
fn nth(all: &[f64], place: f64) -> f64 {
    all.get(place as usize).copied().unwrap_or(f64::NAN)
}
