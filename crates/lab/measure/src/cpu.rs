//! CPU time of hosts. These fields of a row exist only in scenarios where operations take CPU time.

use serde::Serialize;

use crate::column::columns;

columns! {
    /// The use of the processors by a row's flows. A row without processors has none of these fields. Shares of time are of the total of
    /// the flows' lives, each from the SYN to the last byte or the end of the run.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
    pub struct CpuFields {
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sender_cpu: Option<Option<f64>> = ["1"]
            "The share of time in which the sender's processor was busy, from the SYN to the last byte or the end of the run; of \
             several flows, of their times together. Only with `host-cpu`, as the next eight.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sender_cpu_peak: Option<f64> = ["1"]
            "The greatest share of a second of the run in which the processor of one sender was busy.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sender_cpu_sacktag: Option<Option<f64>> = ["1"]
            "Of the sender's busy time, the share that went into finding the packets of SACK blocks in the retransmission queue.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sender_cpu_clean: Option<Option<f64>> = ["1"]
            "The share that went into freeing packets that ACKs acknowledged.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sender_cpu_fastretrans: Option<Option<f64>> = ["1"]
            "The share that went into retransmitting packets.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub sender_cpu_waiting: Option<u64> = ["segments"]
            "The maximum number of segments that waited for the processor of a sender.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub receiver_cpu: Option<Option<f64>> = ["1"] "As `sender_cpu`, of the receiver.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub receiver_cpu_peak: Option<f64> = ["1"] "As `sender_cpu_peak`, of a receiver.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub receiver_cpu_data_queue: Option<Option<f64>> = ["1"]
            "Of the receiver's busy time, the share that went into finding the places of segments in the out-of-order queue.";
    }
}
