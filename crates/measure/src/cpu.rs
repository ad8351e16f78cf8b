//! What hosts' processors did: fields of a row, only where they take time.

use serde::Serialize;

/// The processors of a row's flows; without any the row has no such field. Shares of time are of the flows' lives together, from
/// the SYN to the last byte or the end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CpuFields {
    /// The share of time in which the sender's processor was busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_cpu: Option<Option<f64>>,
    /// The greatest share of a second of the run in which a sender's processor was busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_cpu_peak: Option<f64>,
    /// Of the sender's busy time, the share that went into finding the packets of SACK blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_cpu_sacktag: Option<Option<f64>>,
    /// The share that went into freeing packets that are acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_cpu_clean: Option<Option<f64>>,
    /// The share that went into sending packets again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_cpu_fastretrans: Option<Option<f64>>,
    /// The most segments that waited for a sender's processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender_cpu_waiting: Option<u64>,
    /// The share of time in which the receiver's processor was busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver_cpu: Option<Option<f64>>,
    /// The greatest share of a second of the run in which a receiver's processor was busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver_cpu_peak: Option<f64>,
    /// Of the receiver's busy time, the share that went into the out-of-order queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver_cpu_data_queue: Option<Option<f64>>,
}
