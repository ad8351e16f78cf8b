//! A peer that speaks segments by hand.

use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::Duration;

use firstflight_tcp::{Flags, Segment};
use firstflight_wire::{Addresses, Checksum, Hosts, decode_tcp, encode_tcp};

use crate::common::LOOPBACK;

const NOBODY: Hosts = Hosts::V4 { source: Ipv4Addr::UNSPECIFIED, destination: Ipv4Addr::UNSPECIFIED };

/// A socket that speaks segments by hand.
pub(crate) struct Raw(pub(crate) UdpSocket);

impl Raw {
    pub(crate) fn to(server: SocketAddr) -> Self {
        Self::from(LOOPBACK, server)
    }

    /// One whose socket has this address.
    pub(crate) fn from(own: impl ToSocketAddrs, server: SocketAddr) -> Self {
        let socket = UdpSocket::bind(own).unwrap();
        socket.connect(server).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        Self(socket)
    }

    /// Sends a segment; how many bytes that is.
    pub(crate) fn send(&self, segment: &Segment, options: &[u8], payload: &[u8]) -> usize {
        self.send_bytes(segment, options, payload).len()
    }

    pub(crate) fn send_bytes(&self, segment: &Segment, options: &[u8], payload: &[u8]) -> Vec<u8> {
        let addresses = Addresses { hosts: NOBODY, source_port: 5, destination_port: 6 };
        let segment = Segment { len: u16::try_from(payload.len()).unwrap(), ..*segment };
        let mut bytes = Vec::new();
        encode_tcp(&addresses, &segment, options, [payload, &[]], &mut bytes).unwrap();
        self.0.send(&bytes).unwrap();
        bytes
    }

    /// Receives the next segment, its unknown option of 20 bytes and its length.
    pub(crate) fn receive(&self) -> Option<(Segment, Vec<u8>, usize)> {
        self.receive_bytes().map(|(segment, cookie, bytes)| (segment, cookie, bytes.len()))
    }

    pub(crate) fn receive_bytes(&self) -> Option<(Segment, Vec<u8>, Vec<u8>)> {
        let mut bytes = [0; 2_000];
        let len = self.0.recv(&mut bytes).ok()?;
        let read = decode_tcp(NOBODY, &bytes[..len]).unwrap();
        assert_eq!(read.checksum, Checksum::Good);
        let cookie = read.options.windows(20).find(|option| option.starts_with(&[253, 20]));
        Some((read.segment, cookie.unwrap_or_default().to_vec(), bytes[..len].to_vec()))
    }

    /// Opens a connection whose first segment has this payload. Returns the SYN-ACK if the server made a connection.
    pub(crate) fn open(&self, payload: &[u8]) -> Option<Segment> {
        self.send(&syn(), &[], &[]);
        let (answer, cookie, _) = self.receive()?;
        self.send(&ack(&answer), &cookie, payload);
        let (confirmed, ..) = self.receive()?;
        (confirmed.flags == Flags::ACK).then_some(answer)
    }
}

pub(crate) fn syn() -> Segment {
    Segment {
        seq: 1_000,
        flags: Flags::SYN,
        mss: std::num::NonZeroU16::new(1_452),
        window_scale: Some(5),
        sack_permitted: true,
        ..Segment::default()
    }
}

pub(crate) fn ack(answer: &Segment) -> Segment {
    Segment {
        seq: 1_001,
        ack: answer.seq.wrapping_add(1),
        flags: Flags::ACK,
        window: 1_000,
        ..Segment::default()
    }
}
