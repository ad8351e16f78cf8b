//! The objects of `kernel/objects`, which are in the library.

use crate::error::KernelError;
use crate::machine::Abi;

/// A scheme, its object for Linux from 6.10 on, and its object for earlier kernels: ELF files.
type Packed = (&'static str, &'static [u8], &'static [u8]);

static OBJECTS: &[Packed] = include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// The objects that are no congestion control, by name.
static OTHERS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/others.rs"));

/// The schemes that Linux cannot host, and why.
const NOT_HOSTED: &[(&str, &str)] = &[(
    "quick-start",
    "a congestion control of Linux can neither put a request into a SYN nor read the routers' answer",
)];

/// Why Linux cannot host a scheme, if it cannot.
pub fn why_not(scheme: &str) -> Option<&'static str> {
    NOT_HOSTED.iter().find(|(of, _)| *of == scheme).map(|(_, why)| *why)
}

/// Returns the schemes that have an object.
pub fn schemes() -> impl Iterator<Item = &'static str> {
    OBJECTS.iter().map(|(scheme, ..)| *scheme)
}

/// Returns every object in the library, with the name of its file in `kernel/objects`.
pub fn objects() -> impl Iterator<Item = (String, &'static [u8])> {
    let of_schemes = OBJECTS.iter().flat_map(|(scheme, linked, old)| {
        [(format!("{scheme}.o"), *linked), (format!("6.1/{scheme}.o"), *old)]
    });
    of_schemes.chain(OTHERS.iter().map(|(name, object)| (format!("{name}.o"), *object)))
}

/// Returns the object of a scheme for a kernel.
fn object(scheme: &str, abi: Abi) -> Option<&'static [u8]> {
    let (_, linked, old) = OBJECTS.iter().find(|(of, ..)| *of == scheme)?;
    Some(match abi {
        Abi::Linked => linked,
        Abi::Old => old,
    })
}

/// Returns an object that is no congestion control.
pub(crate) fn other(name: &str) -> Result<&'static [u8], KernelError> {
    OTHERS.iter().find(|(of, _)| *of == name).map(|(_, object)| *object).ok_or_else(|| {
        let why = "this program was built without objects; `make kernel` builds them".to_owned();
        KernelError::Impossible { scheme: name.to_owned(), why }
    })
}

/// Returns the object of a scheme, or the reason why there is none.
pub(crate) fn wanted(scheme: &str, abi: Abi) -> Result<&'static [u8], KernelError> {
    object(scheme, abi).ok_or_else(|| {
        let all: Vec<&str> = schemes().collect();
        let why = if let Some(why) = why_not(scheme) {
            why.to_owned()
        } else if all.is_empty() {
            "this program was built without objects; `make kernel` builds them".to_owned()
        } else {
            format!("no object of it is built; there are {}", all.join(", "))
        };
        KernelError::Impossible { scheme: scheme.to_owned(), why }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of `N` bytes at `at`, little-endian.
    fn number<const N: usize>(bytes: &[u8], at: usize) -> usize {
        bytes[at..at + N].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    }

    /// Returns the sections of a 64-bit ELF file that contain instructions.
    fn programs(file: &[u8]) -> impl Iterator<Item = &[u8]> {
        let (table, length) = (number::<8>(file, 0x28), number::<2>(file, 0x3a));
        let headers = (0..number::<2>(file, 0x3c)).map(move |place| table + place * length);
        let executable = headers.filter(|header| number::<8>(file, header + 8) & 4 != 0);
        executable.map(|header| &file[number::<8>(file, header + 0x18)..][..number::<8>(file, header + 0x20)])
    }

    /// Returns the successors of an instruction, in the verifier's order, and whether it may jump back into a loop.
    fn ways(code: &[[u8; 8]], at: usize) -> (Vec<usize>, bool) {
        let [opcode, _, low, high, ..] = code[at];
        let target = || (at + 1).checked_add_signed(isize::from(i16::from_le_bytes([low, high])));
        let target = || target().expect("a jump within the program");
        match opcode {
            0x95 => (Vec::new(), false),
            0x05 => (vec![target()], true),
            0x85 => (vec![at + 1], false),
            _ if matches!(opcode & 7, 5 | 6) => (vec![at + 1, target()], true),
            _ => (vec![at + 1], false),
        }
    }

    /// Returns the first instruction that falls through into the head of a loop without a jump: `check_cfg` of Linux
    /// 6.1 refuses it.
    fn runs_into_a_head(code: &[[u8; 8]]) -> Option<usize> {
        #[derive(Clone, Copy, PartialEq)]
        enum Seen {
            Never,
            OnTheWay,
            Done,
        }
        let mut seen = vec![Seen::Never; code.len()];
        // A section has functions one behind the other.
        for start in 0..code.len() {
            if seen[start] != Seen::Never {
                continue;
            }
            seen[start] = Seen::OnTheWay;
            let mut way = vec![(start, 0)];
            while let Some((at, taken)) = way.pop() {
                let (next, may_loop) = ways(code, at);
                let Some(&to) = next.get(taken) else {
                    seen[at] = Seen::Done;
                    continue;
                };
                way.push((at, taken + 1));
                match seen[to] {
                    Seen::Never => {
                        seen[to] = Seen::OnTheWay;
                        way.push((to, 0));
                    }
                    Seen::OnTheWay if !may_loop => return Some(at),
                    Seen::OnTheWay | Seen::Done => {}
                }
            }
        }
        None
    }

    fn code(section: &[u8]) -> Vec<[u8; 8]> {
        section.chunks_exact(8).map(|eight| eight.try_into().expect("eight bytes")).collect()
    }

    #[test]
    fn no_object_for_old_kernels_has_a_loop_that_their_verifier_refuses() {
        let plain = [0xb7, 0, 0, 0, 0, 0, 0, 0];
        let jump = |opcode: u8, offset: i16| {
            [opcode, 0, offset.to_le_bytes()[0], offset.to_le_bytes()[1], 0, 0, 0, 0]
        };
        let exit = [0x95, 0, 0, 0, 0, 0, 0, 0];
        // Into the middle of a loop, and from its end to its beginning.
        assert_eq!(runs_into_a_head(&[jump(0x05, 1), plain, plain, jump(0x15, -3), exit]), Some(1));
        assert_eq!(runs_into_a_head(&[plain, plain, jump(0x15, -2), exit]), None);
        let mut count = 0;
        for (scheme, _, old) in OBJECTS {
            for section in programs(old) {
                assert_eq!(runs_into_a_head(&code(section)), None, "{scheme}");
                count += section.len() / 8;
            }
        }
        assert!(OBJECTS.is_empty() || count > 1000 * OBJECTS.len(), "{count} instructions");
    }
}
