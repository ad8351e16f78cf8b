//! Checks whether this machine can load a scheme; if not, reports the first facility that it lacks.

use std::fs;
use std::path::Path;

use libbpf_rs::btf::types::{FuncProto, Ptr, Struct};
use libbpf_rs::btf::{Btf, BtfType, ReferencesType as _};

use crate::error::KernelError;

const BTF: &str = "/sys/kernel/btf/vmlinux";
/// The initial user namespace of the machine, whose number is fixed.
const MACHINES: &str = "user:[4026531837]";
const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// How a kernel calls and registers a BPF congestion control.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Abi {
    /// From Linux 6.10 on: `cong_control` has a socket, an ACK, a flag and a rate sample. A link registers it, and unregisters it when the
    /// link's last descriptor is closed.
    Linked,
    /// Before 6.10: `cong_control` has a socket and a rate sample. It remains registered until a process unregisters it.
    Old,
}

/// This kernel's layout of a BPF congestion control: offsets in the value of its map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The type of the value.
    pub(crate) value_type: u32,
    /// Bytes before the name.
    pub(crate) name: usize,
    /// Bytes before the state.
    pub(crate) state: usize,
}

/// Checks that a scheme can be loaded here, and returns the ABI.
///
/// # Errors
/// The first thing that is missing: rights, BTF, `struct_ops`, an ABI that the objects are for.
pub fn check() -> Result<Abi, KernelError> {
    check_rights()?;
    let btf = btf(Path::new(BTF))?;
    abi(arguments_of_cong_control(&btf))
}

/// Checks that the process may load.
pub(crate) fn check_rights() -> Result<(), KernelError> {
    if may_load(capabilities(&status())) { Ok(()) } else { Err(KernelError::Rights) }
}

/// Checks that the process may list what is loaded.
pub(crate) fn check_looking() -> Result<(), KernelError> {
    if may_look(capabilities(&status())) { Ok(()) } else { Err(KernelError::Looking) }
}

/// Returns this process's `/proc/PID/status`; nothing if the process is in a separate user namespace, whose capabilities do not apply to
/// the machine.
fn status() -> String {
    let namespace = fs::read_link("/proc/self/ns/user");
    if namespace.is_ok_and(|namespace| namespace != Path::new(MACHINES)) {
        return String::new();
    }
    fs::read_to_string("/proc/self/status").unwrap_or_default()
}

/// Returns whether the capabilities suffice to load.
fn may_load(capabilities: u64) -> bool {
    let has = |capability: u32| capabilities >> capability & 1 == 1;
    has(CAP_NET_ADMIN) && (has(CAP_SYS_ADMIN) || has(CAP_BPF) && has(CAP_PERFMON))
}

/// Returns whether the capabilities suffice to list: otherwise the kernel hides the maps and links of other processes without an error.
fn may_look(capabilities: u64) -> bool {
    capabilities >> CAP_SYS_ADMIN & 1 == 1
}

/// Returns the effective capabilities of a `/proc/PID/status`, a bit each.
fn capabilities(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    line.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()).unwrap_or(0)
}

fn btf(path: &Path) -> Result<Btf<'static>, KernelError> {
    let missing = |_| KernelError::NoBtf { path: path.display().to_string() };
    if !path.exists() {
        return Err(KernelError::NoBtf { path: path.display().to_string() });
    }
    Btf::from_path(path).map_err(missing)
}

/// Returns the ABI of a kernel that calls `cong_control` with this number of arguments; an error for a kernel without `struct_ops`.
fn abi(arguments: Option<usize>) -> Result<Abi, KernelError> {
    match arguments {
        None => Err(KernelError::NoStructOps),
        Some(4) => Ok(Abi::Linked),
        Some(2) => Ok(Abi::Old),
        Some(arguments) => Err(KernelError::Unknown { arguments }),
    }
}

/// Returns the number of arguments of `tcp_congestion_ops.cong_control`.
fn arguments_of_cong_control(btf: &Btf<'_>) -> Option<usize> {
    btf.type_by_name::<Struct<'_>>(VALUE)?;
    let ops = btf.type_by_name::<Struct<'_>>(OPS)?;
    let member = ops.iter().find(|member| member.name.is_some_and(|name| name == "cong_control"))?;
    let pointer: Ptr<'_> = btf.type_by_id(member.ty)?;
    let function: BtfType<'_> = pointer.referenced_type().skip_mods_and_typedefs();
    FuncProto::try_from(function).ok().map(|function| function.iter().count())
}

/// Type of the value of a map that registers a congestion control.
const VALUE: &str = "bpf_struct_ops_tcp_congestion_ops";
const OPS: &str = "tcp_congestion_ops";
const COMMON: &str = "bpf_struct_ops_common_value";

/// Returns this kernel's layout.
pub(crate) fn layout() -> Result<Layout, KernelError> {
    let btf = btf(Path::new(BTF))?;
    let offset = |of: &str, name: &str| {
        let of = btf.type_by_name::<Struct<'_>>(of)?;
        let member = of.iter().find(|member| member.name.is_some_and(|own| own == name))?;
        match member.attr {
            libbpf_rs::btf::types::MemberAttr::Normal { offset } => Some(offset as usize / 8),
            libbpf_rs::btf::types::MemberAttr::BitField { .. } => None,
        }
    };
    let value_type = btf.type_by_name::<Struct<'_>>(VALUE).map(|value| value.type_id().into());
    let name = offset(VALUE, "data").zip(offset(OPS, "name")).map(|(data, name)| data + name);
    // Linux 6.7 moved the common beginning of these values into a separate struct.
    let common =
        || offset(VALUE, "common").zip(offset(COMMON, "state")).map(|(common, state)| common + state);
    let state = offset(VALUE, "state").or_else(common);
    match value_type.zip(name).zip(state) {
        Some(((value_type, name), state)) => Ok(Layout { value_type, name, state }),
        None => Err(KernelError::NoStructOps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_known_by_how_it_calls_cong_control() {
        assert_eq!(abi(Some(4)).expect("Linux 6.10 has four"), Abi::Linked);
        assert_eq!(abi(Some(2)).expect("Linux 6.1 has two"), Abi::Old);
        assert!(matches!(abi(None), Err(KernelError::NoStructOps)));
        let unknown = abi(Some(5)).expect_err("no kernel has five").to_string();
        assert!(unknown.contains("5 arguments") && !unknown.contains('\n'), "{unknown}");
    }

    #[test]
    fn a_kernel_without_btf_is_told_where_it_was_looked_for() {
        let error = btf(Path::new("/nowhere/vmlinux")).expect_err("there is none").to_string();
        assert!(error.contains("/nowhere/vmlinux") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn rights_are_roots_or_three_capabilities() {
        for (set, loads, looks) in [
            ("000001ffffffffff", true, true),
            ("0000000000000000", false, false),
            ("000000c000001000", true, false),
            ("0000008000001000", false, false),
            ("000000c000000000", false, false),
            ("0000000000201000", true, true),
        ] {
            let set = capabilities(&format!("Name:\tx\nCapEff:\t{set}\n"));
            assert_eq!((may_load(set), may_look(set)), (loads, looks), "{set:x}");
        }
        assert_eq!(capabilities(""), 0);
    }
}
