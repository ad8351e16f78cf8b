//! The schemas in which a qlog is written: the names of its events, and its first record.

use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use qlog::events::QUIC_URI;
use qlog::{
    CommonFields, QLOGFILESEQ_URI, QlogSeq, ReferenceTime, TimeFormat, TraceSeq, VantagePoint,
    VantagePointType,
};
use serde_json::{Value, json};

use super::flow::{LoggedEnd, LoggedFlow};

/// The schema of the events named `firstflight:…`, which docs/reference/exports.md lists.
const OWN_URI: &str = "urn:x-firstflight:qlog:events:firstflight-1";

/// The version of the schema of a qlog.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum QlogSchema {
    /// Version 0.3: draft-ietf-quic-qlog-main-schema-03 and draft-ietf-quic-qlog-quic-events-02. qvis reads it.
    #[default]
    V03,
    /// The newest drafts: draft-ietf-quic-qlog-main-schema-13 and draft-ietf-quic-qlog-quic-events-12.
    Draft,
}

impl FromStr for QlogSchema {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "0.3" => Ok(Self::V03),
            "draft" => Ok(Self::Draft),
            _ => Err("it is 0.3, which qvis reads, or draft, the newest".to_owned()),
        }
    }
}

/// The events whose names differ: the name in the newest drafts, and the name in version 0.3.
const NAMES: [(&str, &str); 8] = [
    ("quic:recovery_parameters_set", "recovery:parameters_set"),
    ("quic:recovery_metrics_updated", "recovery:metrics_updated"),
    ("quic:congestion_state_updated", "recovery:congestion_state_updated"),
    ("quic:timer_updated", "recovery:loss_timer_updated"),
    ("quic:packet_lost", "recovery:packet_lost"),
    ("quic:packet_sent", "transport:packet_sent"),
    ("quic:packet_received", "transport:packet_received"),
    ("quic:packets_acked", "transport:packets_acked"),
];

impl QlogSchema {
    /// Returns the name of an event in this schema. `newest` is its name in the newest drafts.
    pub(super) fn name(self, newest: &str) -> &str {
        let found = NAMES.iter().find(|(name, _)| self == Self::V03 && *name == newest);
        found.map_or(newest, |(_, name)| name)
    }

    /// Gives the data of an event the form that it has in this schema. `data` has the form of the newest drafts.
    pub(super) fn shape(self, data: &mut Value) {
        if self == Self::Draft {
            return;
        }
        // In version 0.3 a frame has its length itself.
        for frame in data.get_mut("frames").and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(frame) = frame.as_object_mut() else { continue };
            if let Some(length) = frame.remove("raw").and_then(|raw| raw.get("payload_length").cloned()) {
                frame.insert("length".to_owned(), length);
            }
        }
    }

    /// Returns the first record of a flow's file.
    pub(super) fn first_record(self, flow: &LoggedFlow) -> Value {
        match self {
            Self::V03 => of_version_3(flow),
            Self::Draft => json!(of_the_newest(flow)),
        }
    }
}

fn vantage_point(flow: &LoggedFlow) -> VantagePoint {
    let is_sender = flow.end == LoggedEnd::Sender;
    VantagePoint {
        name: Some(format!("the data's {}", if is_sender { "sender" } else { "receiver" })),
        ty: if is_sender { VantagePointType::Client } else { VantagePointType::Server },
        flow: None,
    }
}

/// Returns the header of version 0.3. Its reference time is a number of milliseconds since 1970; in a simulation it is zero.
fn of_version_3(flow: &LoggedFlow) -> Value {
    let began = flow.began.unwrap_or(SystemTime::UNIX_EPOCH).duration_since(UNIX_EPOCH).unwrap_or_default();
    json!({
        "qlog_version": "0.3",
        "qlog_format": "JSON-SEQ",
        "title": flow.name,
        "description": flow.description,
        "trace": {
            "title": flow.name,
            "description": flow.description,
            "vantage_point": vantage_point(flow),
            "common_fields": {
                "protocol_type": ["TCP"],
                "reference_time": began.as_secs_f64() * 1e3,
                "time_format": "relative",
            },
        },
    })
}

fn of_the_newest(flow: &LoggedFlow) -> QlogSeq {
    QlogSeq {
        file_schema: QLOGFILESEQ_URI.to_owned(),
        serialization_format: "application/qlog+json-seq".to_owned(),
        title: Some(flow.name.clone()),
        description: Some(flow.description.clone()),
        trace: TraceSeq {
            title: Some(flow.name.clone()),
            description: Some(flow.description.clone()),
            common_fields: Some(CommonFields {
                tuple: None,
                group_id: None,
                protocol_types: Some(vec!["TCP".to_owned()]),
                // The simulator's clock is zero at the start of the run. It is not a wall clock.
                reference_time: ReferenceTime::new_monotonic(flow.began),
                time_format: Some(TimeFormat::RelativeToEpoch),
            }),
            vantage_point: Some(vantage_point(flow)),
            event_schemas: vec![QUIC_URI.to_owned(), OWN_URI.to_owned()],
        },
    }
}
