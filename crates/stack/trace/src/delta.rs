//! A macro for a state that changes little from line to line, so that a line holds only the difference from the previous line.

/// Defines a struct of plain values and a second struct for its difference from an earlier state. Values under `maybe` are optional.
macro_rules! delta {
    (
        $(#[$doc:meta])* $whole:ident, $delta:ident {
            plain { $($plain:ident: $plain_type:ty),+ $(,)? }
            maybe { $($maybe:ident: $maybe_type:ty),+ $(,)? }
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Debug)]
        pub(crate) struct $whole { $(pub(crate) $plain: $plain_type,)+ $(pub(crate) $maybe: Option<$maybe_type>,)+ }

        #[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $delta {
            $(#[serde(default, skip_serializing_if = "Option::is_none")] $plain: Option<$plain_type>,)+
            $(#[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::delta::given")]
              $maybe: Option<Option<$maybe_type>>,)+
        }

        impl $whole {
            /// Returns the values that differ from `before`. Returns all values if `before` is `None`.
            pub(crate) fn since(&self, before: Option<&Self>) -> $delta {
                $delta {
                    $($plain: before.is_none_or(|before| before.$plain != self.$plain).then(|| self.$plain.clone()),)+
                    $($maybe: before.is_none_or(|before| before.$maybe != self.$maybe).then(|| self.$maybe.clone()),)+
                }
            }
        }

        impl $delta {
            pub(crate) fn is_empty(&self) -> bool {
                *self == Self::default()
            }

            /// Returns the state after this change to `before`. If `before` is `None`, all values must be present: the error is the name of
            /// one that is missing.
            pub(crate) fn after(self, before: Option<$whole>) -> Result<$whole, &'static str> {
                match before {
                    Some(before) => Ok($whole {
                        $($plain: self.$plain.unwrap_or(before.$plain),)+
                        $($maybe: self.$maybe.unwrap_or(before.$maybe),)+
                    }),
                    None => Ok($whole {
                        $($plain: self.$plain.ok_or(stringify!($plain))?,)+
                        $($maybe: self.$maybe.ok_or(stringify!($maybe))?,)+
                    }),
                }
            }
        }
    };
}

pub(crate) use delta;

/// Reads a field that is present: `null` becomes `Some(None)`. An absent field becomes `None` by its default.
#[expect(clippy::option_option, reason = "not said and said to be unknown differ")]
pub(crate) fn given<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    serde::Deserialize::deserialize(deserializer).map(Some)
}
