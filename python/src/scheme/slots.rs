//! The classes of the commands in progress, as entries of registries.
//!
//! An entry builds its scheme by a function without a state, so each of these functions has its slot, which holds the class for as
//! long as the command lasts. Entries live for ever; equal classes in equal slots share them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use firstflight::registry::{
    Ability, AnyScheme, Help, Kind, Needs, Parameter, Registry, SchemeEntry, Settings, Value,
};
use firstflight::schemes::Initial;
use firstflight::{Bytes, Rate, Span};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use pyo3::{IntoPyObjectExt, intern};

use super::bridge::PyScheme;
use super::class::{Class, required};
use super::watch::{MODULE, Watch};

/// Builds the scheme of the class in a slot.
fn make<const SLOT: usize>(initial: Initial, settings: &Settings<'_>) -> AnyScheme {
    let found = match locked(&SLOTS).get(SLOT) {
        Some(Slot::Taken(class, parameters)) => Some((Arc::clone(class), *parameters)),
        _ => None,
    };
    let (class, parameters) = found.expect("an entry is used only while its command lasts");
    let values = Python::attach(|py| {
        let value = |parameter: &Parameter| {
            let value = settings.value(parameter.name).unwrap_or(parameter.default);
            (parameter.name, object(py, value))
        };
        parameters.iter().map(value).collect::<Vec<_>>()
    });
    AnyScheme::outside(PyScheme::new(&class, initial, &values))
}

/// Returns the value of a parameter as an object of Python.
fn object(py: Python<'_>, value: Value) -> Py<PyAny> {
    let made = match value {
        Value::Count(count) => count.into_py_any(py),
        Value::Span(span) => span.nanos().into_py_any(py),
        Value::Rate(rate) => rate.bps().into_py_any(py),
        Value::Bytes(bytes) => bytes.get().into_py_any(py),
        Value::Fraction { ppm } => (f64::from(ppm) / 1e6).into_py_any(py),
        Value::Word(word) => word.into_py_any(py),
    };
    made.unwrap_or_else(|_| py.None())
}

