//! Measurements in windows of a run. They are fields of a row, whose names end with the window.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A row's windows, as fields of the row: `utilisation_10s_70s` and so on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Windows(pub Vec<WindowFields>);

/// The fields of one window. `None` (JSON `null`) if the run ended before the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowFields {
    /// The last part of the fields' names, which names the window.
    pub suffix: String,
    /// The share of the bottleneck's capacity that its transmitter used; with several bottlenecks, the maximum. It is also `None` for a
    /// link without a rate.
    pub utilisation: Option<f64>,
    /// Payload of the row's flows delivered in order within the window, over the window's length.
    pub goodput_bps: Option<f64>,
    /// Packets of all traffic that the bottleneck with this utilisation dropped.
    pub dropped_packets: Option<u64>,
    /// The fields of the links that the scenario names, in the scenario's order.
    pub links: Vec<LinkFields>,
}

/// The fields of one link in one window. `None` (JSON `null`) if the run ended before the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkFields {
    /// The last part of the fields' names, which names the link and follows the window.
    pub suffix: String,
    /// The share of the link's capacity that its transmitter used. It is also `None` for a link without a rate.
    pub utilisation: Option<f64>,
    /// Payload of all flows whose data cross the link, and all bytes of datagrams, delivered within the window, over the window's length.
    pub goodput_bps: Option<f64>,
    /// Packets of all traffic that the link dropped.
    pub dropped_packets: Option<u64>,
}

/// The first parts of the names of a window's fields.
pub const WINDOW_FIELDS: [&str; 3] = ["utilisation", "goodput_bps", "dropped_packets"];

impl Serialize for Windows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [utilisation, goodput, dropped] = WINDOW_FIELDS;
        let mut map = serializer.serialize_map(None)?;
        for window in &self.0 {
            let name = |stem: &str| format!("{stem}_{}", window.suffix);
            map.serialize_entry(&name(utilisation), &window.utilisation)?;
            map.serialize_entry(&name(goodput), &window.goodput_bps)?;
            map.serialize_entry(&name(dropped), &window.dropped_packets)?;
            for link in &window.links {
                let name = |stem: &str| format!("{stem}_{}_{}", window.suffix, link.suffix);
                map.serialize_entry(&name(utilisation), &link.utilisation)?;
                map.serialize_entry(&name(goodput), &link.goodput_bps)?;
                map.serialize_entry(&name(dropped), &link.dropped_packets)?;
            }
        }
        map.end()
    }
}
