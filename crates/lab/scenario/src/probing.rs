//! How a path is probed with trains, as text: `bracket`, `paper,packets=60`, `gap:300us`.

use std::fmt;

use firstflight::probe::{Control, MAX_PACKETS, Setting};
use firstflight::{Bytes, Span};

use crate::quantity::{self, QuantityError, Why, refuse, show_span};
use crate::suggest::{folded, meant};

/// The search and the settings with which a path is probed. A train's packets are those of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeChoice {
    /// The settings of the prober. Its packet size is a placeholder: [`Self::setting()`] sets the path's.
    setting: Setting,
}

/// The searches by name. A single gap instead of a search is `gap:TIME`.
const CONTROLS: [(&str, Control); 3] =
    [("bracket", Control::Bracket), ("paper", Control::Paper), ("program", Control::Program)];
const GAP: &str = "gap";
const SETTINGS: [&str; 5] = ["packets", "repeats", "trains", "tolerance", "slack"];

const ALLOWED: &str = "trains are `bracket`, `paper`, `program` or `gap:TIME`, each with `,packets=3…256,repeats=…,trains=…,\
                       tolerance=…%,slack=TIME` if wanted, or `none`";

/// A placeholder for the packet size, which the path determines.
const ANY: Bytes = Bytes::new(1);

/// Reads how a path is probed; `none` for no probing.
///
/// # Errors
/// An unknown search or setting, a setting that is given twice or is impossible.
pub(crate) fn probe(text: &str) -> Result<Option<ProbeChoice>, QuantityError> {
    let mut parts = text.trim().split(',');
    let how = parts.next().unwrap_or_default().trim();
    if how == "none" {
        return if text.trim() == how { Ok(None) } else { Err(refuse(text, Why::Conflict, ALLOWED)) };
    }
    let control = match how.split_once(':') {
        Some((GAP, gap)) => Control::Gap(quantity::span(gap)?),
        None => CONTROLS
            .iter()
            .find(|(name, _)| *name == folded(how))
            .map(|(_, control)| *control)
            .ok_or_else(|| unknown(how))?,
        Some(_) => return Err(unknown(how)),
    };
    let mut setting = Setting::of(control, ANY);
    let mut said = Vec::new();
    for part in parts {
        let Some((key, value)) = part.trim().split_once('=') else {
            return Err(refuse(part, Why::UnknownWord, ALLOWED));
        };
        if said.contains(&key) {
            return Err(refuse(part, Why::Conflict, ALLOWED));
        }
        said.push(key);
        match key {
            "packets" => setting.packets = number(value.strip_suffix('p').unwrap_or(value))?,
            "repeats" => setting.repeats = number(value)?,
            "trains" => setting.most_trains = number(value)?,
            "tolerance" => setting.tolerance_ppm = quantity::ppm(value)?,
            "slack" => setting.slack = if value == "0" { Span::ZERO } else { quantity::span(value)? },
            _ => {
                let hint = meant(key, &[], SETTINGS);
                return Err(refuse(part, Why::UnknownWord, hint.unwrap_or_else(|| ALLOWED.to_owned())));
            }
        }
    }
    if said.contains(&"repeats") && !said.contains(&"trains") {
        setting.most_trains = Setting::of(control, ANY).repeated(setting.repeats).most_trains;
    }
    setting.check().map_err(|_| refuse(text, Why::TooLarge, ALLOWED))?;
    Ok(Some(ProbeChoice { setting }))
}

fn number(text: &str) -> Result<u16, QuantityError> {
    let count = quantity::count(text)?;
    u16::try_from(count).map_err(|_| refuse(text, Why::TooLarge, ALLOWED))
}

fn unknown(how: &str) -> QuantityError {
    let hint = meant(how, &[], CONTROLS.iter().map(|(name, _)| *name));
    refuse(how, Why::UnknownWord, hint.unwrap_or_else(|| ALLOWED.to_owned()))
}

impl ProbeChoice {
    /// Returns the settings of the prober with packets of `wire` IP bytes.
    pub fn setting(self, wire: u32) -> Setting {
        Setting { wire: Bytes::new(u64::from(wire)), ..self.setting }
    }

