//! The settings of an object before it is loaded: `struct settings` of `kernel/bpf/c/settings.h`, byte for byte.

use firstflight::registry::Numbers;

use crate::error::KernelError;

/// The section, which libbpf makes a map of.
pub(crate) const SECTION: &str = ".rodata.settings";
/// Length of a kernel name in bytes, in the settings and in `tcp_congestion_ops`: 15 letters and a zero.
pub(crate) const NAME_ROOM: usize = 16;
const SCHEME_ROOM: usize = 32;
/// A `u32` of C and the unused `u32 pad` after it.
const PAIR: usize = 8;
// Offsets of the members of the struct: the registered name is at 0, then `scheme`, `law`, `traced`, `numbers.given`,
// and `numbers.values`.
const SCHEME: usize = NAME_ROOM;
const LAW: usize = SCHEME + SCHEME_ROOM;
const TRACED: usize = LAW + NAME_ROOM;
const GIVEN: usize = TRACED + PAIR;
const VALUES: usize = GIVEN + PAIR;
/// The length of the struct in bytes.
pub(crate) const SIZE: usize = VALUES + 8 * Numbers::MOST;

/// The settings of one loaded object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Settings {
    /// The name under which the congestion control is registered.
    pub(crate) name: String,
    /// The scheme.
    pub(crate) scheme: String,
    /// The congestion control to hand over to.
    pub(crate) law: String,
    /// Whether events go to the ring buffer.
    pub(crate) is_traced: bool,
    /// The parameters in the registry's order.
    pub(crate) numbers: Numbers,
}

impl Settings {
    /// Returns the settings with which an object was built.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; SIZE] = bytes.try_into().ok()?;
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let mut numbers = Numbers { given: word(GIVEN), pad: 0, values: [0; Numbers::MOST] };
        for (parameter, eight) in numbers.values.iter_mut().zip(bytes[VALUES..].chunks_exact(8)) {
            *parameter = u64::from_ne_bytes(eight.try_into().ok()?);
        }
        Some(Self {
            name: text(&bytes[..SCHEME])?,
            scheme: text(&bytes[SCHEME..LAW])?,
            law: text(&bytes[LAW..TRACED])?,
            is_traced: word(TRACED) != 0,
            numbers,
        })
    }

    /// Writes the settings over those of an object.
    pub(crate) fn write(&self, bytes: &mut [u8]) -> Result<(), KernelError> {
        if bytes.len() != SIZE {
            return Err(KernelError::Foreign);
        }
        put(&mut bytes[..SCHEME], &self.name)?;
        put(&mut bytes[SCHEME..LAW], &self.scheme)?;
        put(&mut bytes[LAW..TRACED], &self.law)?;
        bytes[TRACED..GIVEN].copy_from_slice(&pair(u32::from(self.is_traced)));
        bytes[GIVEN..VALUES].copy_from_slice(&pair(self.numbers.given));
        for (eight, parameter) in bytes[VALUES..].chunks_exact_mut(8).zip(self.numbers.values) {
            eight.copy_from_slice(&parameter.to_ne_bytes());
        }
        Ok(())
    }
}

/// Returns a `u32` with the unused one after it.
fn pair(word: u32) -> [u8; PAIR] {
    let mut pair = [0; PAIR];
    pair[..4].copy_from_slice(&word.to_ne_bytes());
    pair
}

/// Returns the text up to the first zero, which must exist.
pub(crate) fn text(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    String::from_utf8(bytes[..end].to_vec()).ok()
}

/// Writes a text and zeros after it.
pub(crate) fn put(place: &mut [u8], word: &str) -> Result<(), KernelError> {
    if word.len() >= place.len() {
        return Err(KernelError::Name { name: word.to_owned() });
    }
    place.fill(0);
    place[..word.len()].copy_from_slice(word.as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_were_written() {
        let mut numbers = Numbers { given: 0x8001, pad: 0, values: [0; Numbers::MOST] };
        numbers.values[0] = u64::MAX;
        numbers.values[15] = 7;
        let settings = Settings {
            name: "ff_hystart_lnx".to_owned(),
            scheme: "hystart-linux".to_owned(),
            law: "bbr".to_owned(),
            is_traced: true,
            numbers,
        };
        let mut bytes = [0xff; SIZE];
        settings.write(&mut bytes).expect("they fit");
        assert_eq!(Settings::read(&bytes), Some(settings.clone()));
        assert_eq!(Settings::read(&bytes[1..]), None);
        assert!(settings.write(&mut bytes[1..]).is_err());
        let long = Settings { name: "ff_0123456789abc".to_owned(), ..settings };
        assert!(long.write(&mut bytes).is_err(), "sixteen letters leave no room for the zero");
    }
}
