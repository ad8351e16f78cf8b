//! The processes of a host. The relay's process starts this program twice for each host:
//!
//! ```text
//! relay ── keeper ── first process ── command, and what the command starts
//! ```
//!
//! The keeper leaves the namespaces in which it was started: network, mounts, processes, and users if necessary. Its child is the first
//! process of the new process namespace. When that process ends, the kernel kills all other processes of the namespace. The keeper and the
//! first process are each killed when their parent ends. Therefore no process of a host outlives the relay, however the relay ends.
//!
//! The keeper and the first process have the socket to the relay as standard input. The command gets the relay's standard input.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::AsFd;

use nix::sched::CloneFlags;
use nix::sys::signal::{SigSet, Signal};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{getegid, geteuid, set_parent_process_death_signal};

use super::control::send;
use super::init_process;
use super::netlink::{NAME, Netlink};
use crate::addresses::Side;
use crate::own_program;

/// The first argument of this program when it is started as a process of a host. [`inside`] reads the other arguments.
pub const INSIDE: &str = "__inside";

/// The task of a process of a host.
struct Orders {
    is_first: bool,
    side: Side,
    mtu: u32,
    command: Vec<OsString>,
}

/// Runs a process of a host. The arguments after [`INSIDE`] select the process.
pub fn inside(arguments: impl Iterator<Item = OsString>) -> u8 {
    let Some(orders) = orders(arguments) else { return 2 };
    let done = if orders.is_first { live(&orders) } else { keep(&orders) };
    match done {
        Ok(()) => 0,
        Err(error) => {
            // If the relay has ended, no one needs this message.
            let _ = send(io::stdin(), &format!("error {error}"), None);
            1
        }
    }
}

fn orders(mut arguments: impl Iterator<Item = OsString>) -> Option<Orders> {
    let is_first = arguments.next()? == "first";
    let side = if arguments.next()? == "A" { Side::A } else { Side::B };
    let mtu = arguments.next()?.to_str()?.parse().ok()?;
    Some(Orders { is_first, side, mtu, command: arguments.collect() })
}

/// Returns the arguments that [`inside`] reads.
pub(super) fn arguments(role: &str, side: Side, mtu: u32) -> [OsString; 4] {
    [INSIDE.into(), role.into(), side.name().into(), mtu.to_string().into()]
}

/// Runs the keeper. It leaves the namespaces, starts the first process and waits for its end.
fn keep(orders: &Orders) -> io::Result<()> {
    outlive_nobody()?;
    for_commands().thread_block()?;
    leave()?;
    // A change of user IDs clears the death signal, so it is set again.
    outlive_nobody()?;
    let mut first = own_program::command();
    first.args(arguments("first", orders.side, orders.mtu)).args(&orders.command);
    first.spawn().map_err(|error| says("cannot start a process in a new namespace", &error))?.wait()?;
    Ok(())
}

/// Makes the kernel kill this process when its parent ends.
fn outlive_nobody() -> io::Result<()> {
    Ok(set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?)
}

/// Returns the signals from a terminal and the termination signals, which are meant for the commands.
fn for_commands() -> SigSet {
    [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT].into_iter().collect()
}

/// Leaves the namespaces. If the rights of the process are insufficient, it does so as root of a new user namespace.
fn leave() -> io::Result<()> {
    const NEW: CloneFlags =
        CloneFlags::CLONE_NEWNET.union(CloneFlags::CLONE_NEWNS).union(CloneFlags::CLONE_NEWPID);
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let Err(error) = nix::sched::unshare(NEW) else { return Ok(()) };
    if error != nix::errno::Errno::EPERM {
        return Err(says("cannot make network namespaces", &error.into()));
    }
    nix::sched::unshare(NEW | CloneFlags::CLONE_NEWUSER).map_err(|error| {
        let why = io::Error::from(error);
        io::Error::other(format!(
            "emulation needs root, or a kernel that lets users make user namespaces ({why})"
        ))
    })?;
    let map = |file: &str, text: String| {
        fs::write(file, text).map_err(|error| says(&format!("cannot write {file}"), &error))
    };
    map("/proc/self/setgroups", "deny".to_owned())?;
    map("/proc/self/uid_map", format!("0 {user} 1"))?;
    map("/proc/self/gid_map", format!("0 {group} 1"))
}

/// Runs the first process. It makes the host's interface, passes its device to the relay, and runs the command.
fn live(orders: &Orders) -> io::Result<()> {
    outlive_nobody()?;
    // The command inherits blocked signals, so they are unblocked. They do not affect the first process of a namespace, because it has no
    // handlers.
    for_commands().thread_unblock()?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| says("cannot keep mounts apart", &error.into()))?;
    // Programs see only their own processes. If a container hides parts of /proc, the kernel does not permit another /proc, and this fails.
    let hidden = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let _ = mount("proc", "/proc", "proc", hidden, None);
    let device = interface(orders.side, orders.mtu)?;
    send(io::stdin(), "ready", Some(device.as_fd()))?;
    drop(device);
    init_process::serve(orders.side, &orders.command)
}

/// The minimum MTU of IPv6 (RFC 8200 section 5).
const MIN_V6: u32 = 1280;

/// Makes the host's end of the path: an interface with the host's addresses.
fn interface(side: Side, mtu: u32) -> io::Result<tun_rs::SyncDevice> {
    let device = tun_rs::DeviceBuilder::new()
        .name(NAME)
        .enable(false)
        .build_sync()
        .map_err(|error| says("cannot open a TUN device, which needs /dev/net/tun", &error))?;
    let configure = || {
        // The host has only one, known peer, so it needs no generated addresses, router solicitations or duplicate address detection.
        for (setting, value) in [("addr_gen_mode", "1"), ("router_solicitations", "0"), ("accept_dad", "0")] {
            // A kernel without IPv6 does not have this setting.
            let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{NAME}/{setting}"), value);
        }
        let kernel = Netlink::new()?;
        kernel.loopback()?;
        kernel.up(NAME, mtu)?;
        let index = kernel.index(NAME)?;
        kernel.address(index, side, false)?;
        if mtu >= MIN_V6 {
            // On a kernel without IPv6 the hosts have no IPv6.
            let _ = kernel.address(index, side, true);
        }
        Ok(())
    };
    configure().map_err(|error: io::Error| says("cannot set the interface of a host", &error))?;
    Ok(device)
}

fn says(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
