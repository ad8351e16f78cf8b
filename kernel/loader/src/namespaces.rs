//! Network namespaces: the process's own, a named one, all that can be found.

use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::{io, thread};

use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use crate::cookie;
use crate::error::KernelError;

/// The folder in which `ip netns` names namespaces.
const NAMED: &str = "/run/netns";
const OWN: &str = "/proc/thread-self/ns/net";

/// A network namespace.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    inode: u64,
    /// Its file; `None` if it is this process's own.
    path: Option<PathBuf>,
}

impl Namespace {
    /// Returns this process's namespace.
    ///
    /// # Errors
    /// A namespace that cannot be opened.
    pub fn own() -> Result<Self, KernelError> {
        Self::at(Path::new(OWN)).map(|found| Self { path: None, ..found })
    }

    /// Returns a namespace by the name that `ip netns` gave it, or by the path of its file.
    ///
    /// # Errors
    /// A name that does not exist, a file that is no namespace.
    pub fn named(name: &str) -> Result<Self, KernelError> {
        let missing = |why: String| KernelError::NoNamespace { name: name.to_owned(), why };
        if name.contains('/') {
            return Self::at(Path::new(name)).map_err(|error| missing(error.to_string()));
        }
        let path = Path::new(NAMED).join(name);
        if name.is_empty() || name.starts_with('.') || !path.exists() {
            let mut names: Vec<String> = entries(NAMED).collect();
            names.sort();
            let there = if names.is_empty() {
                "there is none".to_owned()
            } else {
                format!("there are {}", names.join(", "))
            };
            return Err(missing(format!("in {NAMED} {there}")));
        }
        Self::at(&path).map_err(|error| missing(error.to_string()))
    }

    fn at(path: &Path) -> Result<Self, KernelError> {
        let file = File::open(path).map_err(KernelError::io(path))?;
        let about = file.metadata().map_err(KernelError::io(path))?;
        Ok(Self { inode: about.ino(), path: Some(path.to_path_buf()), file })
    }

    /// Returns this process's namespace, the named ones, and those of all processes that this process may look at.
    ///
    /// # Errors
    /// This process's namespace cannot be opened.
    pub fn every() -> Result<Vec<Self>, KernelError> {
        let mut all = vec![Self::own()?];
        let processes = entries("/proc").filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
        let files = processes.map(|process| PathBuf::from(format!("/proc/{process}/ns/net")));
        let named = entries(NAMED).map(|name| Path::new(NAMED).join(name));
        for path in named.chain(files) {
            let is_new = |about: &fs::Metadata| all.iter().all(|other| other.inode != about.ino());
            if fs::metadata(&path).is_ok_and(|about| is_new(&about)) {
                all.extend(Self::at(&path));
            }
        }
        Ok(all)
    }

    /// Returns the path of its file; nothing if it is this process's own.
    pub fn label(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the number by which the kernel knows it: no other namespace gets the number until the machine restarts.
    ///
    /// # Errors
    /// A kernel before 5.14, missing rights to enter the namespace.
    pub fn cookie(&self) -> Result<u64, KernelError> {
        self.within(|| {
            let socket = socket(AddressFamily::Unix, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None);
            let cookie = socket.map_err(io::Error::from).and_then(|socket| cookie::of(socket.as_fd()));
            cookie.map_err(|error| KernelError::system(&"the number of the network namespace", &error))
        })?
    }

    /// Does something in the namespace.
    ///
    /// # Errors
    /// Missing rights to enter it: `CAP_SYS_ADMIN`.
    pub fn within<T: Send>(&self, act: impl FnOnce() -> T + Send) -> Result<T, KernelError> {
        let Some(path) = &self.path else { return Ok(act()) };
        // A separate thread ends in the other namespace, so that no failure leaves this thread there.
        let done = thread::scope(|scope| {
            let act = || {
                setns(&self.file, CloneFlags::CLONE_NEWNET)
                    .map_err(|error| KernelError::system(&path.display(), &error))?;
                Ok(act())
            };
            scope.spawn(act).join()
        });
        done.unwrap_or_else(|_| Err(KernelError::system(&path.display(), &"the thread failed")))
    }
}

/// Returns the names in a folder; none if it cannot be read.
fn entries(folder: &str) -> impl Iterator<Item = String> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}
