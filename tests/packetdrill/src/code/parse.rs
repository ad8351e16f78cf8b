//! Reads statements and expressions from tokens, by the precedence of Python's operators.

use super::words::Word;

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Statement {
    Assert {
        test: Expression,
        message: Option<Expression>,
    },
    /// `name = value`, or `name += value` and the like with the operator.
    Set {
        name: String,
        operator: Option<&'static str>,
        value: Expression,
    },
    /// An expression whose value is not used, such as `print(…)`.
    Evaluate(Expression),
    Pass,
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Expression {
    Integer(i64),
    Float(f64),
    Text(String),
    Name(String),
    Tuple(Vec<Expression>),
    Not(Box<Expression>),
    /// A unary operator, `-`, `+` or `~`, and its operand.
    Unary(&'static str, Box<Expression>),
    Binary(&'static str, Box<Expression>, Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    /// A chain of comparisons, such as `a < b == c`.
    Compare(Box<Expression>, Vec<(&'static str, Expression)>),
    Call(String, Vec<Expression>),
}

/// Maximum nesting of expressions.
const DEEPEST: usize = 64;
/// Maximum number of binary operators in a statement. Each chained operator makes the tree deeper, and evaluation and drop of the tree are
/// recursive.
const LONGEST: usize = 512;
/// Binary operators by precedence, the lowest first.
const LEVELS: [&[&str]; 6] = [&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "/", "//", "%"]];

/// Reads one statement.
pub(super) fn statement(words: &[Word]) -> Result<Statement, String> {
    let mut parser = Parser { words, next: 0, depth: 0, links: 0 };
    let parsed = parser.statement()?;
    match parser.peek() {
        None => Ok(parsed),
        Some(word) => Err(format!("{} in code", describe(word))),
    }
}

struct Parser<'a> {
    words: &'a [Word],
    next: usize,
    depth: usize,
    /// The number of binary operators in the statement so far.
    links: usize,
}

impl Parser<'_> {
    fn statement(&mut self) -> Result<Statement, String> {
        let set = match self.words {
            [Word::Name(name), Word::Sign(sign), ..]
                if sign.ends_with('=') && !matches!(*sign, "==" | "<=" | ">=" | "!=") =>
            {
                Some((name.clone(), *sign))
            }
            _ => None,
        };
        if let Some((name, sign)) = set {
            self.next = 2;
            let operator = Some(sign.trim_end_matches('=')).filter(|operator| !operator.is_empty());
            return Ok(Statement::Set { name, operator, value: self.tuple()? });
        }
        if self.accept_name("assert") {
            let test = self.expression()?;
            let message = if self.accept(",") { Some(self.expression()?) } else { None };
            return Ok(Statement::Assert { test, message });
        }
        if self.accept_name("pass") {
            return Ok(Statement::Pass);
        }
        for word in ["if", "for", "while", "def", "import", "from", "del", "class", "try", "return"] {
            if self.accept_name(word) {
                return Err(format!("the statement `{word}` in code"));
            }
        }
        if self.words.len() > 1 && self.accept_name("print") {
            return Ok(Statement::Evaluate(self.tuple()?));
        }
        Ok(Statement::Evaluate(self.tuple()?))
    }

    fn tuple(&mut self) -> Result<Expression, String> {
        let first = self.expression()?;
        if self.peek() != Some(&Word::Sign(",")) {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.accept(",") {
            if matches!(self.peek(), None | Some(Word::Sign(")"))) {
                break;
            }
            all.push(self.expression()?);
        }
        Ok(Expression::Tuple(all))
    }

    fn expression(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("code nested too deep".to_owned());
        }
        let mut left = self.conjunction()?;
        while self.accept_name("or") {
            self.link()?;
            left = Expression::Or(left.into(), self.conjunction()?.into());
        }
        self.depth -= 1;
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Expression, String> {
        let mut left = self.negation()?;
        while self.accept_name("and") {
            self.link()?;
            left = Expression::And(left.into(), self.negation()?.into());
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expression, String> {
        let mut times = 0;
        while self.accept_name("not") {
            times += 1;
        }
        let mut inside = self.comparison()?;
        for _ in 0..times.min(2 + times % 2) {
            inside = Expression::Not(inside.into());
        }
        Ok(inside)
    }

    fn comparison(&mut self) -> Result<Expression, String> {
        let first = self.level(0)?;
        let mut rest = Vec::new();
        while let Some(sign) = ["<", ">", "<=", ">=", "==", "!="].into_iter().find(|sign| self.accept(sign)) {
            rest.push((sign, self.level(0)?));
        }
        Ok(if rest.is_empty() { first } else { Expression::Compare(first.into(), rest) })
    }

    fn level(&mut self, level: usize) -> Result<Expression, String> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        while let Some(sign) = signs.iter().find(|sign| self.accept(sign)) {
            self.link()?;
            left = Expression::Binary(sign, left.into(), self.level(level + 1)?.into());
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("code nested too deep".to_owned());
        }
        let sign = ["-", "+", "~"].into_iter().find(|sign| self.accept(sign));
        let result = match sign {
            Some(sign) => Expression::Unary(sign, self.unary()?.into()),
            None => self.power()?,
        };
        self.depth -= 1;
        Ok(result)
    }

    fn power(&mut self) -> Result<Expression, String> {
        let base = self.atom()?;
        if self.accept("**") {
            return Ok(Expression::Binary("**", base.into(), self.unary()?.into()));
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<Expression, String> {
        let Some(word) = self.peek().cloned() else {
            return Err("an expression that ends too soon".to_owned());
        };
        self.next += 1;
        Ok(match word {
            Word::Integer(value) => Expression::Integer(value),
            Word::Float(value) => Expression::Float(value),
            Word::Text(mut text) => {
                while let Some(Word::Text(more)) = self.peek() {
                    text.push_str(more);
                    self.next += 1;
                }
                Expression::Text(text)
            }
            Word::Name(name) if self.accept("(") => {
                let mut arguments = Vec::new();
                while !self.accept(")") {
                    arguments.push(self.expression()?);
                    if !self.accept(",") {
                        self.close()?;
                        break;
                    }
                }
                Expression::Call(name, arguments)
            }
            Word::Name(name) => Expression::Name(name),
            Word::Sign("(") => {
                if self.accept(")") {
                    return Ok(Expression::Tuple(Vec::new()));
                }
                let inside = self.tuple()?;
                self.close()?;
                inside
            }
            Word::Sign(_) => return Err(format!("{} in code", describe(&word))),
        })
    }

    /// Counts a binary operator.
    fn link(&mut self) -> Result<(), String> {
        self.links += 1;
        if self.links > LONGEST {
            return Err(format!("a statement of more than {LONGEST} operators in code"));
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        if self.accept(")") { Ok(()) } else { Err("a bracket that is not closed in code".to_owned()) }
    }

    fn peek(&self) -> Option<&Word> {
        self.words.get(self.next)
    }

    fn accept(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Word::Sign(found)) if *found == sign);
        self.next += usize::from(found);
        found
    }

    fn accept_name(&mut self, name: &str) -> bool {
        let found = matches!(self.peek(), Some(Word::Name(found)) if found == name);
        self.next += usize::from(found);
        found
    }
}

fn describe(word: &Word) -> String {
    match word {
        Word::Integer(value) => format!("`{value}`"),
        Word::Float(value) => format!("`{value}`"),
        Word::Text(_) => "a string".to_owned(),
        Word::Name(name) => format!("`{name}`"),
        Word::Sign(sign) => format!("`{sign}`"),
    }
}
