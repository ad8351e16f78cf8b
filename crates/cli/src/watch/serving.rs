//! The metrics over HTTP at a loopback address. All sockets are non-blocking and are served between two reads of the kernel's ring, so no
//! client can delay the watch.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::rc::Rc;
use std::time::Duration;

use crate::failure::{Failure, Place};

/// Maximum number of clients at a time. A further one replaces the oldest, so that silent clients cannot block others.
const MOST: usize = 16;
/// Maximum number of new clients between two reads of the ring, so that they do not replace others before these are answered.
const NEW: usize = 4;
/// Time after which a client is dropped.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum length of a request in bytes.
const LONGEST: usize = 8192;
/// Time for which a text is served again.
const FRESH: Duration = Duration::from_secs(1);

/// The server.
pub(super) struct Serving {
    listener: TcpListener,
    clients: Vec<Client>,
    /// The last text, and when it was made.
    latest: Option<(Duration, Rc<[u8]>)>,
}

/// A connection that is being served.
struct Client {
    stream: TcpStream,
    since: Duration,
    request: Vec<u8>,
    /// The response once the request is complete, and the number of its bytes that were sent.
    response: Option<(Response, usize)>,
}

/// A response: its head, and the text that clients share.
struct Response {
    head: Vec<u8>,
    body: Rc<[u8]>,
}

impl Serving {
    /// Listens at the address, which `text` gives.
    pub(super) fn listen(text: &str, arguments: &[String]) -> Result<Self, Failure> {
        let refuse = |why: String| {
            Failure::usage(format!("--listen: {why}")).at(Place::value(arguments, "--listen", text))
        };
        let address: SocketAddr = text.parse().map_err(|_| {
            refuse(format!("`{text}` is no address and port, such as 127.0.0.1:9099 or [::1]:9099"))
        })?;
        if !address.ip().is_loopback() {
            let why = "is no loopback address (127.0.0.1, [::1]); a proxy in front can serve other hosts";
            return Err(refuse(format!("{} {why}", address.ip())));
        }
        let listener = TcpListener::bind(address).map_err(|error| refuse(format!("{address}: {error}")))?;
        listener.set_nonblocking(true).map_err(|error| refuse(format!("{address}: {error}")))?;
        Ok(Self { listener, clients: Vec::new(), latest: None })
    }

    /// Returns the address at which the metrics are.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Serves what can be served without waiting. `text` makes the metrics.
    pub(super) fn turn(&mut self, now: Duration, text: impl Fn() -> String) {
        for _ in 0..NEW {
            let Ok((stream, _)) = self.listener.accept() else { break };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            if self.clients.len() == MOST {
                self.clients.remove(0);
            }
            self.clients.push(Client { stream, since: now, request: Vec::new(), response: None });
        }
        let latest = &mut self.latest;
        let mut metrics = || {
            if latest.as_ref().is_none_or(|(made, _)| now >= made.saturating_add(FRESH)) {
                *latest = Some((now, text().into_bytes().into()));
            }
            latest.as_ref().map_or_else(|| Rc::from([]), |(_, text)| Rc::clone(text))
        };
        self.clients.retain_mut(|client| {
            now < client.since.saturating_add(PATIENCE) && client.goes_on(&mut metrics).unwrap_or(false)
        });
    }
}

