//! The seam's values as a trace writes them: plain integers with their unit in the name.

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

/// Defines the shape of an enum without data, and the conversions both ways.
macro_rules! names {
    ($shape:ident of $seam:ident { $($name:ident),+ $(,)? }) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum $shape { $($name),+ }

        impl From<$seam> for $shape {
            fn from(seam: $seam) -> Self {
                match seam { $($seam::$name => Self::$name),+ }
            }
        }

        impl From<$shape> for $seam {
            fn from(shape: $shape) -> Self {
                match shape { $($shape::$name => Self::$name),+ }
            }
        }
    };
}

use names;
