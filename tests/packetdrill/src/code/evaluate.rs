//! Evaluates code.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::fault::Fault;
use super::format;
use super::names::Names;
use super::parse::{Expression, Statement};
use super::value::Value;

/// Maximum length of a text that code makes.
const LONGEST: usize = 4_096;
/// Maximum number of values in a tuple, including nested values.
const MOST: usize = 4_096;
/// Maximum nesting of tuples. It is needed because code can put a variable into a tuple and the tuple into the variable, any number of
/// times.
const DEEPEST: usize = 64;

type Variables = BTreeMap<String, Value>;
type Answer = Result<Value, Fault>;

/// Executes a statement.
pub(super) fn run(statement: &Statement, variables: &mut Variables, names: &dyn Names) -> Result<(), Fault> {
    let scope = Scope { variables, names };
    match statement {
        Statement::Pass => Ok(()),
        Statement::Evaluate(expression) => scope.value(expression).map(drop),
        Statement::Assert { test, message } => {
            if scope.value(test)?.is_true() {
                return Ok(());
            }
            let message = message.as_ref().map(|message| scope.value(message)).transpose()?;
            Err(Fault::Failed(message.map_or_else(String::new, |message| format::show(&message))))
        }
        Statement::Set { name, operator, value } => {
            let mut value = scope.value(value)?;
            if let Some(operator) = operator {
                value = binary(operator, &scope.name(name)?, &value)?;
            }
            variables.insert(name.clone(), value);
            Ok(())
        }
    }
}

struct Scope<'a> {
    variables: &'a Variables,
    names: &'a dyn Names,
}

impl Scope<'_> {
    fn name(&self, name: &str) -> Answer {
        let constant = match name {
            "True" => Some(1),
            "False" => Some(0),
            _ => None,
        };
        let known = self.variables.get(name).cloned();
        let known = known.or_else(|| constant.or_else(|| self.names.value(name)).map(Value::Integer));
        match (known, name) {
            (Some(value), _) => Ok(value),
            (None, "None") => Ok(Value::None),
            (None, _) => Err(unsupported(format!("the name `{name}` in code"))),
        }
    }

    fn value(&self, expression: &Expression) -> Answer {
        match expression {
            Expression::Integer(value) => Ok(Value::Integer(*value)),
            Expression::Float(value) => Ok(Value::Float(*value)),
            Expression::Text(text) => Ok(Value::Text(text.clone())),
            Expression::Name(name) => self.name(name),
            Expression::Tuple(all) => Ok(Value::Tuple(self.values(all)?)),
            Expression::Not(inside) => Ok(truth(!self.value(inside)?.is_true())),
            Expression::And(left, right) => {
                let left = self.value(left)?;
                if left.is_true() { self.value(right) } else { Ok(left) }
            }
            Expression::Or(left, right) => {
                let left = self.value(left)?;
                if left.is_true() { Ok(left) } else { self.value(right) }
            }
            Expression::Unary(sign, inside) => unary(sign, &self.value(inside)?),
            Expression::Binary(sign, left, right) => binary(sign, &self.value(left)?, &self.value(right)?),
            Expression::Compare(first, rest) => {
                let mut left = self.value(first)?;
                for (sign, right) in rest {
                    let right = self.value(right)?;
                    if !compare(sign, &left, &right)? {
                        return Ok(truth(false));
                    }
                    left = right;
                }
                Ok(truth(true))
            }
            Expression::Call(name, arguments) => call(name, &self.values(arguments)?),
        }
    }

    fn values(&self, all: &[Expression]) -> Result<Vec<Value>, Fault> {
        let mut values = Vec::new();
        let mut held = 0;
        for one in all {
            let value = self.value(one)?;
            let (values_held, depth) = value.extent();
            held += values_held;
            if held > MOST || depth >= DEEPEST {
                return Err(too_large());
            }
            values.push(value);
        }
        Ok(values)
    }
}

fn truth(holds: bool) -> Value {
    Value::Integer(i64::from(holds))
}

fn unsupported(what: impl Into<String>) -> Fault {
    Fault::Unsupported(what.into())
}

fn unary(sign: &str, value: &Value) -> Answer {
    match (sign, value) {
        ("-", Value::Integer(value)) => value.checked_neg().map(Value::Integer).ok_or_else(too_large),
        ("-", Value::Float(value)) => Ok(Value::Float(-value)),
        ("~", Value::Integer(value)) => Ok(Value::Integer(!value)),
        ("+", Value::Integer(_) | Value::Float(_)) => Ok(value.clone()),
        _ => Err(unsupported(format!("`{sign}` before such a value in code"))),
    }
}

