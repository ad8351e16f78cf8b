//! Loads one scheme, and keeps it registered for as long as this process lives.
//!
//! The kernel removes the congestion control when the link's file descriptor is closed, so nothing is left when the process
//! is killed. Sockets that use it keep it until they close.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::Mutex;
use std::time::Duration;

use libbpf_rs::{MapCore, MapType, ObjectBuilder, OpenObject, PrintLevel, RingBufferBuilder};

/// The congestion controls of the kernel that a scheme can hand over to.
const LAWS: [&str; 3] = ["cubic", "reno", "bbr"];
/// The room for a name in `tcp_congestion_ops` and in `law`, with a zero at the end.
const NAME_ROOM: usize = 16;
const LONGEST_NAME: usize = 12;

/// What libbpf said: the verifier's last lines are in it.
static SAID: Mutex<String> = Mutex::new(String::new());

fn listen(_: PrintLevel, message: String) {
    if let Ok(mut said) = SAID.lock() {
        said.push_str(&message);
    }
}

/// Loads the scheme of `object` under `name`, says `ready`, and ends when its standard input ends. Each event and its answer
/// goes to `trace` as it is in memory.
///
/// # Errors
/// One line: what was refused, and why.
pub(crate) fn run(object: &str, name: &str, law: &str, trace: Option<&str>) -> Result<(), String> {
    check_name(name)?;
    if !LAWS.contains(&law) {
        return Err(format!("there is no law `{law}` to hand over to; there are {}", LAWS.join(", ")));
    }
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Err("this kernel has no BTF (/sys/kernel/btf/vmlinux), which loading needs".to_owned());
    }
    libbpf_rs::set_print(Some((PrintLevel::Info, listen)));
    let mut bytes = fs::read(object).map_err(|error| format!("{object}: {error}"))?;
    rename(&mut bytes, name)?;
    let mut open =
        ObjectBuilder::default().open_memory(&bytes).map_err(|error| format!("{object}: {error}"))?;
    configure(&mut open, law, trace.is_some())?;
    let mut loaded = open.load().map_err(|error| refused(object, &error))?;

    let mut link = None;
    for mut map in loaded.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
        link =
            Some(map.attach_struct_ops().map_err(|error| format!("{name} cannot be registered: {error}"))?);
    }
    if link.is_none() {
        return Err(format!("{object} has no congestion control in it"));
    }
    let output = trace.map(File::create).transpose().map_err(|error| format!("{trace:?}: {error}"))?;
    let output = Rc::new(RefCell::new(output.map(BufWriter::new)));
    let failed = Rc::new(RefCell::new(None));
    let mut rings = RingBufferBuilder::new();
    let events = loaded.maps().find(|map| map.name() == "events");
    let events = events.ok_or_else(|| format!("{object} has no ring of events"))?;
    let (sink, fault) = (Rc::clone(&output), Rc::clone(&failed));
    rings
        .add(&events, move |record: &[u8]| {
            if let Some(Err(error)) = sink.borrow_mut().as_mut().map(|file| file.write_all(record)) {
                *fault.borrow_mut() = Some(error);
            }
            0
        })
        .map_err(|error| error.to_string())?;
    let ring = rings.build().map_err(|error| error.to_string())?;
    println!("ready");
    io::stdout().flush().map_err(|error| error.to_string())?;

    let ended = std::thread::spawn(|| io::stdin().read_to_end(&mut Vec::new()));
    while !ended.is_finished() {
        ring.poll(Duration::from_millis(50)).map_err(|error| error.to_string())?;
    }
    ring.consume().map_err(|error| error.to_string())?;
    drop(link);
    if let Some(file) = output.borrow_mut().as_mut() {
        file.flush().map_err(|error| error.to_string())?;
    }
    let failed = failed.borrow_mut().take();
    failed.map_or(Ok(()), |error: io::Error| Err(format!("{trace:?}: {error}")))
}

fn check_name(name: &str) -> Result<(), String> {
    let word = name.strip_prefix("ff_").unwrap_or_default();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if word.is_empty() || !word.bytes().all(plain) || name.len() > LONGEST_NAME {
        return Err(format!(
            "the name `{name}` is not `ff_` and lower-case letters or digits, {LONGEST_NAME} in all"
        ));
    }
    let list = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let available = fs::read_to_string(list).map_err(|error| format!("{list}: {error}"))?;
    if available.split_whitespace().any(|other| other == name) {
        return Err(format!("the kernel has a congestion control `{name}` already"));
    }
    Ok(())
}

/// Writes `name` over the name that the object was built with. libbpf gives no way to a struct of operations before it is
/// loaded.
fn rename(object: &mut [u8], name: &str) -> Result<(), String> {
    let built = b"ff_scheme\0\0\0\0\0\0\0";
    let mut places =
        (0..object.len().saturating_sub(NAME_ROOM)).filter(|&at| object[at..].starts_with(built));
    let (Some(at), None) = (places.next(), places.next()) else {
        return Err("this object is not one of kernel/build".to_owned());
    };
    write(&mut object[at..at + NAME_ROOM], name);
    Ok(())
}

fn write(place: &mut [u8], word: &str) {
    place.fill(0);
    place[..word.len()].copy_from_slice(word.as_bytes());
}

/// Writes the constants `law` and `traced`, which are fixed before loading.
fn configure(open: &mut OpenObject, law: &str, traced: bool) -> Result<(), String> {
    for mut map in open.maps_mut() {
        let constants = map.name().to_string_lossy().ends_with(".rodata");
        let Some(data) = map.initial_value_mut().filter(|data| constants && data.len() >= NAME_ROOM + 4)
        else {
            continue;
        };
        write(&mut data[..NAME_ROOM], law);
        data[NAME_ROOM..NAME_ROOM + 4].copy_from_slice(&u32::from(traced).to_ne_bytes());
        return Ok(());
    }
    Err("this object is not one of kernel/build".to_owned())
}

/// The last lines of what the verifier said.
fn refused(object: &str, error: &libbpf_rs::Error) -> String {
    let said = SAID.lock().map(|said| said.clone()).unwrap_or_default();
    let log = said.split("-- BEGIN PROG LOAD LOG --").nth(1).unwrap_or(&said);
    let log = log.split("-- END PROG LOAD LOG --").next().unwrap_or_default();
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.iter().rev().take(4).rev().copied().collect::<Vec<_>>().join("\n  ");
    format!("{object}: the kernel refused it: {error}\n  {last}")
}
