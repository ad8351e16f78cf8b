//! An upload over 40 ms as its client sees it: a handshake, messages, and bulk in rounds of given sizes.

use crate::made::{ACK, DAY, From, SYN, Segment};

pub(crate) const MSS: u32 = 1448;
pub(crate) const RTT: u64 = 40_000;

/// The packets of a connection, with times in microseconds since the SYN.
#[derive(Clone, Default)]
pub(crate) struct Start {
    pub(crate) packets: Vec<(u64, Segment)>,
    /// Bytes sent, and bytes acknowledged.
    sent: u32,
    acked: u32,
    /// Flags of every acknowledgement from the server, in addition to ACK.
    pub(crate) echo: u8,
}

pub(crate) fn stamped(micros: u64) -> Vec<u8> {
    let value = u32::try_from(micros / 1000 + 1).unwrap();
    [&[1, 1, 8, 10][..], &value.to_be_bytes(), &7_u32.to_be_bytes()].concat()
}

pub(crate) fn syn_options(micros: u64) -> Vec<u8> {
    [&[2, 4, 5, 180, 1, 3, 3, 7, 4, 2, 1, 1][..], &stamped(micros)].concat()
}

impl Start {
    pub(crate) fn say(&mut self, micros: u64, from: From, flags: u8, len: usize) {
        let (seq, ack) = match from {
            From::Client => (1001 + self.sent, 501),
            From::Server => (501, 1001 + self.acked),
        };
        let options = stamped(micros);
        self.packets.push((DAY + micros * 1000, Segment { from, flags, seq, ack, options, len }));
        if from == From::Client {
            self.sent += u32::try_from(len).unwrap();
        }
    }

    /// Retransmits `len` bytes of the client, from `later` bytes before the end of the data sent.
    pub(crate) fn again(&mut self, micros: u64, later: u32, len: usize) {
        let (seq, ack, options) = (1001 + self.sent - later, 501, stamped(micros));
        self.packets
            .push((DAY + micros * 1000, Segment { from: From::Client, flags: ACK, seq, ack, options, len }));
    }

    /// Adds the SYN and its answer, with these additional flags, and the third packet.
    pub(crate) fn open(&mut self, syn: u8, answer: u8) {
        for (at, from, flags, seq, ack) in
            [(0, From::Client, SYN | syn, 1000, 0), (RTT, From::Server, SYN | ACK | answer, 500, 1001)]
        {
            let options = syn_options(at);
            self.packets.push((DAY + at * 1000, Segment { from, flags, seq, ack, options, len: 0 }));
        }
        self.say(RTT + 10, From::Client, ACK, 0);
    }

    /// Adds a message at this time, acknowledged an RTT later.
    pub(crate) fn message(&mut self, micros: u64, len: usize) {
        self.say(micros, From::Client, ACK, len);
        self.heard(micros + RTT, u32::try_from(len).unwrap());
    }

    /// Adds an acknowledgement of so many more bytes by the server.
    pub(crate) fn heard(&mut self, micros: u64, bytes: u32) {
        self.acked += bytes;
        self.say(micros, From::Server, ACK | self.echo, 0);
    }

    /// Adds rounds of so many segments from this time on. Segments are acknowledged one every 20 µs, and each acknowledgement releases its
    /// share of the next round. Returns the time of the last acknowledgement.
    pub(crate) fn bulk(&mut self, micros: u64, rounds: &[u32]) -> u64 {
        (0..rounds[0]).for_each(|place| self.say(micros + u64::from(place), From::Client, ACK, MSS as usize));
        let mut at = micros;
        for (round, &size) in rounds.iter().enumerate() {
            at += RTT;
            let next = rounds.get(round + 1).copied().unwrap_or(0);
            for place in 0..size {
                let now = at + u64::from(place) * 200;
                self.heard(now, MSS);
                let due = next * (place + 1) / size - next * place / size;
                (0..due).for_each(|_| self.say(now + 2, From::Client, ACK, MSS as usize));
            }
        }
        at + u64::from(rounds[rounds.len() - 1]) * 200
    }

    pub(crate) fn close(&mut self, micros: u64) {
        self.say(micros, From::Client, ACK | 1, 0);
        self.acked += 1;
        self.say(micros + RTT, From::Server, ACK | 1, 0);
    }
}