impl Client {
    /// Reads and writes without waiting. Returns whether more must be done for this client.
    fn goes_on(&mut self, metrics: &mut impl FnMut() -> Rc<[u8]>) -> std::io::Result<bool> {
        if self.response.is_none() && !self.read()? {
            return Ok(false);
        }
        if self.response.is_none() {
            self.response = answer(&self.request, metrics).map(|response| (response, 0));
        }
        let Some((Response { head, body }, sent)) = &mut self.response else { return Ok(true) };
        while *sent < head.len() + body.len() {
            let rest = head.get(*sent..).filter(|rest| !rest.is_empty());
            match self.stream.write(rest.unwrap_or_else(|| &body[*sent - head.len()..])) {
                Ok(0) => return Ok(false),
                Ok(count) => *sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Reads the part of the request that is there. Returns false if the client closed before the request was complete.
    fn read(&mut self) -> std::io::Result<bool> {
        let mut buffer = [0; 1024];
        while self.request.len() <= LONGEST && !is_complete(&self.request) {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(false),
                Ok(count) => self.request.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}

fn is_complete(request: &[u8]) -> bool {
    request.windows(4).any(|four| four == b"\r\n\r\n")
}

/// Returns the response to a request; `None` if the request is not complete.
fn answer(request: &[u8], metrics: &mut impl FnMut() -> Rc<[u8]>) -> Option<Response> {
    const TEXT: &str = "text/plain; charset=utf-8";
    if !is_complete(request) {
        return (request.len() > LONGEST)
            .then(|| response("431 Request Header Fields Too Large", TEXT, Rc::from(*b"too long\n"), true));
    }
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.split(' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    if !version.is_some_and(|version| version.starts_with("HTTP/1.")) {
        return Some(response("400 Bad Request", TEXT, Rc::from(*b"not a request of HTTP/1\n"), true));
    }
    if !matches!(method, Some("GET" | "HEAD")) {
        return Some(response("405 Method Not Allowed", TEXT, Rc::from(*b"GET only\n"), true));
    }
    let path = target.unwrap_or_default().split('?').next();
    if path != Some("/metrics") {
        return Some(response(
            "404 Not Found",
            TEXT,
            Rc::from(*b"/metrics is here\n"),
            method == Some("GET"),
        ));
    }
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Some(response("200 OK", kind, metrics(), method == Some("GET")))
}

fn response(status: &str, kind: &str, body: Rc<[u8]>, has_body: bool) -> Response {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    Response { head: head.into_bytes(), body: if has_body { body } else { Rc::from([]) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serving() -> (Serving, SocketAddr) {
        let serving = Serving::listen("127.0.0.1:0", &[]).expect("a port");
        let address = serving.address().expect("it listens");
        (serving, address)
    }

    fn asked(address: SocketAddr, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(text.as_bytes()).expect("sent");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a time");
        stream
    }

    fn read(mut stream: TcpStream) -> String {
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("a response");
        text
    }

    #[test]
    fn metrics_are_served_at_their_path_and_nothing_else() {
        let (mut serving, address) = serving();
        let body = "# EOF\n".repeat(200_000);
        for (request, wanted, ends) in [
            ("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\n", "# EOF\n"),
            ("GET /metrics?name=x HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK\r\n", "# EOF\n"),
            ("HEAD /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n", "\r\n\r\n"),
            ("GET /../etc/passwd HTTP/1.1\r\n\r\n", "HTTP/1.1 404 ", "here\n"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 405 ", "only\n"),
            ("nonsense\r\n\r\n", "HTTP/1.1 400 ", "1\n"),
        ] {
            let stream = asked(address, request);
            let reader = std::thread::spawn(move || read(stream));
            // A large text needs several turns, because its reader takes time.
            for at in 0..500 {
                serving.turn(Duration::from_millis(at), || body.clone());
                std::thread::sleep(Duration::from_millis(2));
                if reader.is_finished() {
                    break;
                }
            }
            let text = reader.join().expect("a response");
            assert!(
                text.starts_with(wanted) && text.ends_with(ends),
                "{request}: {}",
                &text[..200.min(text.len())]
            );
        }
    }

    #[test]
    fn clients_that_send_nothing_or_read_nothing_block_no_other() {
        let (mut serving, address) = serving();
        let silent: Vec<TcpStream> = (0..40).map(|_| asked(address, "GET /met")).collect();
        let flood = asked(address, &"x".repeat(20_000));
        let body = "# EOF\n".repeat(2_000_000);
        let deaf = asked(address, "GET /metrics HTTP/1.1\r\n\r\n");
        for at in 0..10 {
            serving.turn(Duration::from_millis(100 * at), || body.clone());
        }
        assert!(serving.clients.len() <= MOST);
        let stream = asked(address, "GET /metrics HTTP/1.1\r\n\r\n");
        for at in 10..20 {
            serving.turn(Duration::from_millis(100 * at), || "# EOF\n".to_owned());
        }
        // The text of the last second is served again, so only its beginning is read.
        let mut head = [0; 15];
        (&stream).read_exact(&mut head).expect("a response");
        assert_eq!(&head, b"HTTP/1.1 200 OK");
        // All are dropped in the end.
        serving.turn(Duration::from_secs(10), String::new);
        assert!(serving.clients.is_empty());
        drop((silent, flood, deaf));
    }

    #[test]
    fn only_loopback_addresses_are_listened_at() {
        for (text, why) in [
            ("0.0.0.0:9099", "0.0.0.0 is no loopback address"),
            ("[::]:9099", ":: is no loopback address"),
            ("9099", "`9099` is no address and port, such as 127.0.0.1:9099"),
            ("localhost:9099", "is no address and port"),
        ] {
            let failure = format!("{:?}", Serving::listen(text, &[]).err().expect("refused"));
            assert!(failure.contains(why), "{failure}");
        }
    }
}
