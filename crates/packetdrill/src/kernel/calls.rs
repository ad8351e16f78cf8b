//! System calls.

use firstflight_tcp::Standing;

use super::constants::{constant, named};
use super::{Connection, Kernel, Socket, SocketState};
use crate::problem::Problem;
use crate::syntax::{Call, Expression};

/// The outcome of a system call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// The call returned.
    Done { result: i64, errno: Option<&'static str> },
    /// The call blocks.
    Blocks,
}

/// A call that returned `result`.
pub(super) const fn gave(result: i64) -> Outcome {
    Outcome::Done { result, errno: None }
}

/// A call that failed.
pub(super) const fn failed(errno: &'static str) -> Outcome {
    Outcome::Done { result: -1, errno: Some(errno) }
}

pub(super) type Answer = Result<Outcome, Problem>;

impl Kernel {
    /// Makes a system call.
    pub(crate) fn call(&mut self, line: usize, call: &Call) -> Answer {
        let arguments = Arguments { line, call };
        let answer = match call.name.as_str() {
            "socket" => self.socket(&arguments),
            "bind" => self.of(&arguments).map(|_| gave(0)),
            "listen" => self.listen(&arguments),
            "accept" | "accept4" => self.accept(&arguments),
            "connect" => self.connect(&arguments),
            "write" => self.write(&arguments, arguments.number(2)?, 0),
            "send" | "sendto" => self.write(&arguments, arguments.number(2)?, arguments.number(3)?),
            "writev" => self.write(&arguments, arguments.vector(1)?, 0),
            "sendmsg" => {
                let (bytes, flags) = (arguments.message_bytes(1)?, arguments.number(2)?);
                self.write(&arguments, bytes, flags)
            }
            "read" => self.read(&arguments, arguments.number(2)?, 0),
            "recv" | "recvfrom" => self.read(&arguments, arguments.number(2)?, arguments.number(3)?),
            "readv" => self.read(&arguments, arguments.vector(1)?, 0),
            "recvmsg" => {
                let (bytes, flags) = (arguments.message_bytes(1)?, arguments.number(2)?);
                self.read(&arguments, bytes, flags)
            }
            "close" => self.close(&arguments),
            "shutdown" => self.shutdown(&arguments),
            "fcntl" => self.fcntl(&arguments),
            "setsockopt" => self.set_option(&arguments),
            "getsockopt" => self.get_option(&arguments),
            "poll" => self.poll(&arguments),
            "ioctl" => self.ioctl(&arguments),
            other => Err(Problem::unsupported(line, format!("the system call `{other}`"))),
        };
        self.collect();
        answer
    }

    /// Retries a call that blocks.
    pub(crate) fn retry(&mut self, line: usize, call: &Call) -> Answer {
        if call.name != "connect" {
            return self.call(line, call);
        }
        let arguments = Arguments { line, call };
        let socket = self.of(&arguments)?.clone();
        Ok(self.connection_made(&socket))
    }

    fn socket(&mut self, arguments: &Arguments<'_>) -> Answer {
        let kind = arguments.number(1)?;
        let nonblocking = kind & named("SOCK_NONBLOCK").unwrap_or(0) != 0;
        let stream = kind & 0xf == 1;
        let protocol = arguments.number(2)?;
        if !stream || !matches!(protocol, 0 | 6) {
            return Err(arguments.unsupported("a socket that is not TCP"));
        }
        self.new_descriptor(arguments, Socket { nonblocking, ..Socket::default() })
    }

    /// Registers a socket under the descriptor that the script names.
    fn new_descriptor(&mut self, arguments: &Arguments<'_>, socket: Socket) -> Answer {
        let number = constant(arguments.line, &arguments.call.result)?;
        if number < 0 {
            return Ok(gave(self.sockets.keys().next_back().map_or(3, |last| last + 1)));
        }
        if self.sockets.contains_key(&number) {
            return Err(Problem::mismatch(arguments.line, format!("the descriptor {number} is in use")));
        }
        self.sockets.insert(number, socket);
        Ok(gave(number))
    }

    fn listen(&mut self, arguments: &Arguments<'_>) -> Answer {
        let socket = self.of(arguments)?;
        socket.state = match socket.state {
            SocketState::Connected(_) => return Ok(failed("EINVAL")),
            SocketState::Fresh | SocketState::Listening => SocketState::Listening,
        };
        Ok(gave(0))
    }

