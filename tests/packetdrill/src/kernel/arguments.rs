//! The arguments of a system call, read as the values that it takes.

use super::constants::constant;
use crate::problem::Problem;
use crate::syntax::{Call, Expression};

/// The arguments of a call.
pub(super) struct Arguments<'a> {
    pub(super) line: usize,
    pub(super) call: &'a Call,
}

impl Arguments<'_> {
    pub(super) fn at(&self, index: usize) -> Result<&Expression, Problem> {
        let missing =
            || Problem::unreadable(self.line, format!("`{}` has too few arguments", self.call.name));
        self.call.arguments.get(index).ok_or_else(missing)
    }

    /// Reads an argument as a number. The number may be in brackets, as for `setsockopt`.
    pub(super) fn number(&self, index: usize) -> Result<i64, Problem> {
        constant(self.line, self.at(index)?)
    }

    pub(super) fn word(&self, index: usize) -> Result<&str, Problem> {
        match self.at(index)? {
            Expression::Word(word) => Ok(word),
            _ => Err(self.unsupported("a socket option without a name")),
        }
    }

    /// Checks whether the call sets a socket option that may exceed the limits of the sysctls (`SO_SNDBUFFORCE` and the like).
    pub(super) fn is_forced(&self) -> bool {
        self.word(2).is_ok_and(|name| name.ends_with("FORCE"))
    }

    /// Checks whether the argument is NULL, or a vector or a message whose first non-empty buffer is NULL.
    pub(super) fn has_null_buffer(&self, index: usize) -> bool {
        let is_null =
            |expression: &Expression| matches!(expression, Expression::Word(word) if word == "NULL");
        let vector = |list: &Expression| {
            let Expression::List(list) = list else { return false };
            let holds = |one: &&Expression| match one {
                Expression::Struct(members) => {
                    members.get(1).is_none_or(|(_, size)| *size != Expression::Integer(0))
                }
                _ => false,
            };
            let first = list.iter().find(holds);
            matches!(first, Some(Expression::Struct(members)) if members.first().is_some_and(|(_, base)| is_null(base)))
        };
        match self.call.arguments.get(index) {
            Some(Expression::Struct(members)) => {
                members.iter().any(|(name, value)| name == "msg_iov" && vector(value))
            }
            Some(list @ Expression::List(_)) => vector(list),
            Some(other) => is_null(other),
            None => false,
        }
    }

    /// Returns the total bytes of the vector `[{..., n}, …]`.
    pub(super) fn vector(&self, index: usize) -> Result<i64, Problem> {
        self.sum(self.at(index)?)
    }

    fn sum(&self, vector: &Expression) -> Result<i64, Problem> {
        let wrong = || Problem::unreadable(self.line, "not a list of buffers");
        let Expression::List(list) = vector else { return Err(wrong()) };
        list.iter().try_fold(0_i64, |sum, one| match one {
            Expression::Struct(members) if members.len() == 2 => {
                let bytes = constant(self.line, &members[1].1)?;
                sum.checked_add(bytes).ok_or_else(wrong)
            }
            _ => Err(wrong()),
        })
    }

    /// Returns the total bytes of a message's buffers. Control data is not supported.
    pub(super) fn message_bytes(&self, index: usize) -> Result<i64, Problem> {
        let Expression::Struct(members) = self.at(index)? else {
            return Err(Problem::unreadable(self.line, "not a message"));
        };
        let member = |name: &str| members.iter().find(|(found, _)| found == name).map(|(_, value)| value);
        if member("msg_control").is_some() {
            return Err(self.unsupported("control data of a message"));
        }
        self.sum(member("msg_iov").unwrap_or(&Expression::Ellipsis))
    }

    pub(super) fn lingers_not(&self, index: usize) -> Result<bool, Problem> {
        let Expression::Struct(members) = self.at(index)? else {
            return Err(Problem::unreadable(self.line, "not a linger structure"));
        };
        let number = |name: &str| {
            let member = members.iter().find(|(found, _)| found == name);
            member.map_or(Ok(0), |(_, value)| constant(self.line, value))
        };
        match (number("onoff")?, number("linger")?) {
            (0, _) => Ok(false),
            (_, 0) => Ok(true),
            _ => Err(self.unsupported("lingering for a time")),
        }
    }

    pub(super) fn congestion(&self, index: usize) -> Result<&'static str, Problem> {
        let name = match self.at(index)? {
            Expression::Text(name) | Expression::Word(name) => name.as_str(),
            Expression::List(list) => match list.first() {
                Some(Expression::Text(name) | Expression::Word(name)) => name.as_str(),
                _ => "",
            },
            _ => "",
        };
        match name {
            "cubic" => Ok("cubic"),
            "reno" => Ok("reno"),
            other => Err(self.unsupported(&format!("the congestion control `{other}`"))),
        }
    }

    pub(super) fn unsupported(&self, what: &str) -> Problem {
        Problem::unsupported(self.line, what)
    }
}
