//! The calls `setsockopt`, `getsockopt` and `ioctl`.

use super::arguments::Arguments;
use super::constants::named;
use super::outcome::{Answer, failed, gave};
use super::socket_options::give_up_after;
use super::{Kernel, SocketState};
use crate::problem::Problem;
use crate::syntax::Expression;

impl Kernel {
    pub(super) fn set_option(&mut self, arguments: &Arguments<'_>) -> Answer {
        let (level, name) = (arguments.word(1)?, arguments.word(2)?);
        if arguments.has_null_buffer(3) {
            self.of(arguments)?;
            return Ok(failed("EFAULT"));
        }
        let value = || arguments.number(3);
        let unsigned = || {
            value().and_then(|value| {
                u64::try_from(value).map_err(|_| arguments.unsupported(&format!("such a {name}")))
            })
        };
        // Linux doubles the requested size for its own bookkeeping. It enforces a minimum and, unless the option is forced, a maximum.
        let most = |name| if arguments.is_forced() { u64::MAX } else { self.settings.number(name) };
        let (most_sent, most_received) = (most("core.wmem_max"), most("core.rmem_max"));
        let size = |value: i64, most: u64| {
            u64::try_from(value).unwrap_or(0).min(most).saturating_mul(2).min(u64::from(u32::MAX))
        };
        let socket = self.of(arguments)?;
        let options = &mut socket.options;
        match (level, name) {
            ("SOL_SOCKET", "SO_SNDBUF" | "SO_SNDBUFFORCE") => {
                options.send_buffer = Some(size(value()?, most_sent).max(4_608));
            }
            ("SOL_SOCKET", "SO_RCVBUF" | "SO_RCVBUFFORCE") => {
                options.receive_buffer = Some(size(value()?, most_received).max(2_304));
            }
            // These options have no effect here: the first keepalive is sent only after two hours, and there is one address and one route.
            ("SOL_SOCKET", "SO_REUSEADDR" | "SO_REUSEPORT" | "SO_KEEPALIVE") => {}
            ("SOL_IP" | "IPPROTO_IP", "IP_MTU_DISCOVER" | "IP_TOS" | "IP_TTL") => {
                if name == "IP_TOS" && value()? & 3 != 0 {
                    return Err(arguments.unsupported("an IP_TOS that sets the ECN field"));
                }
            }
            ("SOL_SOCKET", "SO_LINGER") => options.lingers_not = arguments.lingers_not(3)?,
            ("SOL_TCP" | "IPPROTO_TCP", "TCP_NODELAY") => options.no_delay = value()? != 0,
            ("SOL_TCP" | "IPPROTO_TCP", "TCP_CORK") => options.cork = value()? != 0,
            ("SOL_TCP" | "IPPROTO_TCP", "TCP_QUICKACK") => options.delays_acks = value()? == 0,
            ("SOL_TCP" | "IPPROTO_TCP", "TCP_NOTSENT_LOWAT") => options.unsent_limit = Some(unsigned()?),
            ("SOL_TCP" | "IPPROTO_TCP", "TCP_USER_TIMEOUT") => options.user_timeout = unsigned()?,
            ("SOL_TCP" | "IPPROTO_TCP", "TCP_SYNCNT") => {
                let count = u32::try_from(value()?).ok().filter(|count| (1..=127).contains(count));
                options.syn_retries = Some(count.ok_or_else(|| arguments.unsupported("such a TCP_SYNCNT"))?);
            }
            ("SOL_TCP" | "IPPROTO_TCP", "TCP_MAXSEG") => {
                options.max_segment =
                    Some(u16::try_from(value()?).map_err(|_| arguments.unsupported("such a TCP_MAXSEG"))?);
            }
            ("SOL_TCP" | "IPPROTO_TCP", "TCP_CONGESTION") => {
                options.congestion = Some(arguments.congestion(3)?);
            }
            _ => return Err(arguments.unsupported(&format!("the socket option {level} {name}"))),
        }
        let (state, options) = (socket.state, socket.options.clone());
        if let SocketState::Connected(at) = state {
            let limit = options.unsent_limit.unwrap_or_else(|| self.settings.number("tcp_notsent_lowat"));
            let connection = &mut self.connections[at];
            match name {
                "SO_SNDBUF" | "SO_SNDBUFFORCE" => {
                    connection.set_send_buffer(options.send_buffer.unwrap_or(0));
                }
                "TCP_NODELAY" => {
                    connection.endpoint().linux_socket().set_nagle(!options.no_delay);
                    if options.no_delay {
                        connection.endpoint().linux_socket().push();
                    }
                }
                "TCP_CORK" => connection.endpoint().linux_socket().set_cork(options.cork),
                "TCP_QUICKACK" => connection.endpoint().linux_socket().set_quick_ack(!options.delays_acks),
                "TCP_NOTSENT_LOWAT" => connection.set_unsent_limit(limit),
                "TCP_USER_TIMEOUT" => {
                    let timeout = give_up_after(self.settings.number("tcp_retries2"), options.user_timeout);
                    connection.endpoint().set_user_timeout(timeout, options.user_timeout > 0);
                }
                "SO_RCVBUF" | "SO_RCVBUFFORCE" | "TCP_MAXSEG" | "TCP_CONGESTION" | "TCP_SYNCNT" => {
                    return Err(arguments.unsupported(&format!("{name} on a connection")));
                }
                _ => {}
            }
        }
        Ok(gave(0))
    }

