//! Columns of fields that no row declares.

use firstflight_measure::{Column, Kind};

pub(crate) const fn text(name: &'static str, meaning: &'static str) -> Column {
    Column { name, unit: "", kind: Kind::Text, meaning }
}

pub(crate) const fn real(name: &'static str, unit: &'static str, meaning: &'static str) -> Column {
    Column { name, unit, kind: Kind::Real, meaning }
}

pub(crate) const fn whole(name: &'static str, unit: &'static str, meaning: &'static str) -> Column {
    Column { name, unit, kind: Kind::Whole, meaning }
}
