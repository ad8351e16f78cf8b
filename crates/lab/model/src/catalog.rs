//! A model in the form that the command line uses: a name, parameters, and rows of cells.

use serde_json::Map;

use super::error::ModelError;
use super::settings::{Parameter, Quantity, Settings};
use firstflight_scenario::kind::Kind;

/// A model in the form that the command line uses.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// The model's name on the command line.
    pub name: &'static str,
    /// The question that the model answers, in one line.
    pub summary: &'static str,
    /// The paper or RFC of the model.
    pub source: &'static str,
    /// The parameters of the model.
    pub parameters: &'static [Parameter],
    /// Computes the unset parameters that follow from other parameters.
    pub(super) complete: fn(&mut Settings) -> Result<(), ModelError>,
    /// Computes the rows of the answer.
    pub(super) rows: fn(&Settings) -> Result<Vec<Row>, ModelError>,
}

/// A row of the answer.
pub type Row = Vec<Cell>;

/// A quantity of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Name of the quantity's field in rows. It ends in the unit.
    pub name: &'static str,
    /// The quantity's meaning, with its equation in the source.
    pub what: &'static str,
    /// The quantity's unit.
    pub unit: Unit,
    /// The quantity's value.
    pub value: Value,
    /// Whether a table of several rows shows the quantity, and a plot draws it as a curve.
    pub main: bool,
}

/// The unit of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Bits per second.
    BitsPerSecond,
    /// Bytes.
    Bytes,
    /// Segments.
    Packets,
    /// No unit: a count, a share, a ratio, or a word.
    One,
}

/// The value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(u64),
    /// A word.
    Word(&'static str),
    /// The quantity is undefined for these settings.
    None,
}

impl Model {
    /// Returns the settings with all unset parameters filled in, and the rows for them.
    ///
    /// # Errors
    /// A value outside the model's domain, by the name of its parameter.
    pub fn evaluate(&self, settings: &Settings) -> Result<(Settings, Vec<Row>), ModelError> {
        let mut settings = settings.clone();
        (self.complete)(&mut settings)?;
        let rows = (self.rows)(&settings)?;
        Ok((settings, rows))
    }

    /// Returns the parameter named `name`.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

/// Returns a row as one object: the model, its settings, its answer, and the version.
pub fn object(model: &Model, settings: &Settings, row: &[Cell]) -> Map<String, serde_json::Value> {
    let mut object = Map::new();
    object.insert("model".to_owned(), model.name.into());
    for (parameter, quantity) in settings.iter() {
        object.insert(column(parameter), quantity.map_or(serde_json::Value::Null, input));
    }
    for cell in row {
        object.insert(cell.name.to_owned(), cell.value.json());
    }
    object.insert("version".to_owned(), env!("CARGO_PKG_VERSION").into());
    object
}

/// Returns the field of a parameter: its name with the unit.
pub(super) fn column(parameter: &Parameter) -> String {
    format!("{}{}", parameter.name.replace('-', "_"), parameter.suffix())
}

fn input(quantity: Quantity) -> serde_json::Value {
    match quantity {
        Quantity::Rate(rate) => rate.bps().into(),
        Quantity::Size(bytes) => bytes.get().into(),
        Quantity::Packets(packets) => packets.into(),
        Quantity::Count(count) => count.into(),
        Quantity::Word(word) => word.into(),
        Quantity::Span(_) | Quantity::Share(_) | Quantity::PerSecond(_) => quantity.number().into(),
    }
}

impl Parameter {
    /// Returns the name of the parameter's field in rows.
    pub fn column(&self) -> String {
        column(self)
    }

    /// Returns whether a curve over the parameter has a logarithmic axis, as for quantities that span orders of
    /// magnitude.
    pub fn is_logarithmic(&self) -> bool {
        !matches!(self.kind, Kind::Share | Kind::Count(_) | Kind::Word(_))
    }
}

impl Value {
    /// Returns the value as JSON; null if it is undefined or not finite.
    pub fn json(&self) -> serde_json::Value {
        match self {
            Self::Number(number) => (*number).into(),
            Self::Whole(number) => (*number).into(),
            Self::Word(word) => (*word).into(),
            Self::None => serde_json::Value::Null,
        }
    }

    /// Returns the value as a number, if it is one.
    #[expect(clippy::cast_precision_loss, reason = "for a curve")]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number).filter(|number| number.is_finite()),
            Self::Whole(number) => Some(*number as f64),
            Self::Word(_) | Self::None => None,
        }
    }
}

impl Cell {
    /// Returns a cell with a number in this unit.
    pub(super) fn number(name: &'static str, unit: Unit, value: f64, what: &'static str) -> Self {
        Self { name, what, unit, value: Value::Number(value), main: false }
    }

    /// Returns a cell with a number that may be undefined.
    pub(super) fn maybe(name: &'static str, unit: Unit, value: Option<f64>, what: &'static str) -> Self {
        Self { name, what, unit, value: value.map_or(Value::None, Value::Number), main: false }
    }

    /// Returns a cell with a time in seconds.
    pub(super) fn seconds(name: &'static str, value: f64, what: &'static str) -> Self {
        Self::number(name, Unit::Seconds, value, what)
    }

    /// Returns a cell with a number without a unit.
    pub(super) fn plain(name: &'static str, value: f64, what: &'static str) -> Self {
        Self::number(name, Unit::One, value, what)
    }

    /// Returns a cell with a whole number without a unit.
    pub(super) fn whole(name: &'static str, value: impl Into<u64>, what: &'static str) -> Self {
        Self { name, what, unit: Unit::One, value: Value::Whole(value.into()), main: false }
    }

    /// Returns a cell with a number of whole segments.
    pub(super) fn packets(name: &'static str, value: u64, what: &'static str) -> Self {
        Self { unit: Unit::Packets, ..Self::whole(name, value, what) }
    }

    /// Returns a cell with a word.
    pub(super) fn word(name: &'static str, value: &'static str, what: &'static str) -> Self {
        Self { name, what, unit: Unit::One, value: Value::Word(value), main: false }
    }

    /// Marks the cell as a main quantity ([`Cell::main`]).
    pub(super) fn main(self) -> Self {
        Self { main: true, ..self }
    }
}

impl Unit {
    /// Returns the unit's symbol; empty for no unit.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::BitsPerSecond => "bit/s",
            Self::Bytes => "B",
            Self::Packets => "p",
            Self::One => "",
        }
    }
}
