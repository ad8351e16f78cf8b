//! The types of a trace's JSON: the values that host and scheme exchange, as plain integers with their unit in the name.

mod call;
mod judged;
mod note;
mod origin;
mod packets;
mod path;
mod plan;

pub(crate) use call::CallShape;
pub(crate) use judged::JudgedShape;
pub(crate) use note::NoteShape;
pub(crate) use path::{PathDelta, PathShape};
pub(crate) use plan::{PlanDelta, PlanShape};

/// Defines the JSON form of an enum without data, and the conversions in both directions.
macro_rules! names {
    ($shape:ident of $of:ident { $($(#[$attribute:meta])* $name:ident),+ $(,)? }) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum $shape { $($(#[$attribute])* $name),+ }

        impl From<$of> for $shape {
            #[allow(unreachable_patterns, reason = "only some of these enums may get more values")]
            fn from(value: $of) -> Self {
                match value {
                    $($of::$name => Self::$name,)+
                    other => unreachable!("a trace has no {other:?}, and is of the same version as the library"),
                }
            }
        }

        impl From<$shape> for $of {
            fn from(shape: $shape) -> Self {
                match shape { $($shape::$name => Self::$name),+ }
            }
        }
    };
}

use names;
