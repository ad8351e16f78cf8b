//! Reads expressions by their grammar.

use firstflight_scenario::suggest::meant;

use super::lexer::{Token, tokens};
use super::{Column, Expression, ExpressionError, Given, Of, Operator};
use crate::function::{FUNCTIONS, Function};
use crate::quantity;

/// Reads an expression.
///
/// # Errors
/// A text that is not an expression: what was found, what is allowed, and where.
pub(crate) fn parse(text: &str) -> Result<Expression, ExpressionError> {
    parse_with(text, None)
}

/// Reads an expression in which `[*]` means `label`. A name without a label is a column of `label`.
///
/// # Errors
/// The errors of [`parse`].
pub(crate) fn parse_with(text: &str, label: Option<&str>) -> Result<Expression, ExpressionError> {
    let tokens = tokens(text)?;
    if let Some((_, from, to)) = tokens.get(LONGEST) {
        let message = format!("the expression has more than {LONGEST} words and marks; so many are allowed");
        return Err(ExpressionError { message, from: *from, to: *to });
    }
    let mut parser = Parser { tokens, at: 0, depth: 0, end: text.len(), label };
    let expression = parser.expression()?;
    match parser.tokens.get(parser.at) {
        None => Ok(expression),
        Some(_) => Err(parser.wanted("an operator or the end")),
    }
}

/// Maximum number of tokens of an expression.
const LONGEST: usize = 1_000;

/// Maximum nesting depth of an expression.
const DEEPEST: usize = 50;

struct Parser<'a> {
    tokens: Vec<(Token, usize, usize)>,
    at: usize,
    /// Nesting depth of the part at index `at`.
    depth: usize,
    end: usize,
    label: Option<&'a str>,
}

