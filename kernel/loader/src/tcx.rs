//! Attaches a program to the packets of an interface, as a link that ends with the process. libbpf-rs has no call for this, so this is the
//! only part of the loader that calls libbpf itself.
#![allow(unsafe_code)]

use std::io;
use std::ptr::{NonNull, null};

use libbpf_rs::{AsRawLibbpf, Link, ProgramMut};

/// Attaches a program of section `tcx/egress` or `tcx/ingress` to the interface of this number in the thread's network namespace.
///
/// # Errors
/// The kernel refuses it: before Linux 6.6 there are no such links.
pub(crate) fn attach(program: &ProgramMut<'_>, interface: u32) -> io::Result<Link> {
    let interface = i32::try_from(interface).map_err(io::Error::other)?;
    let program = program.as_libbpf_object();
    // SAFETY: the program belongs to a loaded object, which is borrowed for the call; without options libbpf uses its defaults.
    let link = unsafe { libbpf_sys::bpf_program__attach_tcx(program.as_ptr(), interface, null()) };
    let link = NonNull::new(link).ok_or_else(io::Error::last_os_error)?;
    // SAFETY: libbpf created the link, and no one else has it.
    Ok(unsafe { Link::from_ptr(link) })
}
