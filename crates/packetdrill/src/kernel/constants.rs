//! Linux's names for numbers, in arguments, results and code.

use crate::problem::Problem;
use crate::syntax::Expression;

/// The number that a name stands for.
pub(crate) fn named(name: &str) -> Option<i64> {
    CONSTANTS.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// The number that an argument gives.
pub(crate) fn constant(line: usize, expression: &Expression) -> Result<i64, Problem> {
    match expression {
        Expression::Integer(value) => Ok(*value),
        Expression::Word(name) => {
            named(name).ok_or_else(|| Problem::unsupported(line, format!("the constant `{name}`")))
        }
        Expression::Or(all) => all.iter().try_fold(0, |sum, one| Ok(sum | constant(line, one)?)),
        Expression::List(list) if list.len() == 1 => constant(line, &list[0]),
        _ => Err(Problem::unreadable(line, "an argument that is not a number")),
    }
}

const CONSTANTS: &[(&str, i64)] = &[
    ("AF_INET", 2),
    ("AF_INET6", 10),
    ("SOCK_STREAM", 1),
    ("SOCK_NONBLOCK", 0o4000),
    ("IPPROTO_TCP", 6),
    ("SOL_SOCKET", 1),
    ("SOL_TCP", 6),
    ("SO_REUSEADDR", 2),
    ("SO_ERROR", 4),
    ("SO_SNDBUF", 7),
    ("SO_RCVBUF", 8),
    ("SO_KEEPALIVE", 9),
    ("SO_LINGER", 13),
    ("SO_REUSEPORT", 15),
    ("SO_SNDBUFFORCE", 32),
    ("SO_RCVBUFFORCE", 33),
    ("TCP_NODELAY", 1),
    ("TCP_MAXSEG", 2),
    ("TCP_CORK", 3),
    ("TCP_CONGESTION", 13),
    ("TCP_SYNCNT", 7),
    ("TCP_QUICKACK", 12),
    ("TCP_USER_TIMEOUT", 18),
    ("TCP_NOTSENT_LOWAT", 25),
    ("SOL_IP", 0),
    ("IPPROTO_IP", 0),
    ("IP_TOS", 1),
    ("IP_TTL", 2),
    ("IP_MTU_DISCOVER", 10),
    ("IP_PMTUDISC_DONT", 0),
    ("IP_PMTUDISC_WANT", 1),
    ("IP_PMTUDISC_DO", 2),
    ("SIOCINQ", 0x541b),
    ("FIONREAD", 0x541b),
    ("SIOCOUTQ", 0x5411),
    ("SIOCOUTQNSD", 0x894b),
    ("MSG_MORE", 0x8000),
    ("F_GETFL", 3),
    ("F_SETFL", 4),
    ("O_RDWR", 2),
    ("O_NONBLOCK", 0o4000),
    ("SHUT_RD", 0),
    ("SHUT_WR", 1),
    ("SHUT_RDWR", 2),
    ("MSG_DONTWAIT", 0x40),
    ("MSG_NOSIGNAL", 0x4000),
    ("POLLIN", 0x1),
    ("POLLPRI", 0x2),
    ("POLLOUT", 0x4),
    ("POLLERR", 0x8),
    ("POLLHUP", 0x10),
    ("POLLRDHUP", 0x2000),
    ("ECONNREFUSED", 111),
    ("ECONNRESET", 104),
    ("ETIMEDOUT", 110),
    ("EPIPE", 32),
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_CLOSE", 7),
    ("TCP_LISTEN", 10),
];