    fn accept(&mut self, arguments: &Arguments<'_>) -> Answer {
        let listener = self.of(arguments)?.clone();
        if listener.state != SocketState::Listening {
            return Ok(failed("EINVAL"));
        }
        let flags = if arguments.call.name == "accept4" { arguments.number(3)? } else { 0 };
        let Some(at) = self.acceptable() else {
            return Ok(if listener.nonblocking { failed("EAGAIN") } else { Outcome::Blocks });
        };
        self.connections[at].accepted = true;
        let nonblocking = flags & named("SOCK_NONBLOCK").unwrap_or(0) != 0;
        let options = listener.options.clone();
        self.new_descriptor(arguments, Socket { state: SocketState::Connected(at), nonblocking, options })
    }

    fn connect(&mut self, arguments: &Arguments<'_>) -> Answer {
        let (settings, now, place) = (self.settings.clone(), self.now, self.connections.len());
        let socket = self.of(arguments)?;
        if let SocketState::Connected(_) = socket.state {
            let socket = socket.clone();
            return Ok(match self.connection(&socket).map(Connection::standing) {
                Some(Standing::Opening) => failed("EALREADY"),
                Some(Standing::Aborted) => self.connection_made(&socket),
                _ => failed("EISCONN"),
            });
        }
        socket.state = SocketState::Connected(place);
        let socket = socket.clone();
        self.connections.push(Connection::active(&settings, &socket.options, now));
        Ok(if socket.nonblocking { failed("EINPROGRESS") } else { Outcome::Blocks })
    }

    /// Whether the connection that `connect` began is established.
    fn connection_made(&mut self, socket: &Socket) -> Outcome {
        let SocketState::Connected(at) = socket.state else { return failed("ENOTCONN") };
        let connection = &mut self.connections[at];
        match connection.standing() {
            Standing::Idle | Standing::Opening => Outcome::Blocks,
            Standing::Open | Standing::Closed => gave(0),
            Standing::Aborted => failed(connection.error.take().unwrap_or("ECONNABORTED")),
        }
    }

    fn write(&mut self, arguments: &Arguments<'_>, bytes: i64, flags: i64) -> Answer {
        let Ok(bytes) = u64::try_from(bytes) else { return Ok(failed("EINVAL")) };
        let more = named("MSG_MORE").unwrap_or(0);
        let known = named("MSG_DONTWAIT").unwrap_or(0) | named("MSG_NOSIGNAL").unwrap_or(0) | more;
        if flags & !known != 0 {
            return Err(arguments.unsupported(&format!("the send flags {flags:#x}")));
        }
        let socket = self.of(arguments)?.clone();
        let SocketState::Connected(at) = socket.state else { return Ok(failed("EPIPE")) };
        let nonblocking = socket.nonblocking || flags & named("MSG_DONTWAIT").unwrap_or(0) != 0;
        let connection = &mut self.connections[at];
        if let Some(error) = connection.error.take() {
            return Ok(failed(error));
        }
        if connection.shut || connection.is_over() {
            return Ok(failed("EPIPE"));
        }
        if connection.standing() == Standing::Opening {
            return Ok(if nonblocking { failed("EAGAIN") } else { Outcome::Blocks });
        }
        if bytes > 0 && arguments.has_null_buffer(1) {
            return Ok(failed("EFAULT"));
        }
        if connection.writing.is_none() {
            connection.writing = Some(bytes);
            if flags & more == 0 {
                connection.endpoint().write(bytes);
            } else {
                connection.endpoint().write_more(bytes);
            }
            self.collect();
        }
        let connection = &mut self.connections[at];
        let untaken = connection.endpoint().untaken();
        if untaken > 0 && !nonblocking {
            return Ok(Outcome::Blocks);
        }
        connection.writing = None;
        let taken = bytes - connection.endpoint().drop_untaken();
        self.collect();
        if taken == 0 && bytes > 0 {
            return Ok(failed("EAGAIN"));
        }
        Ok(gave(i64::try_from(taken).unwrap_or(i64::MAX)))
    }

