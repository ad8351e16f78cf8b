//! Observes the kernel until the user interrupts or the duration has passed.

use std::cell::RefCell;
use std::os::linux::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use firstflight_kernel::{Watch as Attached, WatchOrder};
use firstflight_report::Rows;
use firstflight_scenario::quantity;

use super::options::Watch;
use super::serving::Serving;
use super::telling::Telling;
use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::output;
use crate::targets::{check_file, is_same};

/// The minimum and the maximum size of the ring buffer in bytes. libbpf accepts no smaller one, and 32 bits address no larger one.
const RINGS: [u64; 2] = [4096, 1 << 30];

/// Carries out `firstflight watch` without `--compare`.
pub(super) fn follow(options: &Watch, arguments: &[String]) -> Result<(), Failure> {
    let style = options.table.style(Rows::Captures, &[], arguments)?;
    let duration = options.duration.as_deref().map(|text| time("--duration", text, arguments)).transpose()?;
    let every = time("--every", &options.every, arguments)?;
    let order = order(options, arguments)?;
    check(options, arguments)?;
    let serving = options.listen.as_deref().map(|text| Serving::listen(text, arguments)).transpose()?;
    let address = serving.as_ref().and_then(Serving::address);
    let interrupt = Interrupt::listen();
    let attached = Attached::attach(&order).map_err(Failure::usage)?;
    // This is printed before the view takes over the terminal.
    output::say(&match address {
        Some(address) => format!("watching, until Ctrl-C; metrics at http://{address}/metrics\n"),
        None => "watching, until Ctrl-C\n".to_owned(),
    });
    let inspect = super::telling::of_captures(options);
    let telling = RefCell::new(Telling::new(options, &inspect, (every, serving))?);
    #[expect(clippy::disallowed_methods, reason = "this is the edge: facts come by the machine's clock")]
    let began = Instant::now();
    let goes_on = || {
        let elapsed = began.elapsed();
        let is_over = interrupt.happened() || duration.is_some_and(|duration| elapsed >= duration);
        telling.borrow_mut().turn(elapsed, attached.lost().unwrap_or(0)) && !is_over
    };
    let followed = attached.follow(|fact| telling.borrow_mut().take(fact), goes_on);
    let missed = attached.lost().and_then(|lost| Ok((lost, attached.skipped()?)));
    drop(attached);
    let telling = telling.into_inner();
    // The start-ups observed so far are written even if the kernel fails in the end.
    let ended = telling.end(began.elapsed(), *missed.as_ref().unwrap_or(&(0, 0)), &style, arguments);
    followed.map_err(Failure::usage)?;
    missed.map_err(Failure::usage)?;
    ended
}

fn order(options: &Watch, arguments: &[String]) -> Result<WatchOrder, Failure> {
    let namespace = match &options.netns {
        Some(path) => Some(namespace(path).map_err(|why| {
            let place = Place::value(arguments, "--netns", &path.to_string_lossy());
            Failure::usage(format!("--netns: {}: {why}", path.display())).at(place)
        })?),
        None => None,
    };
    let ring = quantity::bytes(&options.ring).map_err(|error| error.to_string()).and_then(|bytes| {
        let bytes = bytes.get();
        let is_allowed = (RINGS[0]..=RINGS[1]).contains(&bytes);
        let ring = u32::try_from(bytes.next_power_of_two()).ok().filter(|_| is_allowed);
        ring.ok_or_else(|| format!("{} is not from 4096B to 1073741824B", options.ring))
    });
    let ring = ring.map_err(|why| {
        Failure::usage(format!("--ring: {why}")).at(Place::value(arguments, "--ring", &options.ring))
    })?;
    Ok(WatchOrder { namespace, port: options.port, detail: options.detail, loopback: options.loopback, ring })
}

/// Returns the inode number of the network namespace at this path.
fn namespace(path: &Path) -> Result<u32, String> {
    let look = |path: &Path| std::fs::metadata(path).map_err(|error| error.to_string());
    let (found, own) = (look(path)?, look(Path::new("/proc/self/ns/net"))?);
    // All namespaces are files of one file system.
    if found.st_dev() != own.st_dev() {
        return Err("it is no network namespace; /run/netns/NAME and /proc/PID/ns/net are".to_owned());
    }
    u32::try_from(found.st_ino()).map_err(|_| "its inode has more than 32 bits".to_owned())
}

fn time(option: &str, text: &str, arguments: &[String]) -> Result<Duration, Failure> {
    let refuse =
        |why: String| Failure::usage(format!("{option}: {why}")).at(Place::value(arguments, option, text));
    let span = quantity::span(text).map_err(|error| refuse(error.to_string()))?;
    if span.nanos() == 0 {
        return Err(refuse(format!("{text} is no time; it is above 0")));
    }
    Ok(Duration::from_nanos(span.nanos()))
}

/// Tests that the requested outputs can be written.
fn check(options: &Watch, arguments: &[String]) -> Result<(), Failure> {
    if options.state.is_some() && options.listen.is_none() && options.openmetrics.is_none() {
        let why = "it keeps the counters of --listen and of --openmetrics: give one of them too";
        return Err(Failure::usage(format!("--state: {why}")));
    }
    let targets = [
        ("--rows", &options.rows),
        ("--parquet", &options.parquet),
        ("--openmetrics", &options.openmetrics),
        ("--state", &options.state),
    ];
    let targets: Vec<(&str, &Path)> =
        targets.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))).collect();
    for (place, (option, path)) in targets.iter().enumerate() {
        check_file(option, path, &[], arguments)?;
        if let Some((other, earlier)) = targets[..place].iter().find(|(_, earlier)| is_same(earlier, path)) {
            let (path, earlier) = (path.display(), earlier.display());
            return Err(Failure::usage(format!("{option}: {path} is {other}'s file too, {earlier}")));
        }
    }
    Ok(())
}
