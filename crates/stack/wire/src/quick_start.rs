//! Encodes and decodes Quick-Start's options (RFC 4782): the request and the report in the IP header, the response in the TCP header.
//!
//! All three carry a rate code and a nonce of 30 bits. On the wire the nonce is left-aligned in 32 bits; [`Nonce`] has it right-aligned.

pub use firstflight::RateCode;
pub use firstflight_tcp::quick_start::{IpOption, Nonce, Options, Response, ttl_diff};
use thiserror::Error;

/// Type of the IPv4 option: copied flag 0, class 0, number 25 (RFC 4782 section 3.1).
const IPV4_TYPE: u8 = 25;
/// Type of the IPv6 hop-by-hop option: number 6, with the bits for "skip if unknown" and "may change on the way" (section 3.2).
const IPV6_TYPE: u8 = 0x26;
/// Kind of the TCP option (section 4.2).
pub(crate) const TCP_KIND: u8 = 27;
/// Length of the IPv4 and TCP options in bytes, including kind and length.
const LENGTH: u8 = 8;
/// Value of the IPv6 option's length field, which excludes type and length.
const IPV6_LENGTH: u8 = 6;
/// Function field of a request (section 3.1). [`REPORT`] is that of a report of the approved rate.
const REQUEST: u8 = 0;
const REPORT: u8 = 8;

/// The reason why bytes are not a Quick-Start option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum QuickStartError {
    /// The option has a wrong type or length, or is truncated.
    #[error(
        "a Quick-Start option begins with the bytes {wanted:02x?} and is 8 bytes long; found {found:02x?}"
    )]
    Head {
        /// The required type and length.
        wanted: [u8; 2],
        /// The first two bytes found. `None` for a byte after the end of the input.
        found: [Option<u8>; 2],
    },
    /// The function field is neither a request nor a report.
    #[error("Quick-Start function {0}; 0 (request) and 8 (report of the approved rate) are known")]
    Function(u8),
}

/// Encodes the option for an IPv4 header. The caller must compute the header's checksum afterwards.
pub fn to_ipv4(option: IpOption) -> [u8; 8] {
    assemble([IPV4_TYPE, LENGTH], ip_body(option))
}

/// Encodes the option for IPv6's hop-by-hop header.
pub fn to_ipv6(option: IpOption) -> [u8; 8] {
    assemble([IPV6_TYPE, IPV6_LENGTH], ip_body(option))
}

/// Decodes the IPv4 option at the beginning of `bytes`. Ignores the bytes after it. `hop_limit` is the IP header's TTL.
///
/// # Errors
/// If the bytes are not a Quick-Start option, or its function is unknown.
pub fn from_ipv4(bytes: &[u8], hop_limit: u8) -> Result<IpOption, QuickStartError> {
    from_ip_body(body_after([IPV4_TYPE, LENGTH], bytes)?, hop_limit)
}

/// Decodes the option of IPv6's hop-by-hop header at the beginning of `bytes`. `hop_limit` is the IP header's hop limit.
///
/// # Errors
/// If the bytes are not a Quick-Start option, or its function is unknown.
pub fn from_ipv6(bytes: &[u8], hop_limit: u8) -> Result<IpOption, QuickStartError> {
    from_ip_body(body_after([IPV6_TYPE, IPV6_LENGTH], bytes)?, hop_limit)
}

/// Returns the Quick-Start option among the options of an IPv4 header. Ignores an option that cannot be read, as a host without Quick-Start
/// does.
pub(crate) fn among_ipv4(options: &[u8], hop_limit: u8) -> Option<IpOption> {
    from_ipv4(options.get(place_in_ipv4(options)?..)?, hop_limit).ok()
}

/// Returns the offset of the Quick-Start option in the options of an IPv4 header; `None` if it is not there.
pub(crate) fn place_in_ipv4(options: &[u8]) -> Option<usize> {
    let mut rest = options;
    while let [kind, tail @ ..] = rest {
        rest = match (*kind, tail) {
            (0, _) => return None,
            (1, _) => tail,
            (IPV4_TYPE, [LENGTH, ..]) => return Some(options.len() - rest.len()),
            (_, [length, ..]) if *length >= 2 => rest.get(usize::from(*length)..)?,
            _ => return None,
        };
    }
    None
}

/// Returns the Quick-Start option of a chain of IPv6 extension headers whose first is the hop-by-hop options header (RFC 8200 section 4.3).
/// Ignores an option that cannot be read.
pub(crate) fn among_hop_by_hop(headers: &[u8], hop_limit: u8) -> Option<IpOption> {
    from_ipv6(headers.get(place_in_hop_by_hop(headers)?..)?, hop_limit).ok()
}

/// Returns the offset of the Quick-Start option in a chain of IPv6 extension headers whose first is the hop-by-hop options header; `None`
/// if it is not there.
pub(crate) fn place_in_hop_by_hop(headers: &[u8]) -> Option<usize> {
    let end = 8 * (usize::from(*headers.get(1)?) + 1);
    let mut rest = headers.get(2..end)?;
    while let [kind, tail @ ..] = rest {
        rest = match (*kind, tail) {
            // Pad1.
            (0, _) => tail,
            (IPV6_TYPE, [IPV6_LENGTH, ..]) => return Some(end - rest.len()),
            (_, [length, ..]) => rest.get(2 + usize::from(*length)..)?,
            (_, []) => return None,
        };
    }
    None
}

