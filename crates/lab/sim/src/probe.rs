//! The description of a probing (a measurement of a path with trains of datagrams), and its results.

use firstflight::Time;
use firstflight::probe::{Measured, Prober, Setting};

use crate::fault::FlowFault;
use crate::quantity::PACKET_LIMIT;

/// A probing: the client sends trains, and the server answers each packet at once with the instant of its arrival.
#[derive(Clone, Debug)]
pub struct ProbeSpec {
    /// A prober that has sent nothing. Its setting has the IP bytes of a packet.
    pub prober: Prober,
    /// IP bytes of an answer.
    pub answer: u32,
}

impl ProbeSpec {
    /// Returns a probing whose answers have 40 IP bytes: headers, the number and the instant of arrival.
    ///
    /// # Errors
    /// Returns an error if the setting is impossible.
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

/// Results of a probing.
#[derive(Clone, Debug)]
pub struct Probing {
    /// The prober, with what it has found.
    pub prober: Prober,
    /// The trains that are over, in order of transmission.
    pub trains: Vec<Measured>,
    /// The instant at which the first packet was sent.
    pub began: Option<Time>,
    /// The instant at which the last answer arrived, or at which the last train was given up.
    pub ended: Option<Time>,
}