    fn read(&mut self, arguments: &Arguments<'_>, bytes: i64, flags: i64) -> Answer {
        let Ok(bytes) = u64::try_from(bytes) else { return Ok(failed("EINVAL")) };
        let dont_wait = named("MSG_DONTWAIT").unwrap_or(0);
        if flags & !dont_wait != 0 {
            return Err(arguments.unsupported(&format!("the receive flags {flags:#x}")));
        }
        let socket = self.of(arguments)?.clone();
        let SocketState::Connected(at) = socket.state else { return Ok(failed("ENOTCONN")) };
        let nonblocking = socket.nonblocking || flags & dont_wait != 0;
        let connection = &mut self.connections[at];
        if connection.readable() > 0 {
            if bytes > 0 && arguments.has_null_buffer(1) {
                return Ok(failed("EFAULT"));
            }
            let taken = connection.endpoint().read(bytes);
            return Ok(gave(i64::try_from(taken).unwrap_or(i64::MAX)));
        }
        if let Some(error) = connection.error.take() {
            return Ok(failed(error));
        }
        if connection.at_end() || connection.reading_shut || connection.is_over() {
            return Ok(gave(0));
        }
        Ok(if nonblocking { failed("EAGAIN") } else { Outcome::Blocks })
    }

    fn close(&mut self, arguments: &Arguments<'_>) -> Answer {
        let socket = self.of(arguments)?.clone();
        self.sockets.remove(&arguments.number(0)?);
        if let SocketState::Connected(at) = socket.state {
            let connection = &mut self.connections[at];
            connection.orphaned = true;
            // RFC 1122 section 4.2.2.13: unread data is lost, and a reset tells the peer.
            if connection.readable() > 0
                || socket.options.lingers_not
                || connection.standing() == Standing::Opening
            {
                connection.reset();
            } else {
                connection.shut = true;
                connection.endpoint().shut();
            }
        }
        Ok(gave(0))
    }

    fn shutdown(&mut self, arguments: &Arguments<'_>) -> Answer {
        let how = arguments.number(1)?;
        let socket = self.of(arguments)?.clone();
        let SocketState::Connected(at) = socket.state else { return Ok(failed("ENOTCONN")) };
        let connection = &mut self.connections[at];
        if connection.is_over() {
            return Ok(failed("ENOTCONN"));
        }
        connection.reading_shut |= matches!(how, 0 | 2);
        if matches!(how, 1 | 2) {
            connection.shut = true;
            connection.endpoint().shut();
        }
        Ok(gave(0))
    }

    fn fcntl(&mut self, arguments: &Arguments<'_>) -> Answer {
        let command = arguments.number(1)?;
        let nonblock = named("O_NONBLOCK").unwrap_or(0);
        let read_write = named("O_RDWR").unwrap_or(0);
        match command {
            3 => {
                let socket = self.of(arguments)?;
                Ok(gave(read_write | if socket.nonblocking { nonblock } else { 0 }))
            }
            4 => {
                let flags = arguments.number(2)?;
                if flags & !(nonblock | read_write) != 0 {
                    return Err(arguments.unsupported("a file flag other than O_RDWR and O_NONBLOCK"));
                }
                self.of(arguments)?.nonblocking = flags & nonblock != 0;
                Ok(gave(0))
            }
            _ => Err(arguments.unsupported("an fcntl other than F_GETFL and F_SETFL")),
        }
    }

    /// The socket of the first argument.
    pub(super) fn of(&mut self, arguments: &Arguments<'_>) -> Result<&mut Socket, Problem> {
        let number = arguments.number(0)?;
        let unknown = || Problem::mismatch(arguments.line, format!("there is no descriptor {number}"));
        self.sockets.get_mut(&number).ok_or_else(unknown)
    }
}

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

    /// A number. A bracketed number is accepted, as for `setsockopt`.
    pub(super) fn number(&self, index: usize) -> Result<i64, Problem> {
        constant(self.line, self.at(index)?)
    }

    pub(super) fn word(&self, index: usize) -> Result<&str, Problem> {
        match self.at(index)? {
            Expression::Word(word) => Ok(word),
            _ => Err(self.unsupported("a socket option without a name")),
        }
    }

    /// Whether a socket option may exceed the sysctls.
    pub(super) fn is_forced(&self) -> bool {
        self.word(2).is_ok_and(|name| name.ends_with("FORCE"))
    }

    /// Whether the argument is NULL, or a vector or a message whose first buffer with any bytes is.
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

    /// The total bytes of the vector `[{..., n}, …]`.
    fn vector(&self, index: usize) -> Result<i64, Problem> {
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

    /// The bytes of a message's buffers; control data is not supported.
    fn message_bytes(&self, index: usize) -> Result<i64, Problem> {
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
