//! The call `poll`.

use firstflight_tcp::Status;

use super::arguments::Arguments;
use super::constants::{constant, named};
use super::outcome::Outcome;
use super::{Kernel, SocketState};
use crate::problem::Problem;
use crate::syntax::Expression;

impl Kernel {
    /// Makes the call `poll([{fd, events, revents}, …], n, timeout)`. Checks whether the sockets are in the state that `revents` describes.
    pub(super) fn poll(&mut self, arguments: &Arguments<'_>) -> Result<Outcome, Problem> {
        let wrong = || Problem::unreadable(arguments.line, "not a list of pollfd");
        let Expression::List(list) = arguments.at(0)? else { return Err(wrong()) };
        let mut ready = 0;
        let mut differences = Vec::new();
        for one in list {
            let Expression::Struct(members) = one else { return Err(wrong()) };
            let member = |name: &str| members.iter().find(|(found, _)| found == name).map(|(_, value)| value);
            let number = |name: &str| member(name).map_or(Ok(0), |value| constant(arguments.line, value));
            let descriptor = number("fd")?;
            let always = named("POLLERR").unwrap_or(0) | named("POLLHUP").unwrap_or(0);
            let events = self.events(arguments, descriptor)? & (number("events")? | always);
            ready += i64::from(events != 0);
            if !matches!(member("revents"), None | Some(Expression::Ellipsis)) && number("revents")? != events
            {
                differences.push(format!(
                    "descriptor {descriptor}: {events:#x}, expected {:#x}",
                    number("revents")?
                ));
            }
        }
        let waits = !matches!(arguments.number(2), Ok(0)) && arguments.call.blocks_for.is_some();
        if ready == 0 && waits {
            return Ok(Outcome::Blocks);
        }
        if let Some(first) = differences.first() {
            return Err(Problem::mismatch(arguments.line, format!("`poll` gave {first}")));
        }
        Ok(Outcome::Done { result: ready, errno: None })
    }

    fn events(&self, arguments: &Arguments<'_>, descriptor: i64) -> Result<i64, Problem> {
        let bit = |name: &str| named(name).unwrap_or(0);
        let unknown = || Problem::mismatch(arguments.line, format!("there is no descriptor {descriptor}"));
        let socket = self.sockets.get(&descriptor).ok_or_else(unknown)?;
        let Some(connection) = self.connection(socket) else {
            let acceptable = socket.state == SocketState::Listening && self.acceptable().is_some();
            let fresh = if socket.state == SocketState::Fresh { bit("POLLOUT") | bit("POLLHUP") } else { 0 };
            return Ok(fresh | if acceptable { bit("POLLIN") } else { 0 });
        };
        let mut events = 0;
        let over = connection.is_over();
        let at_end = connection.at_end() || connection.reading_shut || over;
        if connection.readable() > 0 || at_end {
            events |= bit("POLLIN");
        }
        if at_end {
            events |= bit("POLLRDHUP");
        }
        // As in `sk_stream_is_writeable`, at least a third of the buffer must be free.
        let roomy = connection.room() >= connection.send_buffer / 3 && connection.wants_more();
        if connection.status() != Status::Opening && (roomy || over) {
            events |= bit("POLLOUT");
        }
        if over || at_end && connection.shut {
            events |= bit("POLLHUP");
        }
        if connection.error.is_some() {
            events |= bit("POLLERR");
        }
        Ok(events)
    }
}
