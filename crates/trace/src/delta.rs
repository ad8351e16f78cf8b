//! The difference of a state from the line before, for a state that changes little from line to line.

/// Defines a state of plain values, and its difference from an earlier state. Fields under `maybe` can be unknown.
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
            /// The values that changed since `before`; all of them without a `before`.
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

            /// The state after this change. The error is the name of a value that is missing without a `before`.
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

/// A field that is present, even as `null`.
#[expect(clippy::option_option, reason = "not said and said to be unknown differ")]
pub(crate) fn given<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de>,
{
    serde::Deserialize::deserialize(deserializer).map(Some)
}
