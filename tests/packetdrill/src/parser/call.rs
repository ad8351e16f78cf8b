//! Reads system calls and their arguments.

use super::{DEEPEST, Parser};
use crate::lexer::Kind;
use crate::problem::Problem;
use crate::syntax::{Call, Errno, Expression, When};

impl Parser {
    pub(super) fn call(&mut self, when: When) -> Result<Call, Problem> {
        let mut blocks_for = None;
        if self.peek() == Some(&Kind::Ellipsis) {
            self.next += 1;
            let line = self.line();
            let end = self.time()?;
            let begin = match when {
                When::At(at) | When::After(at) => at,
                _ => 0,
            };
            if end < begin {
                return Err(Problem::unreadable(line, "the call returns before it begins"));
            }
            blocks_for = Some(end - begin);
        }
        let Some(Kind::Word(name)) = self.peek().cloned() else { return Err(self.expected("a system call")) };
        self.next += 1;
        self.expect('(')?;
        let arguments = self.list(')')?;
        self.expect('=')?;
        let result = self.expression()?;
        let mut errno = None;
        match self.peek() {
            Some(Kind::Word(word)) => errno = Some(Errno::Named(word.clone())),
            Some(Kind::Integer(number)) => errno = Some(Errno::Number(*number)),
            _ => {}
        }
        self.next += usize::from(errno.is_some());
        self.note()?;
        Ok(Call { name, blocks_for, arguments, result, errno })
    }

    /// Skips a remark, such as `(Resource temporarily unavailable)`.
    fn note(&mut self) -> Result<(), Problem> {
        if self.accept('(') {
            while !self.accept(')') {
                if self.peek().is_none() {
                    return Err(self.expected("`)`"));
                }
                self.next += 1;
            }
        }
        Ok(())
    }

    fn list(&mut self, close: char) -> Result<Vec<Expression>, Problem> {
        let mut list = Vec::new();
        if self.accept(close) {
            return Ok(list);
        }
        loop {
            list.push(self.expression()?);
            if !self.accept(',') {
                self.expect(close)?;
                return Ok(list);
            }
        }
    }

    fn expression(&mut self) -> Result<Expression, Problem> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Problem::unreadable(self.line(), "arguments nested too deep"));
        }
        let mut first = self.operand()?;
        if self.peek() == Some(&Kind::Sign('|')) {
            let mut all = vec![first];
            while self.accept('|') {
                all.push(self.operand()?);
            }
            first = Expression::Or(all);
        }
        self.depth -= 1;
        Ok(first)
    }

    fn operand(&mut self) -> Result<Expression, Problem> {
        let Some(kind) = self.peek().cloned() else { return Err(self.expected("an argument")) };
        let expected = self.expected("an argument");
        self.next += 1;
        Ok(match kind {
            Kind::Ellipsis => Expression::Ellipsis,
            Kind::Integer(value) | Kind::Hexadecimal(value) => Expression::Integer(value),
            Kind::Text(mut text) => {
                while let Some(Kind::Text(more)) = self.peek() {
                    text.push_str(more);
                    self.next += 1;
                }
                if self.peek() == Some(&Kind::Ellipsis) {
                    self.next += 1;
                }
                Expression::Text(text)
            }
            Kind::Word(word) if self.accept('(') => Expression::Apply(word, self.list(')')?),
            Kind::Word(word) => Expression::Word(word),
            Kind::Sign('[') => Expression::List(self.list(']')?),
            Kind::Sign('{') => Expression::Struct(self.members()?),
            _ => return Err(expected),
        })
    }

    /// Reads the members of a struct: `{name=value, name(…)=value, value}`.
    fn members(&mut self) -> Result<Vec<(String, Expression)>, Problem> {
        let mut members = Vec::new();
        if self.accept('}') {
            return Ok(members);
        }
        loop {
            let value = self.expression()?;
            let member = if self.accept('=') {
                let (Expression::Word(name) | Expression::Apply(name, _)) = value else {
                    return Err(self.expected("a member's name before `=`"));
                };
                (name, self.expression()?)
            } else {
                (String::new(), value)
            };
            members.push(member);
            if !self.accept(',') {
                self.expect('}')?;
                return Ok(members);
            }
        }
    }
}
