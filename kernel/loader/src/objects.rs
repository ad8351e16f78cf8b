//! The objects of `kernel/objects`, which are in the library.

use crate::error::KernelError;
use crate::machine::Abi;

/// A scheme, its object for Linux from 6.10 on, and its object for kernels before: ELF files.
type Packed = (&'static str, &'static [u8], &'static [u8]);

static OBJECTS: &[Packed] = include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// The schemes that Linux cannot host, and why.
const NOT_HOSTED: &[(&str, &str)] = &[(
    "quick-start",
    "a congestion control of Linux can neither put a request into a SYN nor read the routers' answer",
)];

/// Why Linux cannot host a scheme, if it cannot.
pub fn why_not(scheme: &str) -> Option<&'static str> {
    NOT_HOSTED.iter().find(|(of, _)| *of == scheme).map(|(_, why)| *why)
}

/// The schemes that have an object.
pub fn schemes() -> impl Iterator<Item = &'static str> {
    OBJECTS.iter().map(|(scheme, ..)| *scheme)
}

/// The object of a scheme for a kernel.
fn object(scheme: &str, abi: Abi) -> Option<&'static [u8]> {
    let (_, linked, old) = OBJECTS.iter().find(|(of, ..)| *of == scheme)?;
    Some(match abi {
        Abi::Linked => linked,
        Abi::Old => old,
    })
}

/// The object of a scheme, or that there is none, for no reason that the scheme's needs tell.
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
