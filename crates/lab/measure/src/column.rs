//! The columns of rows: each field of a row with its name, its unit, its type and its meaning. The macro `columns!` declares them with the
//! field.

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A truth value: true or false.
    Truth,
    /// An integer of at most 63 bits and a sign.
    Whole,
    /// A real number.
    Real,
}

/// One field of a row.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The field's name, in every export.
    pub name: &'static str,
    /// The field's unit; empty for text, `1` for ratios.
    pub unit: &'static str,
    /// The field's type in a single run's row.
    pub kind: Kind,
    /// The field's meaning, in a sentence or two.
    pub meaning: &'static str,
}

/// A type of fields.
pub trait Typed {
    /// The type in exports.
    const KIND: Kind;
}

macro_rules! typed {
    ($($type:ty: $kind:ident),+) => { $(impl Typed for $type { const KIND: Kind = Kind::$kind; })+ };
}

typed!(String: Text, &str: Text, bool: Truth, f64: Real, u64: Whole, u32: Whole, u8: Whole, i64: Whole);

impl<T: Typed> Typed for Option<T> {
    const KIND: Kind = T::KIND;
}

/// Returns the number of columns in lists.
pub const fn count(lists: &[&[Column]]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < lists.len() {
        count += lists[at].len();
        at += 1;
    }
    count
}

/// Returns the columns of lists as one list. `N` is their [`count`].
pub const fn joined<const N: usize>(lists: &[&[Column]]) -> [Column; N] {
    let mut all = [Column { name: "", unit: "", kind: Kind::Text, meaning: "" }; N];
    let (mut at, mut list) = (0, 0);
    while list < lists.len() {
        let mut column = 0;
        while column < lists[list].len() {
            all[at] = lists[list][column];
            column += 1;
            at += 1;
        }
        list += 1;
    }
    all
}

/// Declares the struct of a row and the constant `COLUMNS`, the columns of its fields in their order.
///
/// A field with a column is `name: Type = ["unit"] "meaning"`, without a unit for text. The name is that of every export, the type gives
/// the column's, and the meaning is the field's documentation too. A field that adds the columns of another struct is `name: Type => LIST`.
/// A field without either adds no column: it has the column of another row, or is no field of the exports.
#[macro_export]
macro_rules! columns {
    (
        $(#[$outer:meta])*
        pub struct $row:ident {
            $(
                $(#[$inner:meta])*
                pub $field:ident: $type:ty $(= $([$unit:literal])? $meaning:literal)? $(=> $list:expr)?;
            )+
        }
    ) => {
        $(#[$outer])*
        pub struct $row {
            $(
                $(#[doc = $meaning] #[doc = ""])?
                $(#[$inner])*
                pub $field: $type,
            )+
        }

        impl $row {
            /// The columns of the fields, in their order.
            pub const COLUMNS: &'static [$crate::Column] = {
                use $crate::{Column, Typed};
                const LISTS: &[&[Column]] = &[$(
                    $(&[Column {
                        name: stringify!($field),
                        unit: concat!($($unit)?),
                        kind: <$type as Typed>::KIND,
                        meaning: $meaning,
                    }],)?
                    $($list,)?
                )+];
                &$crate::joined::<{ $crate::count(LISTS) }>(LISTS)
            };
        }
    };
}
pub(crate) use columns;
