//! System calls.

use firstflight_tcp::Status;

use super::arguments::Arguments;
use super::constants::{constant, named};
use super::outcome::{Answer, Outcome, failed, gave};
use super::{Connection, Kernel, Socket, SocketState};
use crate::problem::Problem;
use crate::syntax::Call;

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

    /// Makes a blocked system call again.
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
            return Ok(match self.connection(&socket).map(Connection::status) {
                Some(Status::Opening) => failed("EALREADY"),
                Some(Status::Aborted) => self.connection_made(&socket),
                _ => failed("EISCONN"),
            });
        }
        socket.state = SocketState::Connected(place);
        let socket = socket.clone();
        self.connections.push(Connection::active(&settings, &socket.options, now));
        Ok(if socket.nonblocking { failed("EINPROGRESS") } else { Outcome::Blocks })
    }

    /// Returns the outcome of a `connect` that has begun: whether the connection is established.
    fn connection_made(&mut self, socket: &Socket) -> Outcome {
        let SocketState::Connected(at) = socket.state else { return failed("ENOTCONN") };
        let connection = &mut self.connections[at];
        match connection.status() {
            Status::Idle | Status::Opening => Outcome::Blocks,
            Status::Open | Status::Closed => gave(0),
            Status::Aborted => failed(connection.error.take().unwrap_or("ECONNABORTED")),
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
        if connection.status() == Status::Opening {
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
                connection.endpoint().linux_socket().write_more(bytes);
            }
            self.collect();
        }
        let connection = &mut self.connections[at];
        let unqueued_bytes = connection.endpoint().linux_socket().unqueued_bytes();
        if unqueued_bytes > 0 && !nonblocking {
            return Ok(Outcome::Blocks);
        }
        connection.writing = None;
        let taken = bytes - connection.endpoint().linux_socket().drop_unqueued();
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
            // Unread data is lost, and a reset notifies the peer (RFC 1122 section 4.2.2.13).
            if connection.readable() > 0
                || socket.options.lingers_not
                || connection.status() == Status::Opening
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

    /// Returns the socket whose descriptor is the first argument.
    pub(super) fn of(&mut self, arguments: &Arguments<'_>) -> Result<&mut Socket, Problem> {
        let number = arguments.number(0)?;
        let unknown = || Problem::mismatch(arguments.line, format!("there is no descriptor {number}"));
        self.sockets.get_mut(&number).ok_or_else(unknown)
    }
}
