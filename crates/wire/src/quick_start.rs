//! Quick-Start's bytes (RFC 4782): the request and report in the IP header, the response in the TCP header.
//!
//! All three carry a rate code and a nonce of 30 bits; the nonce is right-aligned here.

pub use firstflight::RateCode;
pub use firstflight_tcp::quick_start::{IpOption, Nonce, Options, Response, ttl_diff};
use thiserror::Error;

/// IPv4 option: copy 0, class 00, number 25 (RFC 4782 section 3.1).
const IPV4_TYPE: u8 = 25;
/// IPv6 hop-by-hop option: skip if unknown, may change on the way, number 6 (section 3.2).
const IPV6_TYPE: u8 = 0x26;
/// TCP option (section 4.2).
pub(crate) const TCP_KIND: u8 = 27;
/// Bytes of the IPv4 and of the TCP option, kind and length included.
const LENGTH: u8 = 8;
/// The IPv6 option's length field, which excludes type and length.
const IPV6_LENGTH: u8 = 6;
/// The function field of a request and of a report of the approved rate (section 3.1).
const REQUEST: u8 = 0;
const REPORT: u8 = 8;

/// Bytes that are no Quick-Start option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum QuickStartError {
    /// The option has another type or length, or is truncated.
    #[error(
        "a Quick-Start option begins with the bytes {wanted:02x?} and is 8 bytes long; found {found:02x?}"
    )]
    Head {
        /// The required type and length.
        wanted: [u8; 2],
        /// The first bytes found; `None` past the end.
        found: [Option<u8>; 2],
    },
    /// The function field is neither a request nor a report.
    #[error("Quick-Start function {0}; 0 (request) and 8 (report of the approved rate) are known")]
    Function(u8),
}

/// The option for an IPv4 header, whose checksum must be computed afterwards.
pub fn to_ipv4(option: IpOption) -> [u8; 8] {
    assemble([IPV4_TYPE, LENGTH], ip_body(option))
}

/// The option for IPv6's hop-by-hop header.
pub fn to_ipv6(option: IpOption) -> [u8; 8] {
    assemble([IPV6_TYPE, IPV6_LENGTH], ip_body(option))
}

/// Reads an IPv4 option that begins at the first byte. Bytes after it are ignored. `hop_limit` is the header's TTL.
///
/// # Errors
/// Bytes that are no Quick-Start option, or an unknown function.
pub fn from_ipv4(bytes: &[u8], hop_limit: u8) -> Result<IpOption, QuickStartError> {
    from_ip_body(body_after([IPV4_TYPE, LENGTH], bytes)?, hop_limit)
}

/// Reads an option of IPv6's hop-by-hop header that begins at the first byte.
///
/// # Errors
/// Bytes that are no Quick-Start option, or an unknown function.
pub fn from_ipv6(bytes: &[u8], hop_limit: u8) -> Result<IpOption, QuickStartError> {
    from_ip_body(body_after([IPV6_TYPE, IPV6_LENGTH], bytes)?, hop_limit)
}

/// The Quick-Start option among the options of an IPv4 header. An option that cannot be read is ignored, as by a host that
/// does not know it.
pub(crate) fn among_ipv4(options: &[u8], hop_limit: u8) -> Option<IpOption> {
    from_ipv4(options.get(place_in_ipv4(options)?..)?, hop_limit).ok()
}

/// Where the Quick-Start option begins among the options of an IPv4 header.
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

/// The Quick-Start option in a chain of extension headers that begins with the hop-by-hop options (RFC 8200 section 4.3).
/// An option that cannot be read is ignored.
pub(crate) fn among_hop_by_hop(headers: &[u8], hop_limit: u8) -> Option<IpOption> {
    from_ipv6(headers.get(place_in_hop_by_hop(headers)?..)?, hop_limit).ok()
}

/// Where the Quick-Start option begins in a chain of extension headers that begins with the hop-by-hop options.
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

/// The response as a TCP option.
pub fn to_tcp(response: &Response) -> [u8; 8] {
    assemble([TCP_KIND, LENGTH], body(0, response.rate, response.ttl_diff, response.nonce))
}

/// Reads a TCP option that begins at the first byte. The reserved bits are ignored.
///
/// # Errors
/// Bytes that are no Quick-Start response.
pub fn from_tcp(bytes: &[u8]) -> Result<Response, QuickStartError> {
    body_after([TCP_KIND, LENGTH], bytes).map(from_tcp_body)
}

/// Reads the bytes after kind and length of the TCP option.
pub(crate) fn from_tcp_body(body: [u8; 6]) -> Response {
    let (_, rate, ttl_diff, nonce) = split(body);
    Response { rate, ttl_diff, nonce }
}

/// The six bytes that all three options share.
fn body(function: u8, rate: RateCode, ttl: u8, nonce: Nonce) -> [u8; 6] {
    let [a, b, c, d] = (nonce.get() << 2).to_be_bytes();
    [function << 4 | rate.get(), ttl, a, b, c, d]
}

/// Splits the shared bytes into function, rate, TTL or TTL Diff, and nonce.
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
    fn what_is_no_quick_start_option_is_refused() {
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
