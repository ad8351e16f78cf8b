//! The handle of a host.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::Builder;

use crate::engine::Engine;
use crate::link::{Link, Tun, Udp};
use crate::listener::Listener;
use crate::options::Options;
use crate::shared::{Command, Handle, Shared};
use crate::stream::Stream;

/// One UDP socket or TUN device with all its connections. One thread serves them. Clones are handles of the same host, and so are streams
/// and listeners. When the last handle is dropped, the host still sends the written data, for at most [`Options::linger`].
#[derive(Clone, Debug)]
pub struct Host(pub(crate) Arc<Handle>);

impl Host {
    /// Makes a host on a new UDP socket. Needs no privileges.
    ///
    /// # Errors
    /// The socket cannot be bound, or the options cannot make a connection.
    pub fn bind(address: impl ToSocketAddrs, options: &Options) -> io::Result<Self> {
        Self::on(UdpSocket::bind(address)?, options)
    }

    /// Makes a host on a bound UDP socket, for example a socket of another process.
    ///
    /// # Errors
    /// The socket cannot be set up, or the options cannot make a connection.
    pub fn on(socket: UdpSocket, options: &Options) -> io::Result<Self> {
        let own = socket.local_addr()?;
        Self::start(Link::Udp(Udp::new(socket, options)?), own, options)
    }

    /// Makes a host behind the TUN device of this name, with `own` as its IP address. The kernel's IP is at the other end of the device, so
    /// the kernel's TCP is a peer. If the device does not exist, it is created. To create a device, or to use one of another user, needs
    /// `CAP_NET_ADMIN`. The caller sets addresses and routes.
    ///
    /// # Errors
    /// The TUN device cannot be opened, or the options cannot make a connection.
    pub fn tun(name: &str, own: IpAddr, options: &Options) -> io::Result<Self> {
        Self::start(Link::Tun(Tun::new(name, own)?), SocketAddr::new(own, 0), options)
    }

    /// Returns the address of the socket; for a TUN, the address given, with port 0.
    pub fn local_addr(&self) -> SocketAddr {
        self.0.shared.own
    }

    /// Opens a connection to another host of this crate, or over a TUN device to any TCP, and waits until it is open.
    ///
    /// # Errors
    /// The peer refuses or does not answer, or the host has its maximum number of connections.
    pub fn connect(&self, peer: SocketAddr) -> io::Result<Stream> {
        let stream = self.begin(peer)?;
        stream.wait_open(None)?;
        Ok(stream)
    }

    /// Opens a connection as [`Host::connect`] does, but waits for at most `timeout`.
    ///
    /// # Errors
    /// The errors of [`Host::connect`], and [`io::ErrorKind::TimedOut`].
    pub fn connect_timeout(&self, peer: SocketAddr, timeout: std::time::Duration) -> io::Result<Stream> {
        let stream = self.begin(peer)?;
        stream.wait_open(Some(timeout))?;
        Ok(stream)
    }

    /// Starts to listen: from now on peers may connect. Over UDP the host accepts any TCP port that a peer names, because the UDP port
    /// identifies the service. Over a TUN device it accepts only `port`. A further call adds a listener, and over a TUN device it also
    /// replaces the port.
    pub fn listen(&self, port: u16) -> Listener {
        let mut queue = self.0.shared.accepts();
        queue.listeners += 1;
        queue.port = port;
        drop(queue);
        Listener::new(Arc::clone(&self.0))
    }

    /// Starts to open a connection, without waiting until it is open.
    fn begin(&self, peer: SocketAddr) -> io::Result<Stream> {
        let (reply, answer) = sync_channel(1);
        self.0.shared.command(Command::Open { peer, reply });
        let connection = answer.recv().map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))??;
        Ok(Stream::new(connection, Arc::clone(&self.0)))
    }

    fn start(link: Link, own: SocketAddr, options: &Options) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(own)?);
        let engine = Engine::new(link, Arc::clone(&shared), options)?;
        let thread = Builder::new().name("firstflight-udp".to_owned()).spawn(move || engine.run())?;
        Ok(Self(Arc::new(Handle::new(shared, thread))))
    }
}

impl Listener {
    /// Makes a listener on a new UDP socket.
    ///
    /// # Errors
    /// As [`Host::bind`].
    pub fn bind(address: impl ToSocketAddrs, options: &Options) -> io::Result<Self> {
        let host = Host::bind(address, options)?;
        let port = host.local_addr().port();
        Ok(host.listen(port))
    }

    /// Returns the host, with which connections to other hosts can be opened.
    pub fn host(&self) -> Host {
        Host(Arc::clone(&self.0))
    }
}

impl Stream {
    /// Opens a connection from a new UDP socket. To open many connections from one socket, use [`Host::connect`].
    ///
    /// # Errors
    /// There is no address, the socket cannot be bound, or the peer refuses or does not answer.
    pub fn connect(peer: impl ToSocketAddrs, options: &Options) -> io::Result<Self> {
        let peer = peer.to_socket_addrs()?.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let any: SocketAddr = if peer.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
        Host::bind(any, options)?.connect(peer)
    }
}