impl Parser<'_> {
    fn expression(&mut self) -> Result<Expression, ExpressionError> {
        let marks = [("&", Operator::And), ("|", Operator::Or)];
        self.chain(&marks, Self::comparison)
    }

    fn comparison(&mut self) -> Result<Expression, ExpressionError> {
        let left = self.sum()?;
        let marks = [
            ("<", Operator::Less),
            ("<=", Operator::AtMost),
            (">", Operator::Greater),
            (">=", Operator::AtLeast),
            ("==", Operator::Equal),
            ("!=", Operator::Unequal),
        ];
        let Some(operator) = self.operator(&marks) else { return Ok(left) };
        let right = self.sum()?;
        Ok(Expression::Binary(operator, Box::new(left), Box::new(right)))
    }

    fn sum(&mut self) -> Result<Expression, ExpressionError> {
        let marks = [("+", Operator::Add), ("-", Operator::Subtract)];
        self.chain(&marks, Self::product)
    }

    fn product(&mut self) -> Result<Expression, ExpressionError> {
        let marks = [("*", Operator::Multiply), ("/", Operator::Divide)];
        self.chain(&marks, Self::signed)
    }

    fn chain(
        &mut self,
        marks: &[(&str, Operator)],
        part: fn(&mut Self) -> Result<Expression, ExpressionError>,
    ) -> Result<Expression, ExpressionError> {
        let mut left = part(self)?;
        while let Some(operator) = self.operator(marks) {
            let right = part(self)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    /// Reads a value with the signs before it. Every nested part is read by this function.
    fn signed(&mut self) -> Result<Expression, ExpressionError> {
        if self.depth == DEEPEST {
            return Err(self.wanted(&format!("an expression of at most {DEEPEST} parts within each other")));
        }
        self.depth += 1;
        let part = self.signed_part();
        self.depth -= 1;
        part
    }

    fn signed_part(&mut self) -> Result<Expression, ExpressionError> {
        if self.take("-") {
            let inner = self.signed()?;
            let zero = Box::new(Expression::Number(0.0));
            return Ok(Expression::Binary(Operator::Subtract, zero, Box::new(inner)));
        }
        self.value()
    }

    fn value(&mut self) -> Result<Expression, ExpressionError> {
        const WANTED: &str = "a number, a column such as `su_loss[LABEL]`, a function or `(`";
        let Some((token, from, to)) = self.tokens.get(self.at).cloned() else {
            return Err(self.wanted(WANTED));
        };
        match token {
            Token::Number(text) => {
                self.at += 1;
                let number = quantity::number(&text).ok_or_else(|| ExpressionError {
                    message: format!("`{text}` is no quantity; a number, with a unit such as mbit, ms, kB, p or %, is wanted"),
                    from,
                    to,
                })?;
                Ok(Expression::Number(number))
            }
            Token::Quoted(text) => {
                self.at += 1;
                Ok(Expression::Text(text))
            }
            Token::Mark("(") => {
                self.at += 1;
                let inner = self.expression()?;
                self.close()?;
                Ok(inner)
            }
            Token::Name(name) => {
                self.at += 1;
                self.named(&name, from, to)
            }
            Token::Bracketed(_) | Token::Mark(_) => Err(self.wanted(WANTED)),
        }
    }

    /// Reads a part that begins with a name: an axis, a column, a model or a function.
    fn named(&mut self, name: &str, from: usize, to: usize) -> Result<Expression, ExpressionError> {
        if name == "axis" {
            return Ok(Expression::Axis(None));
        }
        if let Some(key) = name.strip_prefix("axis.") {
            return Ok(Expression::Axis(Some(key.to_owned())));
        }
        if let Some(rest) = name.strip_prefix("model.") {
            return self.model(rest, from, to);
        }
        if let Some((Token::Bracketed(label), ..)) = self.tokens.get(self.at).cloned() {
            self.at += 1;
            return self.column(name, &label, from, to);
        }
        if self.take("(") {
            return self.call(name, from, to);
        }
        if let Some(label) = self.label {
            return self.column(name, label, from, to);
        }
        let message =
            format!("`{name}` has no scheme; the label of one is wanted behind it, as in `{name}[LABEL]`");
        Err(ExpressionError { message, from, to })
    }

    fn column(&self, name: &str, label: &str, from: usize, to: usize) -> Result<Expression, ExpressionError> {
        let (of, name) = if let Some(name) = name.strip_prefix("flow.") {
            (Of::Flow, name)
        } else if let Some(name) = name.strip_prefix("series.") {
            (Of::Series, name)
        } else {
            (Of::Run, name)
        };
        let (label, population) = split(label);
        let (label, population) = match (label, self.label) {
            ("*", None) => {
                let message = "`[*]` stands for each scheme in a plot; a claim needs the label of one scheme";
                return Err(ExpressionError { message: message.to_owned(), from, to });
            }
            // The scheme of a plot already contains its population.
            ("*", Some(scheme)) if population.is_none() => split(scheme),
            ("*", Some(scheme)) => (split(scheme).0, population),
            (label, _) => (label, population),
        };
        let population = population.map(str::to_owned);
        Ok(Expression::Column(Column { of, name: name.to_owned(), label: label.to_owned(), population }))
    }

    fn call(&mut self, name: &str, from: usize, to: usize) -> Result<Expression, ExpressionError> {
        if name == "at"
            && let (Some((Token::Name(key), ..)), Some((Token::Mark("="), ..))) =
                (self.tokens.get(self.at).cloned(), self.tokens.get(self.at + 1))
        {
            self.at += 2;
            let value = self.literal()?;
            if !self.take(",") {
                return Err(self.wanted("`,` and an expression"));
            }
            let inner = Box::new(self.expression()?);
            self.close()?;
            return Ok(Expression::AtKey { key, value, inner });
        }
        let Some(function) = Function::named(name) else {
            let names = || FUNCTIONS.iter().map(|(name, ..)| *name);
            let all = || format!("there are {}", names().collect::<Vec<_>>().join(", "));
            let hint = meant(name, &[], names()).unwrap_or_else(all);
            return Err(ExpressionError {
                message: format!("there is no function `{name}`; {hint}"),
                from,
                to,
            });
        };
        let mut arguments = vec![self.expression()?];
        while self.take(",") {
            arguments.push(self.expression()?);
        }
        self.close()?;
        if arguments.len() != function.arguments() {
            let message = format!("{name}: found {} values; {} is wanted", arguments.len(), function.usage());
            return Err(ExpressionError { message, from, to });
        }
        Ok(Expression::Call(function, arguments))
    }

    /// Reads `NAME.CELL(KEY=VALUE, …)` of a model.
    fn model(&mut self, rest: &str, from: usize, to: usize) -> Result<Expression, ExpressionError> {
        let wrong = |message: String| ExpressionError { message, from, to };
        let Some((model, cell)) = rest.rsplit_once('.') else {
            return Err(wrong(format!(
                "`model.{rest}` names no cell; `model.MODEL.CELL(KEY=VALUE, …)` is wanted"
            )));
        };
        if !self.take("(") {
            return Err(self.wanted("`(`"));
        }
        let mut given = Vec::new();
        while !self.take(")") {
            if !given.is_empty() && !self.take(",") {
                return Err(self.wanted("`,` or `)`"));
            }
            let Some((Token::Name(key), ..)) = self.tokens.get(self.at).cloned() else {
                return Err(self.wanted("a parameter of the model"));
            };
            self.at += 1;
            if !self.take("=") {
                return Err(self.wanted("`=`"));
            }
            let value = self.literal()?;
            let value = match value.as_str() {
                "axis" => Given::Axis(None),
                text => text
                    .strip_prefix("axis.")
                    .map_or_else(|| Given::Text(text.to_owned()), |key| Given::Axis(Some(key.to_owned()))),
            };
            given.push((key, value));
        }
        Ok(Expression::Model { model: model.to_owned(), cell: cell.to_owned(), given })
    }

    /// Reads a literal value, which is not computed.
    fn literal(&mut self) -> Result<String, ExpressionError> {
        let text = match self.tokens.get(self.at) {
            Some((Token::Number(text) | Token::Name(text) | Token::Quoted(text), ..)) => text.clone(),
            _ => return Err(self.wanted("a value")),
        };
        self.at += 1;
        Ok(text)
    }

    fn close(&mut self) -> Result<(), ExpressionError> {
        if self.take(")") { Ok(()) } else { Err(self.wanted("`)`")) }
    }

    fn operator(&mut self, marks: &[(&str, Operator)]) -> Option<Operator> {
        let Some((Token::Mark(found), ..)) = self.tokens.get(self.at) else { return None };
        let operator = marks.iter().find(|(mark, _)| mark == found)?.1;
        self.at += 1;
        Some(operator)
    }

    fn take(&mut self, mark: &str) -> bool {
        let is_it = matches!(self.tokens.get(self.at), Some((Token::Mark(found), ..)) if *found == mark);
        self.at += usize::from(is_it);
        is_it
    }

    fn wanted(&self, what: &str) -> ExpressionError {
        let (found, from, to) = match self.tokens.get(self.at) {
            None => ("the end".to_owned(), self.end, self.end),
            Some((token, from, to)) => {
                let shown = match token {
                    Token::Number(text) | Token::Name(text) => format!("`{text}`"),
                    Token::Bracketed(text) => format!("`[{text}]`"),
                    Token::Quoted(text) => format!("`\"{text}\"`"),
                    Token::Mark(mark) => format!("`{mark}`"),
                };
                (shown, *from, *to)
            }
        };
        ExpressionError { message: format!("found {found}; {what} is wanted"), from, to }
    }
}

/// Splits a label into the scheme's label and the population that may follow it: `sack, mixed`, `sack, with past`.
fn split(label: &str) -> (&str, Option<&str>) {
    let is_population =
        |text: &str| ["only", "mixed", "scripted"].contains(&text) || text.starts_with("with ");
    match label.rsplit_once(',').map(|(label, population)| (label.trim(), population.trim())) {
        Some((label, population)) if is_population(population) => (label, Some(population)),
        _ => (label.trim(), None),
    }
}