fn ip_body(option: IpOption) -> [u8; 6] {
    match option {
        IpOption::Request { rate, ttl, nonce, .. } => body(REQUEST, rate, ttl, nonce),
        IpOption::Report { rate, nonce } => body(REPORT, rate, 0, nonce),
    }
}

fn from_ip_body(bytes: [u8; 6], hop_limit: u8) -> Result<IpOption, QuickStartError> {
    let (function, rate, ttl, nonce) = split(bytes);
    match function {
        REQUEST => Ok(IpOption::Request { rate, ttl, hop_limit, nonce }),
        REPORT => Ok(IpOption::Report { rate, nonce }),
        other => Err(QuickStartError::Function(other)),
    }
}

/// Encodes the response as a TCP option.
pub fn to_tcp(response: &Response) -> [u8; 8] {
    assemble([TCP_KIND, LENGTH], body(0, response.rate, response.ttl_diff, response.nonce))
}

/// Decodes the TCP option at the beginning of `bytes`. Ignores the reserved bits.
///
/// # Errors
/// If the bytes are not a Quick-Start response.
pub fn from_tcp(bytes: &[u8]) -> Result<Response, QuickStartError> {
    body_after([TCP_KIND, LENGTH], bytes).map(from_tcp_body)
}

/// Decodes the bytes of the TCP option after kind and length.
pub(crate) fn from_tcp_body(body: [u8; 6]) -> Response {
    let (_, rate, ttl_diff, nonce) = split(body);
    Response { rate, ttl_diff, nonce }
}

/// Returns the six bytes after type and length, whose layout is equal in all three options. `ttl` is the TTL or, in a response, the TTL
/// Diff.
fn body(function: u8, rate: RateCode, ttl: u8, nonce: Nonce) -> [u8; 6] {
    let [a, b, c, d] = (nonce.get() << 2).to_be_bytes();
    [function << 4 | rate.get(), ttl, a, b, c, d]
}

/// Splits the six bytes after type and length into function, rate, TTL or TTL Diff, and nonce.
fn split([first, ttl, a, b, c, d]: [u8; 6]) -> (u8, RateCode, u8, Nonce) {
    (first >> 4, RateCode::from_low_bits(first), ttl, Nonce::new(u32::from_be_bytes([a, b, c, d]) >> 2))
}

fn assemble(head: [u8; 2], body: [u8; 6]) -> [u8; 8] {
    let mut option = [0; 8];
    option[..2].copy_from_slice(&head);
    option[2..].copy_from_slice(&body);
    option
}

fn body_after(wanted: [u8; 2], bytes: &[u8]) -> Result<[u8; 6], QuickStartError> {
    bytes
        .split_first_chunk()
        .filter(|(head, _)| **head == wanted)
        .and_then(|(_, rest)| rest.first_chunk().copied())
        .ok_or(QuickStartError::Head { wanted, found: [bytes.first().copied(), bytes.get(1).copied()] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(number: u8) -> RateCode {
        RateCode::new(number).unwrap()
    }

    const NONCE_BITS: Nonce = Nonce::new(0x2AAA_AAA9);

    #[test]
    fn the_options_have_the_bytes_of_the_rfc_and_read_back() {
        let request = IpOption::Request { rate: code(7), ttl: 10, hop_limit: 61, nonce: NONCE_BITS };
        assert_eq!(to_ipv4(request), [25, 8, 0x07, 10, 0xAA, 0xAA, 0xAA, 0xA4]);
        assert_eq!(to_ipv6(request), [0x26, 6, 0x07, 10, 0xAA, 0xAA, 0xAA, 0xA4]);
        let report = IpOption::Report { rate: code(6), nonce: NONCE_BITS };
        assert_eq!(to_ipv4(report), [25, 8, 0x86, 0, 0xAA, 0xAA, 0xAA, 0xA4]);
        let response = Response { rate: code(15), ttl_diff: 54, nonce: NONCE_BITS };
        assert_eq!(to_tcp(&response), [27, 8, 0x0F, 54, 0xAA, 0xAA, 0xAA, 0xA4]);
        for option in [request, report] {
            assert_eq!(from_ipv4(&to_ipv4(option), 61), Ok(option));
            assert_eq!(from_ipv6(&to_ipv6(option), 61), Ok(option));
        }
        assert_eq!(from_tcp(&to_tcp(&response)), Ok(response));
    }

    #[test]
    fn bytes_other_than_a_quick_start_option_are_refused() {
        let good = to_ipv4(IpOption::Report { rate: code(6), nonce: NONCE_BITS });
        assert!(from_ipv4(&good[..7], 64).is_err());
        assert_eq!(
            from_ipv6(&good, 64).unwrap_err(),
            QuickStartError::Head { wanted: [0x26, 6], found: [Some(25), Some(8)] }
        );
        assert_eq!(
            from_tcp(&[]).unwrap_err(),
            QuickStartError::Head { wanted: [27, 8], found: [None, None] }
        );
        let mut odd = good;
        odd[2] = 0x36;
        assert_eq!(from_ipv4(&odd, 64), Err(QuickStartError::Function(3)));
    }
}