    pub(super) fn get_option(&mut self, arguments: &Arguments<'_>) -> Answer {
        let (level, name) = (arguments.word(1)?, arguments.word(2)?);
        let socket = self.of(arguments)?.clone();
        let options = &socket.options;
        let whole = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let value = match (level, name) {
            ("SOL_SOCKET", "SO_ERROR") => match socket.state {
                SocketState::Connected(at) => self.connections[at].error.take().and_then(named).unwrap_or(0),
                SocketState::Fresh | SocketState::Listening => 0,
            },
            ("SOL_SOCKET", "SO_SNDBUF") => {
                let own = self.connection(&socket).map(|connection| connection.send_buffer);
                whole(own.or(options.send_buffer).unwrap_or_else(|| self.settings.part("tcp_wmem", 1)))
            }
            ("SOL_TCP" | "IPPROTO_TCP", "TCP_NODELAY") => i64::from(options.no_delay),
            ("SOL_TCP" | "IPPROTO_TCP", "TCP_CORK") => i64::from(options.cork),
            ("SOL_TCP" | "IPPROTO_TCP", "TCP_NOTSENT_LOWAT") => {
                // For this option, zero means the sysctl's value.
                whole(options.unsent_limit.unwrap_or(0))
            }
            ("SOL_TCP" | "IPPROTO_TCP", "TCP_USER_TIMEOUT") => whole(options.user_timeout),
            ("SOL_TCP" | "IPPROTO_TCP", "TCP_MAXSEG") => match self.connection(&socket) {
                Some(connection) => i64::from(connection.info().mss),
                None => i64::from(options.max_segment.unwrap_or(536)),
            },
            _ => return Err(arguments.unsupported(&format!("asking for the socket option {level} {name}"))),
        };
        if arguments.has_null_buffer(3) {
            return Ok(failed("EFAULT"));
        }
        returned(arguments, 3, name, value)
    }

    pub(super) fn ioctl(&mut self, arguments: &Arguments<'_>) -> Answer {
        let name = arguments.word(1)?;
        let socket = self.of(arguments)?.clone();
        let Some(connection) = self.connection(&socket) else {
            return Err(arguments.unsupported("an ioctl of a socket without a connection"));
        };
        let info = connection.info();
        let value = match name {
            "SIOCINQ" | "FIONREAD" => connection.readable(),
            "SIOCOUTQ" => connection.queued(),
            "SIOCOUTQNSD" => info.unsent,
            _ => return Err(arguments.unsupported(&format!("the ioctl {name}"))),
        };
        if arguments.has_null_buffer(2) {
            return Ok(failed("EFAULT"));
        }
        returned(arguments, 2, name, i64::try_from(value).unwrap_or(i64::MAX))
    }
}

/// Checks the value that a call returns through its argument.
fn returned(arguments: &Arguments<'_>, index: usize, name: &str, value: i64) -> Answer {
    match arguments.number(index) {
        Ok(expected) if expected != value => Err(Problem::mismatch(
            arguments.line,
            format!("`{}` gave {name} {value}, expected {expected}", arguments.call.name),
        )),
        Err(_) if !matches!(arguments.call.arguments.get(index), Some(Expression::Ellipsis)) => {
            Err(arguments.unsupported(&format!("such a value of `{}`", arguments.call.name)))
        }
        _ => Ok(gave(0)),
    }
}
