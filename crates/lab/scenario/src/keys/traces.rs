//! Keys of properties of the path that change over time.

use super::path::never;
use super::row::{Heading, Key, row};
use crate::kind::Kind;
use crate::traces::{self, TraceOrigin};

const PATH: Key = row(Heading::Path);

pub(super) const KEYS: &[Key] = &[Key {
    name: "delay-trace",
    kind: Kind::Text("FILE"),
    help: "Extra delay of the data at the first bottleneck over time, in addition to --rtt: 0s=0,15s=20ms, a file with one \
           `TIME DELAY` a line or netem-trace's JSON, or synthetic leo; then any of loop, loop=TIME, once, start=TIME, \
           start=random. Order is kept",
    default: Some("none"),
    examples: &["0s=0,15s=20ms", "0s=5ms,1s=0,loop=2s,start=random", "leo:min=0,max=20ms,slot=15s"],
    excludes: &[never("flows", "it is of one direction of one path")],
    real: true,
    place: 81,
    parse: |options, text| {
        let plain = &mut options.plain;
        if text.trim() == "none" {
            (plain.delay_trace, plain.delay_origin, options.delay_trace_file) = (None, None, None);
            return Ok(());
        }
        let given = traces::delays(text)?;
        (plain.delay_trace, plain.delay_origin) = (Some(given.trace), given.origin);
        options.delay_trace_file = given.file;
        Ok(())
    },
    show: |path| match &path.delay_origin {
        Some(origin) => Some(origin.text.clone()),
        None => path.delay_trace.as_ref().map(traces::show_delays),
    },
    title: |path| {
        let synthetic = path.delay_origin.as_ref().and_then(TraceOrigin::synthetic);
        path.delay_trace.as_ref().map(|_| match synthetic {
            Some(law) => format!("an extra synthetic delay {law}"),
            None => "an extra delay along a trace".to_owned(),
        })
    },
    ..PATH
}];
