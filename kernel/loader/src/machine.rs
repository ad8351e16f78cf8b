//! Whether this machine can load a scheme; if not, the first thing that it lacks.

use std::fs;
use std::path::Path;

use libbpf_rs::btf::types::{FuncProto, Ptr, Struct};
use libbpf_rs::btf::{Btf, BtfType, ReferencesType as _};

use crate::error::KernelError;

const BTF: &str = "/sys/kernel/btf/vmlinux";
/// What the kernel calls `cong_control` with, from Linux 6.10 on: socket, ACK, flag, rate sample.
const ARGUMENTS: usize = 4;
const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// How this kernel keeps a congestion control of BPF: where in the value of its map the name is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The type of the value.
    pub(crate) value_type: u32,
    /// Bytes before the name.
    pub(crate) name: usize,
}

/// Checks that a scheme can be loaded here.
///
/// # Errors
/// The first thing that is missing: rights, BTF, `struct_ops`, an ABI that the objects are for.
pub fn check() -> Result<(), KernelError> {
    check_rights()?;
    let btf = btf(Path::new(BTF))?;
    abi(arguments_of_cong_control(&btf))
}

/// Checks that the process may load and look at what is loaded.
pub(crate) fn check_rights() -> Result<(), KernelError> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    if may(&status) { Ok(()) } else { Err(KernelError::Rights) }
}

/// Whether the capabilities of a `/proc/PID/status` suffice.
fn may(status: &str) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = line.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()).unwrap_or(0);
    let has = |capability: u32| set >> capability & 1 == 1;
    has(CAP_NET_ADMIN) && (has(CAP_SYS_ADMIN) || has(CAP_BPF) && has(CAP_PERFMON))
}

fn btf(path: &Path) -> Result<Btf<'static>, KernelError> {
    let missing = |_| KernelError::NoBtf { path: path.display().to_string() };
    if !path.exists() {
        return Err(KernelError::NoBtf { path: path.display().to_string() });
    }
    Btf::from_path(path).map_err(missing)
}

/// Whether the objects are for a kernel that calls `cong_control` with so many arguments; `None` of one without `struct_ops`.
fn abi(arguments: Option<usize>) -> Result<(), KernelError> {
    match arguments {
        None => Err(KernelError::NoStructOps),
        Some(ARGUMENTS) => Ok(()),
        Some(arguments) => Err(KernelError::Old { arguments }),
    }
}

/// How many arguments `tcp_congestion_ops.cong_control` has.
fn arguments_of_cong_control(btf: &Btf<'_>) -> Option<usize> {
    btf.type_by_name::<Struct<'_>>(VALUE)?;
    let ops = btf.type_by_name::<Struct<'_>>(OPS)?;
    let member = ops.iter().find(|member| member.name.is_some_and(|name| name == "cong_control"))?;
    let pointer: Ptr<'_> = btf.type_by_id(member.ty)?;
    let function: BtfType<'_> = pointer.referenced_type().skip_mods_and_typedefs();
    FuncProto::try_from(function).ok().map(|function| function.iter().count())
}

/// The value of a map that registers a congestion control, and what it registers.
const VALUE: &str = "bpf_struct_ops_tcp_congestion_ops";
const OPS: &str = "tcp_congestion_ops";

/// How this kernel keeps names.
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
    match value_type.zip(name) {
        Some((value_type, name)) => Ok(Layout { value_type, name }),
        None => Err(KernelError::NoStructOps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_refused_by_how_it_calls_cong_control() {
        assert!(abi(Some(4)).is_ok());
        assert!(matches!(abi(None), Err(KernelError::NoStructOps)));
        let old = abi(Some(2)).expect_err("Linux 6.1 has two");
        assert!(old.to_string().contains("2 arguments") && old.to_string().contains("6.10"), "{old}");
    }

    #[test]
    fn a_kernel_without_btf_is_told_where_it_was_looked_for() {
        let error = btf(Path::new("/nowhere/vmlinux")).expect_err("there is none").to_string();
        assert!(error.contains("/nowhere/vmlinux") && !error.contains('\n'), "{error}");
    }

    #[test]
    fn rights_are_roots_or_three_capabilities() {
        for (set, suffices) in [
            ("000001ffffffffff", true),
            ("0000000000000000", false),
            ("000000c000001000", true),
            ("0000008000001000", false),
            ("000000c000000000", false),
            ("0000000000201000", true),
        ] {
            assert_eq!(may(&format!("Name:\tx\nCapEff:\t{set}\n")), suffices, "{set}");
        }
        assert!(!may(""));
    }
}
