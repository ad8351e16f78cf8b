//! Errors that keep a scheme out of the kernel, each in one line.

use std::fmt;
use std::io;

/// Maximum number of characters of a name: the kernel takes fifteen.
pub(crate) const LONGEST_NAME: usize = 15;

/// Why something could not be loaded, listed or unloaded.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The process may not do it.
    #[error(
        "the kernel takes BPF programs from root only, or with the capabilities CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN, \
         and not from a user namespace"
    )]
    Rights,
    /// The process may not look at what others loaded.
    #[error(
        "the kernel shows what is loaded to root only, or with the capability CAP_SYS_ADMIN, and not in a user namespace"
    )]
    Looking,
    /// The kernel does not describe its types.
    #[error(
        "this kernel has no BTF ({path}), which loading needs: it is built without CONFIG_DEBUG_INFO_BTF"
    )]
    NoBtf {
        /// Path at which it was searched.
        path: String,
    },
    /// The kernel takes no congestion control from BPF.
    #[error(
        "this kernel takes no congestion controls as BPF (struct_ops of tcp_congestion_ops): it is older than Linux 6.1, or \
         built without CONFIG_BPF_JIT"
    )]
    NoStructOps,
    /// The kernel calls congestion controls in another way.
    #[error(
        "this kernel calls cong_control with {arguments} arguments; the objects here are for kernels that do so with two or four"
    )]
    Unknown {
        /// Number of arguments.
        arguments: usize,
    },
    /// An object of something else.
    #[error("this object is not one of kernel/build")]
    Foreign,
    /// A name that cannot be registered.
    #[error(
        "the name `{name}` is not `ff_` and lower-case letters, digits or `_`, {} characters in all at most",
        LONGEST_NAME
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A name that is in use.
    #[error("the kernel has a congestion control `{name}` already; another name can be given")]
    Taken {
        /// The name.
        name: String,
    },
    /// The kernel lacks the congestion control to hand over to.
    #[error("this kernel has no congestion control `{law}` to hand over to; it has {available}")]
    NoLaw {
        /// The requested congestion control.
        law: &'static str,
        /// The available ones.
        available: String,
    },
    /// The verifier, or another check of the kernel.
    #[error("{scheme}: the kernel refused it ({error}); the end of what its verifier said: {lines}")]
    Refused {
        /// The scheme.
        scheme: String,
        /// The error of the system call.
        error: String,
        /// The last lines of the verifier's log.
        lines: String,
    },
    /// The last step failed.
    #[error("{name} cannot be registered: {error}")]
    Register {
        /// The name.
        name: String,
        /// Why.
        error: String,
    },
    /// Nothing of that name is loaded.
    #[error("no scheme is loaded as `{name}`; {loaded}")]
    NotLoaded {
        /// The name.
        name: String,
        /// The schemes that are loaded.
        loaded: String,
    },
    /// It is no longer registered, but sockets still use it.
    #[error("`{name}` is unloaded already; sockets or namespaces that use it keep it until they end")]
    Unregistered {
        /// The name.
        name: String,
    },
    /// It is loaded, and something keeps it.
    #[error("`{name}` is still registered: {why}")]
    Held {
        /// The name.
        name: String,
        /// The holder that keeps it loaded.
        why: String,
    },
    /// A scheme that no kernel can run, or for which there is no object.
    #[error("{scheme} cannot be loaded into a kernel: {why}")]
    Impossible {
        /// The scheme.
        scheme: String,
        /// Why.
        why: String,
    },
    /// Quick-Start is there already.
    #[error("{interface}: quick-start is attached in this network namespace already, and one is allowed")]
    Attached {
        /// The interface for which it was wanted.
        interface: String,
    },
    /// There is no such interface.
    #[error("there is no interface `{name}`")]
    NoInterface {
        /// The name.
        name: String,
    },
    /// There is no cgroup to attach a program that observes sockets.
    #[error("no file system of cgroup2 is mounted, where a program can be notified of sockets")]
    NoCgroup,
    /// A prefix of addresses that is none.
    #[error("`{text}` is no prefix of addresses: {why}")]
    Prefix {
        /// The text.
        text: String,
        /// Why.
        why: String,
    },
    /// There is no such network namespace.
    #[error("there is no network namespace `{name}`: {why}")]
    NoNamespace {
        /// The name or path.
        name: String,
        /// The names that exist, or the system's error.
        why: String,
    },
    /// There is no such cgroup.
    #[error("`{}` is no cgroup of cgroup2, which is mounted at {}", path.display(), root.display())]
    NoSuchCgroup {
        /// The path.
        path: std::path::PathBuf,
        /// The mount point.
        root: std::path::PathBuf,
    },
    /// A rollout cannot be pinned.
    #[error("a kernel before 6.10 cannot keep a rollout together with its scheme: leave out --pin")]
    OldPin,
    /// Another error of the system.
    #[error("{what}: {error}")]
    System {
        /// The operation.
        what: String,
        /// The system's error.
        error: String,
    },
}

impl KernelError {
    pub(crate) fn system(what: &dyn fmt::Display, error: &dyn fmt::Display) -> Self {
        Self::System { what: what.to_string(), error: error.to_string() }
    }

    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self {
        let what = path.display().to_string();
        move |error| Self::system(&what, &error)
    }
}
