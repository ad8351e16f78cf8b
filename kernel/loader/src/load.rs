//! Loads one scheme: checks, settings, the verifier, registration.
//!
//! The kernel removes a congestion control when the last descriptor of its link is closed and no file keeps the link, so nothing remains
//! when the process is killed. Sockets that use it keep it until they close. Kernels before 6.10 have no link: there the process
//! unregisters it at its end, and a killed process leaves it for [`crate::unload`].

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use firstflight::registry;
use libbpf_rs::{Link, MapCore, MapType, Object, ObjectBuilder, OpenObject, PrintLevel, RingBufferBuilder};

use crate::error::KernelError;
use crate::machine::Abi;
use crate::pins::Lock;
use crate::settings::{NAME_ROOM, SECTION, Settings, put};
use crate::{machine, names, objects, parameters};

/// A congestion control of the kernel to which a scheme can hand over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handover {
    /// CUBIC, with Linux's HyStart off after the first exit from slow start.
    Cubic,
    /// Reno.
    Reno,
    /// BBR.
    Bbr,
}

impl Handover {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Cubic, Self::Reno, Self::Bbr];

    /// Returns the kernel's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Reno => "reno",
            Self::Bbr => "bbr",
        }
    }
}

/// An order to load a scheme.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The scheme or restart policy.
    pub scheme: &'a str,
    /// Its parameters that were given, checked by the registry.
    pub parameters: &'a [(&'static str, firstflight::registry::Value)],
    /// The name to register.
    pub name: &'a str,
    /// The congestion control that takes over at the exit.
    pub handover: Handover,
    /// Whether events can be read by [`Loaded::follow`].
    pub is_traced: bool,
}

/// A scheme registered in the kernel, as long as this value lives or a file keeps it.
pub struct Loaded {
    name: String,
    abi: Abi,
    link: Link,
    object: Object,
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Loads a scheme.
///
/// # Errors
/// A facility that the machine lacks, a name that is not available, a refusal by the verifier.
pub fn load(order: &Order<'_>) -> Result<Loaded, KernelError> {
    // Errors in the order are reported before facilities that the machine lacks.
    let abi = machine::check();
    let object = objects::wanted(order.scheme, *abi.as_ref().unwrap_or(&Abi::Linked))?;
    load_object(object, order)
}

/// Checks an order without loading anything.
///
/// # Errors
/// As [`load`], except for a refusal by the verifier.
pub fn check_order(order: &Order<'_>) -> Result<(), KernelError> {
    let Order { scheme, parameters, name, handover, .. } = *order;
    names::check(name)?;
    if handover == Handover::Bbr && registry::scheme(scheme).is_none() && registry::restart(scheme).is_some()
    {
        let why =
            "a restart policy works with cubic or reno, whose functions it calls; bbr's cannot be called";
        return Err(KernelError::Impossible { scheme: scheme.to_owned(), why: why.to_owned() });
    }
    parameters::numbers(scheme, parameters)?;
    machine::check()?;
    let available = names::available()?;
    if available.iter().any(|other| other == name) {
        return Err(KernelError::Taken { name: name.to_owned() });
    }
    if !available.iter().any(|other| other == handover.name()) {
        return Err(KernelError::NoLaw { law: handover.name(), available: available.join(", ") });
    }
    Ok(())
}

/// [`load`] of an object that is not one of the library's.
///
/// # Errors
/// As [`load`], and an object of something else.
pub fn load_object(object: &[u8], order: &Order<'_>) -> Result<Loaded, KernelError> {
    let Order { scheme, parameters, name, handover, is_traced } = *order;
    check_order(order)?;
    let numbers = parameters::numbers(scheme, parameters)?;
    let abi = machine::check()?;
    hush();
    let mut open = ObjectBuilder::default()
        .open_memory(object)
        .map_err(|error| KernelError::system(&format!("the object of {scheme}"), &error))?;
    let settings = Settings {
        name: name.to_owned(),
        scheme: scheme.to_owned(),
        law: handover.name().to_owned(),
        is_traced,
        numbers,
    };
    configure(&mut open, &settings)?;
    let mut object = open.load().map_err(|error| refused(scheme, &error))?;
    let register = |error: libbpf_rs::Error| match error.kind() {
        // Another process registered the name after the check above.
        libbpf_rs::ErrorKind::AlreadyExists => KernelError::Taken { name: name.to_owned() },
        _ => KernelError::Register { name: name.to_owned(), error: root(&error) },
    };
    let mut link = None;
    for mut map in object.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
        link = Some(map.attach_struct_ops().map_err(register)?);
    }
    let link = link.ok_or(KernelError::Foreign)?;
    Ok(Loaded { name: name.to_owned(), abi, link, object })
}

impl Loaded {
    /// Returns the name under which it is registered.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Pins the scheme to a file so that it outlives this process, and returns the file. [`crate::unload`] removes the file. A kernel
    /// before 6.10 needs no file to keep it.
    ///
    /// # Errors
    /// A file that cannot be created; the scheme is then no longer registered.
    pub fn pin(mut self, lock: &Lock) -> Result<Option<PathBuf>, KernelError> {
        if self.abi == Abi::Old {
            self.link.disconnect();
            return Ok(None);
        }
        let file = lock.path_for(&self.name);
        self.pin_to(&file)?;
        Ok(Some(file))
    }

    /// Pins the scheme to this file; a kernel before 6.10 has no link to pin.
    pub(crate) fn pin_to(&mut self, file: &Path) -> Result<(), KernelError> {
        if self.abi == Abi::Old {
            return Err(KernelError::OldPin);
        }
        self.link.pin(file).map_err(|error| KernelError::system(&file.display(), &root(&error)))
    }

