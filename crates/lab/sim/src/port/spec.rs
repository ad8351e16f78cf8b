//! A port as data.

use firstflight::Time;
use thiserror::Error;

use crate::fault::{FlowFault, LinkFault};
use crate::on_off::OnOffSpec;
use crate::source::CbrSpec;
use crate::spec::LinkSpec;

/// A link, and the cross traffic that shares it with the host's packets. Instants in the description, as in a rate
/// trace or where cross traffic stops, count from the port's start.
#[derive(Clone, PartialEq, Debug)]
pub struct PortSpec {
    /// The link.
    pub link: LinkSpec,
    /// The cross traffic. A source's index is its flow's number: a simulation draws equal random numbers for the flow
    /// of that number.
    pub cross: Vec<Cross>,
    /// The host's clock at the port's time zero.
    pub start: Time,
}

impl PortSpec {
    /// Returns a link without cross traffic that starts at time zero.
    pub const fn new(link: LinkSpec) -> Self {
        Self { link, cross: Vec::new(), start: Time::ZERO }
    }

    pub(super) fn check(&self) -> Result<(), PortFault> {
        self.link.check().map_err(PortFault::Link)?;
        for (place, cross) in self.cross.iter().enumerate() {
            let checked = match cross {
                Cross::Cbr(spec) => spec.check(),
                Cross::OnOff(spec) => spec.check(),
            };
            checked.map_err(|fault| PortFault::Cross { place, fault })?;
        }
        Ok(())
    }
}

/// Datagrams that share a port's link and are not returned to the host.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cross {
    /// At a constant bit rate.
    Cbr(CbrSpec),
    /// At a constant rate for a period, then none for a period.
    OnOff(OnOffSpec),
}

/// Why a port is impossible.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum PortFault {
    /// The link is impossible.
    #[error("the port's link: {0}")]
    Link(LinkFault),
    /// A source of cross traffic is impossible.
    #[error("cross traffic {place} of the port: {fault}")]
    Cross {
        /// The source's index.
        place: usize,
        /// The error of the source.
        fault: FlowFault,
    },
}