fn binary(sign: &str, left: &Value, right: &Value) -> Answer {
    match (left, right) {
        (Value::Text(format), _) if sign == "%" => {
            let text = format::fill(format, right).map_err(unsupported)?;
            if text.len() > LONGEST { Err(too_large()) } else { Ok(Value::Text(text)) }
        }
        (Value::Text(left), Value::Text(right)) if sign == "+" && left.len() + right.len() <= LONGEST => {
            Ok(Value::Text(format!("{left}{right}")))
        }
        (Value::Integer(left), Value::Integer(right)) if sign != "/" => integers(sign, *left, *right),
        _ => {
            let (Some(left), Some(right)) = (left.float(), right.float()) else {
                return Err(unsupported(format!("`{sign}` between such values in code")));
            };
            floats(sign, left, right)
        }
    }
}

fn integers(sign: &str, left: i64, right: i64) -> Answer {
    let shift = u32::try_from(right).ok().filter(|shift| *shift < 63);
    if matches!(sign, "//" | "%") && right == 0 {
        return Err(unsupported("a division by zero in code"));
    }
    let value = match sign {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        // Like Python, integer division rounds down.
        "//" => left
            .checked_div_euclid(right)
            .map(|quotient| if right < 0 && left.rem_euclid(right) != 0 { quotient - 1 } else { quotient }),
        "%" => left
            .checked_rem(right)
            .map(|rest| if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest }),
        "**" => shift.and_then(|power| left.checked_pow(power)),
        "<<" => shift.and_then(|shift| left.checked_mul(1 << shift)),
        ">>" => shift.map(|shift| left >> shift),
        "&" => Some(left & right),
        "|" => Some(left | right),
        "^" => Some(left ^ right),
        _ => return Err(unsupported(format!("`{sign}` in code"))),
    };
    value.map(Value::Integer).ok_or_else(too_large)
}

fn floats(sign: &str, left: f64, right: f64) -> Answer {
    if matches!(sign, "/" | "//" | "%") && right == 0.0 {
        return Err(unsupported("a division by zero in code"));
    }
    Ok(Value::Float(match sign {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" => left / right,
        "//" => (left / right).floor(),
        "%" => left - right * (left / right).floor(),
        _ => return Err(unsupported(format!("`{sign}` between such values in code"))),
    }))
}

fn too_large() -> Fault {
    unsupported("a value too large in code")
}

fn compare(sign: &str, left: &Value, right: &Value) -> Result<bool, Fault> {
    let order = match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => Some(left.cmp(right)),
        (Value::Text(left), Value::Text(right)) => Some(left.cmp(right)),
        _ => match (left.float(), right.float()) {
            (Some(left), Some(right)) => left.partial_cmp(&right),
            _ if sign == "==" || sign == "!=" => {
                Some(if left == right { Ordering::Equal } else { Ordering::Less })
            }
            _ => return Err(unsupported(format!("`{sign}` between such values in code"))),
        },
    };
    let Some(order) = order else { return Ok(sign == "!=") };
    Ok(match sign {
        "<" => order.is_lt(),
        ">" => order.is_gt(),
        "<=" => order.is_le(),
        ">=" => order.is_ge(),
        "!=" => order.is_ne(),
        _ => order.is_eq(),
    })
}

#[expect(clippy::cast_possible_truncation, reason = "what int() of a float does, saturating")]
fn call(name: &str, arguments: &[Value]) -> Answer {
    match (name, arguments) {
        ("print", _) => Ok(Value::None),
        ("abs", [Value::Integer(value)]) => value.checked_abs().map(Value::Integer).ok_or_else(too_large),
        ("abs", [Value::Float(value)]) => Ok(Value::Float(value.abs())),
        ("int", [Value::Integer(value)]) => Ok(Value::Integer(*value)),
        ("int", [Value::Float(value)]) => Ok(Value::Integer(*value as i64)),
        ("len", [Value::Text(text)]) => Ok(Value::Integer(i64::try_from(text.len()).unwrap_or(i64::MAX))),
        ("str", [value]) => Ok(Value::Text(format::show(value))),
        ("min" | "max", [first, rest @ ..]) if !rest.is_empty() => {
            let sign = if name == "min" { "<" } else { ">" };
            let mut best = first;
            for one in rest {
                if compare(sign, one, best)? {
                    best = one;
                }
            }
            Ok(best.clone())
        }
        _ => Err(unsupported(format!("the function `{name}` with such arguments in code"))),
    }
}