    /// Passes each event to `take` as it is in memory, until `ended` returns true; calls `ended` twenty times a second.
    ///
    /// # Errors
    /// A ring that cannot be read.
    pub fn follow(
        &self,
        take: impl FnMut(&[u8]),
        mut ended: impl FnMut() -> bool,
    ) -> Result<(), KernelError> {
        let mut take = take;
        let failed = |error: libbpf_rs::Error| KernelError::system(&"the ring of events", &root(&error));
        let events = self.object.maps().find(|map| map.name() == "events").ok_or(KernelError::Foreign)?;
        let mut rings = RingBufferBuilder::new();
        rings
            .add(&events, |record: &[u8]| {
                take(record);
                0
            })
            .map_err(failed)?;
        let ring = rings.build().map_err(failed)?;
        while !ended() {
            match ring.poll(Duration::from_millis(50)) {
                Err(error) if error.kind() != libbpf_rs::ErrorKind::Interrupted => return Err(failed(error)),
                _ => {}
            }
        }
        ring.consume().map_err(failed)
    }
}

/// Writes the settings, and the name that is registered.
fn configure(open: &mut OpenObject, settings: &Settings) -> Result<(), KernelError> {
    let (mut set, mut named) = (false, false);
    for mut map in open.maps_mut() {
        if map.map_type() == MapType::StructOps {
            // The name is the first member of the struct in `vmlinux.h`.
            let data = map.initial_value_mut().and_then(|data| data.get_mut(..NAME_ROOM));
            put(data.ok_or(KernelError::Foreign)?, &settings.name)?;
            named = true;
        } else if map.name() == SECTION {
            let block = map.initial_value_mut().ok_or(KernelError::Foreign)?;
            settings.write(block)?;
            set = true;
        }
    }
    if set && named { Ok(()) } else { Err(KernelError::Foreign) }
}

/// Log of libbpf: it contains the verifier's last lines.
static SAID: Mutex<String> = Mutex::new(String::new());

/// Redirects libbpf's log from stderr to [`SAID`], and clears it.
pub(crate) fn hush() {
    if let Ok(mut said) = SAID.lock() {
        said.clear();
    }
    libbpf_rs::set_print(Some((PrintLevel::Info, listen)));
}

#[expect(clippy::needless_pass_by_value, reason = "libbpf-rs wants it so")]
fn listen(_: PrintLevel, message: String) {
    if let Ok(mut said) = SAID.lock() {
        said.push_str(&message);
    }
}

/// Returns the error of a refusal with the verifier's last lines, or libbpf's if the verifier logged nothing.
pub(crate) fn refused(scheme: &str, error: &libbpf_rs::Error) -> KernelError {
    let said = SAID.lock().map(|said| said.clone()).unwrap_or_default();
    KernelError::Refused { scheme: scheme.to_owned(), error: root(error), lines: last_lines(&said) }
}

/// Returns the last non-empty lines, without the count of instructions.
fn last_lines(said: &str) -> String {
    let log = said.split("-- BEGIN PROG LOAD LOG --").nth(1);
    let log = log.map_or(said, |log| log.split("-- END PROG LOAD LOG --").next().unwrap_or_default());
    let counts = |line: &&str| line.starts_with("processed ") && line.contains(" insns ");
    let lines: Vec<&str> =
        log.lines().map(str::trim).filter(|line| !line.is_empty() && !counts(line)).collect();
    lines.iter().rev().take(3).rev().copied().collect::<Vec<_>>().join(" | ")
}

/// Returns the innermost text of an error: the system's own.
pub(crate) fn root(error: &libbpf_rs::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_a_refusal_are_joined_in_one() {
        let said = "libbpf: prog 'ff_init': BPF program load failed: -EACCES\n\
            libbpf: prog 'ff_init': -- BEGIN PROG LOAD LOG --\n0: R1=ctx()\n1: (bf) r6 = r1\n\n\
            math between map_value pointer and register with unbounded min value is not allowed\n\
            processed 12 insns (limit 1000000) max_states_per_insn 0\n-- END PROG LOAD LOG --\nlibbpf: failed\n";
        assert_eq!(
            last_lines(said),
            "0: R1=ctx() | 1: (bf) r6 = r1 | math between map_value pointer and register with unbounded min value is \
             not allowed"
        );
        assert_eq!(last_lines("libbpf: no such map\n"), "libbpf: no such map");
        assert_eq!(last_lines(""), "");
    }

    #[test]
    fn an_invalid_object_is_refused_and_refusal_logs_are_not_mixed() {
        let order = Order {
            scheme: "hystart",
            parameters: &[],
            name: "ff_test_none",
            handover: Handover::Reno,
            is_traced: false,
        };
        assert!(load_object(b"no ELF", &order).is_err());
        let named = Order { name: "cubic", ..order };
        assert!(matches!(load_object(b"no ELF", &named), Err(KernelError::Name { .. })));
        // Earlier refusals are not part of the next one's log. These checks are one test, because libbpf logs everything to one place.
        hush();
        listen(
            PrintLevel::Warn,
            "-- BEGIN PROG LOAD LOG --\nthe first\n-- END PROG LOAD LOG --\n".to_owned(),
        );
        assert!(SAID.lock().is_ok_and(|said| last_lines(&said) == "the first"), "its own");
        hush();
        listen(
            PrintLevel::Warn,
            "-- BEGIN PROG LOAD LOG --\nthe second\n-- END PROG LOAD LOG --\n".to_owned(),
        );
        assert!(SAID.lock().is_ok_and(|said| last_lines(&said) == "the second"));
    }
}
