//! The description of a probing, and what it has seen.

use firstflight::Time;
use firstflight_probe::{Measured, Prober, Setting};

use crate::fault::FlowFault;
use crate::quantity::PACKET_LIMIT;

/// A probing: the client sends trains, and the server answers each packet at once with the instant of its arrival.
#[derive(Clone, Debug)]
pub struct ProbeSpec {
    /// A prober that has sent nothing. Its setting says the IP bytes of a packet.
    pub prober: Prober,
    /// IP bytes of an answer.
    pub answer: u32,
}

impl ProbeSpec {
    /// A probing whose answers have 40 IP bytes: headers, the number and the instant of arrival.
    ///
    /// # Errors
    /// An impossible setting.
    pub fn new(setting: Setting) -> Result<Self, FlowFault> {
        let prober = Prober::new(setting).map_err(|_| FlowFault::Trains)?;
        Ok(Self { prober, answer: 40 })
    }

    pub(crate) fn check(&self) -> Result<(), FlowFault> {
        match self.answer {
            0 => Err(FlowFault::ZeroPacket),
            answer if answer > PACKET_LIMIT => Err(FlowFault::HugePacket),
            _ => Ok(()),
        }
    }
}

/// What a probing has seen.
#[derive(Clone, Debug)]
pub struct Probing {
    /// The prober, with what it has found.
    pub prober: Prober,
    /// The trains that are over, in the order in which they left.
    pub trains: Vec<Measured>,
    /// When the first packet left.
    pub began: Option<Time>,
    /// When the last answer came, or the last train was given up.
    pub ended: Option<Time>,
}