enum Slot {
    Free,
    Taken(Arc<Class>, &'static [Parameter]),
}

type Make = fn(Initial, &Settings<'_>) -> AnyScheme;

macro_rules! slots {
    ($($slot:literal)+) => {
        /// The functions that build the schemes of the slots.
        const MAKES: &[Make] = &[$(make::<$slot>),+];
        static SLOTS: Mutex<[Slot; MAKES.len()]> = Mutex::new([$({ let _ = $slot; Slot::Free }),+]);
    };
}

slots! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
    16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
    48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
}

/// The entries that were made, by all that distinguishes them.
static ENTRIES: Mutex<BTreeMap<String, SchemeEntry>> = Mutex::new(BTreeMap::new());
/// The lists of entries that were made.
static LISTS: Mutex<BTreeMap<String, &'static [SchemeEntry]>> = Mutex::new(BTreeMap::new());

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The classes of one command. Their slots are free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Registered {
    slots: Vec<usize>,
    registry: Registry,
}

impl Drop for Registered {
    fn drop(&mut self) {
        for slot in &self.slots {
            let freed = locked(&SLOTS).get_mut(*slot).map(|slot| std::mem::replace(slot, Slot::Free));
            // The class is dropped without the lock, because its code may run then.
            drop(freed);
        }
    }
}

impl Registered {
    /// Registers classes for one command. Its rows have the hash of the code of those that are `true`, in whatever order.
    ///
    /// # Errors
    /// The exception for a class that is no scheme, or if there are more classes than slots.
    pub(crate) fn new(
        py: Python<'_>,
        classes: Vec<(Bound<'_, PyType>, bool)>,
        watch: &Arc<Watch>,
    ) -> PyResult<Self> {
        let mut made = Self { slots: Vec::new(), registry: Registry::builtin() };
        let mut entries = Vec::new();
        let (mut source, mut key) = (BTreeSet::<String>::new(), String::new());
        for (class, is_raced) in classes {
            let description = py.import(MODULE)?.call_method1(intern!(py, "_described"), (&class,))?;
            let description = description.cast::<PyDict>()?;
            if is_raced {
                source.insert(required(description, "source")?.extract()?);
            }
            let taken = made.slots.clone();
            let free = |slots: &[Slot]| {
                slots
                    .iter()
                    .enumerate()
                    .position(|(at, slot)| matches!(slot, Slot::Free) && !taken.contains(&at))
            };
            // Another thread of Python may register at the same time, so the slot is looked for again at the end.
            let mut slot = free(&*locked(&SLOTS)).ok_or_else(too_many)?;
            loop {
                let (text, entry) = entry(description, slot)?;
                let class = Arc::new(Class::new(entry.name, &class, description, watch)?);
                let mut slots = locked(&SLOTS);
                if let Some(place @ Slot::Free) = slots.get_mut(slot) {
                    *place = Slot::Taken(class, entry.parameters);
                    made.slots.push(slot);
                    key.push_str(&text);
                    entries.push(entry);
                    break;
                }
                slot = free(&*slots).ok_or_else(too_many)?;
            }
        }
        let list = *locked(&LISTS).entry(key).or_insert_with(|| Box::leak(entries.into_boxed_slice()));
        made.registry = if list.is_empty() {
            Registry::builtin()
        } else {
            let source: String = source.into_iter().collect();
            Registry::builtin().with_schemes(list).with_source(&source)
        };
        Ok(made)
    }

    /// Returns the registry with the classes.
    pub(crate) fn registry(&self) -> Registry {
        self.registry
    }

    /// Leaves the slots taken, because a thread of the command could not be ended.
    pub(crate) fn abandon(self) {
        std::mem::forget(self);
    }
}

fn too_many() -> PyErr {
    PyValueError::new_err(format!("too many schemes: allowed are {} classes at a time", MAKES.len()))
}

/// Returns the entry of a description in a slot, with a text that distinguishes it.
fn entry(description: &Bound<'_, PyDict>, slot: usize) -> PyResult<(String, SchemeEntry)> {
    let text = format!("{slot} {}\n", required(description, "entry")?.repr()?);
    if let Some(known) = locked(&ENTRIES).get(&text) {
        return Ok((text, *known));
    }
    let fields = required(description, "entry")?;
    let fields = fields.cast::<PyDict>()?;
    let word =
        |name: &str| -> PyResult<&'static str> { Ok(leaked(&required(fields, name)?.extract::<String>()?)) };
    let mut parameters = Vec::new();
    for fields in required(fields, "parameters")?.try_iter()? {
        parameters.push(parameter(fields?.cast::<PyDict>()?)?);
    }
    let entry = SchemeEntry {
        name: word("name")?,
        summary: word("summary")?,
        source: word("source")?,
        law: word("law")?,
        parameters: Box::leak(parameters.into_boxed_slice()),
        needs: needs(fields)?,
        make: MAKES[slot],
    };
    locked(&ENTRIES).insert(text.clone(), entry);
    Ok((text, entry))
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// Returns the word for an ability: `ack-clock` for [`Ability::AckClock`].
fn word(ability: Ability) -> String {
    let mut word = String::new();
    for letter in format!("{ability:?}").chars() {
        if letter.is_ascii_uppercase() && !word.is_empty() {
            word.push('-');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}

fn needs(fields: &Bound<'_, PyDict>) -> PyResult<Needs> {
    let abilities = |name: &str| -> PyResult<Vec<Ability>> {
        let words: Vec<String> = required(fields, name)?.extract()?;
        words.iter().map(|text| ability(name, text)).collect()
    };
    let needs = Needs::of(&abilities("needs")?).using(&abilities("uses")?);
    let help: Vec<String> = required(fields, "helped_by")?.extract()?;
    help.iter().try_fold(needs, |needs, text| {
        let found = Help::ALL.into_iter().find(|help| help.name() == text);
        let words = || Help::ALL.map(Help::name).join(", ");
        found.map(|help| needs.helped_by(help)).ok_or_else(|| {
            PyValueError::new_err(format!("helped_by: `{text}` is not allowed; {} is", words()))
        })
    })
}

fn ability(field: &str, text: &str) -> PyResult<Ability> {
    let found = Ability::ALL.into_iter().find(|ability| word(*ability) == text);
    found.ok_or_else(|| {
        let words: Vec<_> = Ability::ALL.into_iter().map(word).collect();
        PyValueError::new_err(format!("{field}: `{text}` is not allowed; {} is", words.join(", ")))
    })
}

fn parameter(fields: &Bound<'_, PyDict>) -> PyResult<Parameter> {
    let number = |name: &str| -> PyResult<u64> { required(fields, name)?.extract() };
    let kind: String = required(fields, "kind")?.extract()?;
    let ppm = |name: &str| -> PyResult<u32> { required(fields, name)?.extract() };
    let (kind, default) = match kind.as_str() {
        "fraction" => (
            Kind::Fraction { min_ppm: ppm("min")?, max_ppm: ppm("max")? },
            Value::Fraction { ppm: ppm("default")? },
        ),
        "time" => (
            Kind::Span { min: Span::from_nanos(number("min")?), max: Span::from_nanos(number("max")?) },
            Value::Span(Span::from_nanos(number("default")?)),
        ),
        "rate" => (
            Kind::Rate { min: Rate::from_bps(number("min")?), max: Rate::from_bps(number("max")?) },
            Value::Rate(Rate::from_bps(number("default")?)),
        ),
        "size" => (
            Kind::Bytes { min: Bytes::new(number("min")?), max: Bytes::new(number("max")?) },
            Value::Bytes(Bytes::new(number("default")?)),
        ),
        "word" => {
            let words: Vec<String> = required(fields, "words")?.extract()?;
            let words: Vec<&'static str> = words.iter().map(|word| leaked(word)).collect();
            let kind = Kind::Word(Box::leak(words.into_boxed_slice()));
            let default: String = required(fields, "default")?.extract()?;
            let found = kind.word(&default);
            let refuse = || PyValueError::new_err(format!("the default `{default}` is none of the words"));
            (kind, found.ok_or_else(refuse)?)
        }
        _ => (Kind::Count { min: number("min")?, max: number("max")? }, Value::Count(number("default")?)),
    };
    let name: String = required(fields, "name")?.extract()?;
    let help: String = required(fields, "help")?.extract()?;
    Ok(Parameter { name: leaked(&name), kind, default, help: leaked(&help) })
}
