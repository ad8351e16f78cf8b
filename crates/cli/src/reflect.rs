//! `firstflight reflect`: answers the trains of `firstflight probe`.

use std::net::{IpAddr, SocketAddr};

use clap::Args;
use firstflight_udp::{Reflector, Source};

use crate::clock::now;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::lines::Lines;
use crate::output;

/// The maximum number of lines per second that a reflector prints about its peers.
const LINES: u32 = 20;

#[derive(Args, Debug)]
pub(crate) struct Reflect {
    /// The address to listen at. Only this machine reaches the default; 0.0.0.0 is every address of this machine.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// The UDP port; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 4432)]
    port: u16,
}

/// Carries out `firstflight reflect`.
pub(crate) fn reflect(asked: &Reflect) -> Result<(), Failure> {
    let address = SocketAddr::new(asked.bind, asked.port);
    let reflector = Reflector::bind(address)
        .map_err(|error| Failure::usage(format!("cannot listen at {address}: {error}")))?;
    output::say(&format!("{}\n", reflector.local_addr()));
    let interrupt = Interrupt::listen();
    let lines = Lines::new(LINES, now());
    let ended = || {
        lines.tidy(now());
        interrupt.happened()
    };
    reflector.run(&ended, &|peer| lines.say(Source::of(peer.ip()), now(), &format!("probed by {peer}")));
    Ok(())
}
