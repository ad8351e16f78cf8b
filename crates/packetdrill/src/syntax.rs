//! The syntax tree of a script.

/// A script: its options, and its events in order.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Script {
    pub(crate) options: Vec<ScriptOption>,
    pub(crate) events: Vec<Event>,
}

/// `--name=value`.
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
    /// `*`: any time.
    Any,
    /// Since the script began.
    At(i64),
    /// Since the previous event.
    After(i64),
    /// Between two instants.
    Between(i64, i64),
    /// Between two spans since the previous event.
    Within(i64, i64),
}

/// What happens at an event.
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

/// The ECN field that a segment has, or must have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EcnField {
    None,
    Ect0,
    Ect1,
    Ce,
    /// Either ECT.
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

/// The error that a call is to fail with.
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
    /// How long a blocking call blocks, in microseconds.
    pub(crate) blocks_for: Option<i64>,
    pub(crate) arguments: Vec<Expression>,
    pub(crate) result: Expression,
    pub(crate) errno: Option<Errno>,
}

/// An argument or a result.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expression {
    /// `...`.
    Ellipsis,
    Integer(i64),
    Word(String),
    Text(String),
    /// `A|B`.
    Or(Vec<Expression>),
    /// `[…]`.
    List(Vec<Expression>),
    /// `{name=value, …}`; a member without a name has an empty one.
    Struct(Vec<(String, Expression)>),
    /// `name(…)`.
    Apply(String, Vec<Expression>),
}
