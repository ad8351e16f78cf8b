//! Reads segments.

use firstflight_tcp::Flags;

use super::Parser;
use crate::lexer::Kind;
use crate::problem::Problem;
use crate::syntax::{EcnField, Packet, TcpOption};

impl Parser {
    pub(super) fn packet(&mut self, outbound: bool) -> Result<Packet, Problem> {
        let ecn = self.ip_information(outbound)?;
        self.refuse_other_protocols()?;
        let flags = self.flags()?;
        let seq: u32 = self.number("the first sequence number")?;
        self.expect(':')?;
        let end: u32 = self.number("the last sequence number")?;
        self.expect('(')?;
        let len: u16 = self.number("the payload's size")?;
        self.expect(')')?;
        if seq.wrapping_add(u32::from(len)) != end {
            return Err(Problem::unreadable(self.line(), "sequence numbers and payload size do not agree"));
        }
        let ack = if self.accept_word("ack") { self.number("the acknowledgement number")? } else { 0 };
        let window = if self.accept_word("win") { Some(self.number("the window")?) } else { None };
        let urgent = if self.accept_word("urg") { self.number("the urgent pointer")? } else { 0 };
        let options = self.tcp_options(outbound)?;
        if self.peek() == Some(&Kind::Sign('{')) {
            return Err(Problem::unsupported(self.line(), "packet fuzzing `{…}`"));
        }
        Ok(Packet { ecn, flags, seq, len, ack, window, urgent, options })
    }

    fn ip_information(&mut self, outbound: bool) -> Result<Option<EcnField>, Problem> {
        let close = match self.peek() {
            Some(Kind::Sign('[')) => ']',
            Some(Kind::Sign('(')) => ')',
            _ => return Ok(None),
        };
        self.next += 1;
        let line = self.line();
        let Some(Kind::Word(word)) = self.peek().cloned() else {
            return Err(self.expected("IP information"));
        };
        let ecn = match word.as_str() {
            "noecn" => EcnField::None,
            "ect0" => EcnField::Ect0,
            "ect1" => EcnField::Ect1,
            "ce" => EcnField::Ce,
            "ect01" if outbound => EcnField::Either,
            "ect01" => return Err(Problem::unreadable(line, "`ect01` is for outbound packets only")),
            other => return Err(Problem::unsupported(line, format!("IP information `{other}`"))),
        };
        self.next += 1;
        self.expect(close)?;
        Ok(Some(ecn))
    }

    fn refuse_other_protocols(&self) -> Result<(), Problem> {
        let unsupported = |what: &str| Err(Problem::unsupported(self.line(), what));
        match self.peek() {
            Some(Kind::Word(word)) => match word.as_str() {
                "udp" => unsupported("a UDP packet"),
                "icmp" => unsupported("an ICMP packet"),
                "ipv4" | "ipv6" => unsupported("an IP header of the packet's own"),
                "gre" | "GREv0" => unsupported("GRE"),
                "mpls" => unsupported("MPLS"),
                _ => Ok(()),
            },
            Some(Kind::Integer(_)) => unsupported("ports of a packet's own"),
            _ => Ok(()),
        }
    }

    /// Reads flags: `S`, `P.`, `.` and so on, or `-` for no flags.
    fn flags(&mut self) -> Result<u8, Problem> {
        let line = self.line();
        let mut flags = Flags::default();
        if let Some(Kind::Word(word)) = self.peek().cloned() {
            self.next += 1;
            for letter in word.chars() {
                flags = flags.with(match letter {
                    'F' => Flags::FIN,
                    'S' => Flags::SYN,
                    'R' => Flags::RST,
                    'P' => Flags::PSH,
                    'U' => Flags::URG,
                    'E' => Flags::ECE,
                    'W' => Flags::CWR,
                    'A' => return Err(Problem::unsupported(line, "the AE flag of accurate ECN")),
                    _ => return Err(Problem::unreadable(line, format!("no TCP flag is called `{letter}`"))),
                });
            }
        } else if self.accept('-') {
            return Ok(0);
        } else if !matches!(self.peek(), Some(Kind::Sign('.') | Kind::Micros { .. })) {
            return Err(self.expected("TCP flags"));
        }
        if matches!(self.peek(), Some(Kind::Micros { .. })) {
            return Err(Problem::unsupported(line, "the ACE counter of accurate ECN"));
        }
        if self.accept('.') {
            flags = flags.with(Flags::ACK);
        }
        Ok(flags.0)
    }

    fn tcp_options(&mut self, outbound: bool) -> Result<Option<Vec<TcpOption>>, Problem> {
        let mut options = Vec::new();
        // A `<` may also belong to the next event, but then a time precedes it.
        if !self.accept('<') {
            return Ok(Some(options));
        }
        if self.peek() == Some(&Kind::Ellipsis) {
            if !outbound {
                return Err(Problem::unreadable(self.line(), "`<...>` is for outbound packets only"));
            }
            self.next += 1;
            self.expect('>')?;
            return Ok(None);
        }
        loop {
            options.push(self.tcp_option()?);
            if !self.accept(',') {
                self.expect('>')?;
                return Ok(Some(options));
            }
        }
    }

    fn tcp_option(&mut self) -> Result<TcpOption, Problem> {
        let line = self.line();
        let Some(Kind::Word(word)) = self.peek().cloned() else { return Err(self.expected("a TCP option")) };
        self.next += 1;
        Ok(match word.as_str() {
            "nop" => TcpOption::Nop,
            "eol" => TcpOption::End,
            "mss" => TcpOption::Mss(self.number("the MSS")?),
            "wscale" => TcpOption::WindowScale(self.number("the window scale")?),
            "sackOK" => TcpOption::SackPermitted,
            "sack" => TcpOption::Sack(self.sack_blocks()?),
            "TS" => {
                self.word("val")?;
                let value = self.number("the timestamp")?;
                self.word("ecr")?;
                TcpOption::Timestamps { value, echo: self.number("the timestamp's echo")? }
            }
            "FO" | "FOEXP" => return Err(Problem::unsupported(line, format!("TCP Fast Open (`{word}`)"))),
            "md5" => return Err(Problem::unsupported(line, "the TCP MD5 option")),
            other => return Err(Problem::unsupported(line, format!("the TCP option `{other}`"))),
        })
    }

    fn sack_blocks(&mut self) -> Result<Vec<(u32, u32)>, Problem> {
        let mut blocks = Vec::new();
        while blocks.is_empty() || matches!(self.peek(), Some(Kind::Integer(_))) {
            let start = self.number("the SACK block's left edge")?;
            self.expect(':')?;
            blocks.push((start, self.number("the SACK block's right edge")?));
        }
        // A TCP header has room for at most four blocks (RFC 2018 section 3).
        if blocks.len() > 4 {
            return Err(Problem::unreadable(self.line(), "more than four SACK blocks"));
        }
        Ok(blocks)
    }

    fn word(&mut self, word: &str) -> Result<(), Problem> {
        if self.accept_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }
}