    /// Returns the probing in words, for titles.
    pub(crate) fn describe(self) -> String {
        let Setting { control, packets, .. } = self.setting;
        let how = match control {
            Control::Bracket => "that bracket the turning point".to_owned(),
            Control::Paper => "with the gaps of PTR's paper".to_owned(),
            Control::Program => "with the gaps of PTR's program".to_owned(),
            Control::Gap(gap) => format!("with a gap of {}", quantity::humane_span(gap)),
        };
        format!("trains of {packets} packets {how}")
    }
}

impl fmt::Display for ProbeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setting { control, packets, repeats, tolerance_ppm, slack, most_trains, .. } = self.setting;
        match control {
            Control::Gap(gap) => write!(f, "{GAP}:{}", show_span(gap))?,
            control => {
                let name = CONTROLS.iter().find(|(_, known)| *known == control);
                f.write_str(name.map_or("", |(name, _)| name))?;
            }
        }
        let plain = Setting::of(control, ANY);
        if packets != plain.packets {
            write!(f, ",packets={packets}")?;
        }
        if repeats != plain.repeats {
            write!(f, ",repeats={repeats}")?;
        }
        if most_trains != plain.repeated(repeats).most_trains {
            write!(f, ",trains={most_trains}")?;
        }
        if tolerance_ppm != plain.tolerance_ppm {
            write!(f, ",tolerance={}", show_percent(tolerance_ppm))?;
        }
        if slack != plain.slack {
            let shown = if slack.is_zero() { "0".to_owned() } else { show_span(slack) };
            write!(f, ",slack={shown}")?;
        }
        Ok(())
    }
}

/// Returns a number of millionths as a percentage.
fn show_percent(ppm: u32) -> String {
    let shown = format!("{}.{:04}", ppm / 10_000, ppm % 10_000);
    format!("{}%", shown.trim_end_matches('0').trim_end_matches('.'))
}

const _: () = assert!(MAX_PACKETS == 256, "`ALLOWED` says so");

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Setting {
        probe(text).expect(text).expect("trains").setting(1_000)
    }

    #[test]
    fn a_search_has_its_own_settings_unless_others_are_said() {
        assert_eq!(read("paper"), Setting::of(Control::Paper, Bytes::new(1_000)));
        let setting = read("gap:300us,packets=60p,tolerance=5%,slack=0");
        assert_eq!(setting.control, Control::Gap(Span::from_micros(300)));
        assert_eq!((setting.packets, setting.tolerance_ppm, setting.slack), (60, 50_000, Span::ZERO));
        assert_eq!(probe("none"), Ok(None));
    }

    /// If each gap has several trains, the maximum number of trains rises, so that the number of gaps to try stays the same.
    #[test]
    fn repeats_bring_their_trains_along() {
        assert_eq!(read("bracket,repeats=3").most_trains, 30);
        assert_eq!(read("bracket,repeats=3,trains=12").most_trains, 12);
        assert_eq!(read("program").most_trains, 300);
    }

    #[test]
    fn probe_choices_round_trip_as_text() {
        for text in [
            "bracket",
            "paper,packets=60",
            "program,repeats=1",
            "gap:300us,packets=60,tolerance=5%,slack=1us",
            "bracket,repeats=2,trains=7,tolerance=2.5%,slack=0",
        ] {
            let choice = probe(text).expect(text).expect("trains");
            assert_eq!(choice.to_string(), text);
            assert_eq!(probe(&choice.to_string()), Ok(Some(choice)));
        }
    }

    #[test]
    fn invalid_probe_choices_are_refused_in_one_line() {
        for text in [
            "",
            "fast",
            "gap",
            "gap:",
            "gap:0ms",
            "gap:none",
            "bracket,",
            "bracket,packets",
            "bracket,packets=2",
            "bracket,packets=257",
            "bracket,packets=16,packets=17",
            "bracket,repeats=0",
            "bracket,trains=0",
            "bracket,tolerance=100%",
            "bracket,colour=2",
            "none,packets=16",
            "bracket,trains=70000",
        ] {
            let error = probe(text).expect_err(text).to_string();
            assert!(!error.contains('\n'), "{error}");
        }
    }
}
