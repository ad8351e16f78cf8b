//! The syntax tree of a script.

/// A script: its options, and its events in order.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Script {
    pub(crate) options: Vec<ScriptOption>,
    pub(crate) events: Vec<Event>,
}

/// An option of a script, `--name=value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ScriptOption {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) line: usize,
}

/// An event: something that happens, or is expected to happen.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Event {
    pub(crate) line: usize,
    pub(crate) when: When,
    pub(crate) action: Action,
}

/// The time of an event, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// Before or after all other events, without a time.
    Aside,
    /// At any time (`*`).
    Any,
    /// This time after the script began.
    At(i64),
    /// This time after the previous event.
    After(i64),
    /// Between these two times after the script began.
    Between(i64, i64),
    /// Between these two times after the previous event.
    Within(i64, i64),
}

/// The content of an event.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Action {
    /// A segment is injected.
    Inbound(Packet),
    /// A segment is expected.
    Outbound(Packet),
    Call(Call),
    Command(String),
    Code(String),
}

/// A TCP segment as the script writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Packet {
    pub(crate) ecn: Option<EcnField>,
    /// Control bits, as in [`firstflight_tcp::Flags`].
    pub(crate) flags: u8,
    pub(crate) seq: u32,
    pub(crate) len: u16,
    pub(crate) ack: u32,
    pub(crate) window: Option<u16>,
    pub(crate) urgent: u16,
    /// The options; `None` for `<...>`, which allows any.
    pub(crate) options: Option<Vec<TcpOption>>,
}

/// The ECN field that a segment has or must have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EcnField {
    None,
    Ect0,
    Ect1,
    Ce,
    /// Either ECT(0) or ECT(1).
    Either,
}

/// A TCP option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TcpOption {
    Nop,
    End,
    Mss(u16),
    WindowScale(u8),
    SackPermitted,
    Sack(Vec<(u32, u32)>),
    Timestamps { value: u32, echo: u32 },
}

/// The error with which a call must fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Errno {
    Named(String),
    Number(i64),
}

impl std::fmt::Display for Errno {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

/// A system call: `name(arguments) = result errno`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// The time for which the call blocks, in microseconds; `None` if it does not block.
    pub(crate) blocks_for: Option<i64>,
    pub(crate) arguments: Vec<Expression>,
    pub(crate) result: Expression,
    pub(crate) errno: Option<Errno>,
}

/// An argument or a result.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expression {
    /// An ellipsis, `...`, which represents any value.
    Ellipsis,
    Integer(i64),
    Word(String),
    Text(String),
    /// Values combined by `|`, as in `A|B`.
    Or(Vec<Expression>),
    /// A list, `[…]`.
    List(Vec<Expression>),
    /// A struct, `{name=value, …}`. A member without a name has an empty name.
    Struct(Vec<(String, Expression)>),
    /// A call of a macro or function, `name(…)`.
    Apply(String, Vec<Expression>),
}
