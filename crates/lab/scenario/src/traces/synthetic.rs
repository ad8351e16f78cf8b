//! The text forms of synthetic traces.

use firstflight::{Rate, Span};
use firstflight_sim::{CellularSpec, SlotsSpec};

use super::values::{rate, span};
use crate::quantity::{self, QuantityError, Why, refuse, show_rate, show_span};

const LTE: &str = "`lte` is a synthetic rate, in 100-ms bins, with any of mean=RATE, silent=SHARE, sigma=NUMBER, as in \
                   `lte:mean=5.03mbit,silent=1.6%,sigma=0.6`";

/// The unit of a trace over slots.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    min: u64,
    max: u64,
    read: fn(&str) -> Result<u64, QuantityError>,
    show: fn(u64) -> String,
    allowed: &'static str,
}

pub(super) const LEO_RATES: Unit = Unit {
    min: 50_000_000,
    max: 250_000_000,
    read: |text| rate(text).map(Rate::bps),
    show: |bps| show_rate(Rate::from_bps(bps)),
    allowed: "`leo` is a synthetic rate that steps every slot, with any of min=RATE, max=RATE, slot=TIME, as in \
              `leo:min=50mbit,max=250mbit,slot=15s`",
};

pub(super) const LEO_DELAYS: Unit = Unit {
    min: 0,
    max: 20_000_000,
    read: |text| span(text).map(Span::nanos),
    show: |nanos| if nanos == 0 { "0".to_owned() } else { show_span(Span::from_nanos(nanos)) },
    allowed: "`leo` is a synthetic delay that steps every slot, with any of min=TIME, max=TIME, slot=TIME, as in \
              `leo:min=0,max=20ms,slot=15s`",
};

/// Returns the name of a synthetic trace and its settings; `None` for another text.
pub(super) fn name<'a>(text: &'a str, names: &[&'static str]) -> Option<(&'static str, &'a str)> {
    let (name, settings) = text.split_once(':').unwrap_or((text, ""));
    names.iter().find(|known| **known == name).map(|known| (*known, settings))
}

/// Calls `set` with each setting and its value.
fn settings<'a>(
    text: &'a str,
    allowed: &'static str,
    mut set: impl FnMut(&'a str, &'a str) -> Result<bool, QuantityError>,
) -> Result<(), QuantityError> {
    let mut said = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=').ok_or_else(|| refuse(part, Why::UnknownWord, allowed))?;
        if said.contains(&key) {
            return Err(refuse(part, Why::Conflict, allowed));
        }
        said.push(key);
        if !set(key, value).map_err(|error| QuantityError { allowed: allowed.into(), ..error })? {
            return Err(refuse(part, Why::UnknownWord, allowed));
        }
    }
    Ok(())
}

pub(super) fn cellular(text: &str) -> Result<CellularSpec, QuantityError> {
    let mut spec = CellularSpec { mean: Rate::from_bps(5_030_000), silent_ppm: 16_000, sigma_milli: 600 };
    settings(text, LTE, |key, value| {
        let out_of_range = || refuse(value, Why::OutOfRange, LTE);
        match key {
            "mean" => spec.mean = quantity::rate(value)?,
            "silent" => {
                let parts =
                    quantity::fraction(value)?.times(1_000_000).and_then(|parts| u32::try_from(parts).ok());
                spec.silent_ppm = parts.filter(|ppm| *ppm <= 990_000).ok_or_else(out_of_range)?;
            }
            "sigma" => {
                let number: f64 = value.parse().map_err(|_| refuse(value, Why::NoNumber, LTE))?;
                if !(0.0..=3.0).contains(&number) {
                    return Err(out_of_range());
                }
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "it is from 0 to 3000"
                )]
                let milli = (number * 1e3).round() as u32;
                spec.sigma_milli = milli;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(spec)
}

pub(super) fn show_cellular(spec: CellularSpec) -> String {
    let CellularSpec { mean, silent_ppm, sigma_milli } = spec;
    let (silent, sigma) = (f64::from(silent_ppm) / 1e6, f64::from(sigma_milli) / 1e3);
    format!("lte:mean={},silent={silent},sigma={sigma}", show_rate(mean))
}

pub(super) fn slots(text: &str, unit: Unit) -> Result<SlotsSpec, QuantityError> {
    let mut spec = SlotsSpec { slot: Span::from_secs(15), min: unit.min, max: unit.max };
    settings(text, unit.allowed, |key, value| {
        match key {
            "min" => spec.min = (unit.read)(value)?,
            "max" => spec.max = (unit.read)(value)?,
            "slot" => spec.slot = quantity::span(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    if spec.min > spec.max || spec.max == 0 {
        return Err(refuse(text, Why::OutOfRange, unit.allowed));
    }
    if spec.slot < Span::from_millis(1) {
        return Err(refuse(text, Why::OutOfRange, "a slot lasts 1ms or longer"));
    }
    Ok(spec)
}

pub(super) fn show_slots(spec: SlotsSpec, unit: Unit) -> String {
    let SlotsSpec { slot, min, max } = spec;
    format!("leo:min={},max={},slot={}", (unit.show)(min), (unit.show)(max), show_span(slot))
}
