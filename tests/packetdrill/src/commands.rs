//! Interprets commands in back quotes that change a script's settings. No command is executed.

use crate::settings::{Queue, Settings};

/// Interprets a command.
///
/// # Errors
/// The first unknown command: the number of its line, where the first line is zero, and its text.
pub(crate) fn interpret(text: &str, settings: &mut Settings) -> Result<(), (usize, String)> {
    for (at, command) in simple_commands(text) {
        one(&words(&command), settings).map_err(|what| (at, what))?;
    }
    Ok(())
}

fn one(words: &[String], settings: &mut Settings) -> Result<(), String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = match words.as_slice() {
        ["." | "source" | "bash" | "sh", rest @ ..] if !rest.is_empty() => rest,
        all => all,
    };
    let Some((&program, arguments)) = words.split_first() else { return Ok(()) };
    let name = program.rsplit('/').next().unwrap_or(program);
    match (name, arguments) {
        ("defaults.sh", []) => settings.suite_defaults(),
        ("set_sysctls.py", pairs) => return assign(pairs, settings),
        ("sysctl", arguments) => {
            let pairs: Vec<&str> = arguments
                .iter()
                .copied()
                .filter(|word| !matches!(*word, "-q" | "-e" | "-w" | "-qw" | "-eq"))
                .collect();
            return assign(&pairs, settings);
        }
        ("echo", [value, ">", path]) => return echo(value, path, settings),
        ("tc", ["qdisc", "add" | "replace", "dev", "tun0", "root", queue @ ..]) => {
            settings.queue = match queue {
                ["fq"] => Queue::Fair,
                ["pfifo"] => Queue::Fifo,
                ["pfifo", "limit", "0"] => Queue::Full,
                _ => return Err(format!("the queue `{}`", queue.join(" "))),
            };
        }
        ("ip", ["tcp_metrics", "flush", "all"]) | ("sleep", [_]) | ("true", []) => {}
        // `set_sysctls.py` writes this script, which restores the settings.
        _ if name.starts_with("sysctl_restore_") => {}
        _ => return Err(format!("the command `{}`", words.join(" "))),
    }
    Ok(())
}

fn assign(pairs: &[&str], settings: &mut Settings) -> Result<(), String> {
    for pair in pairs {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(format!("the sysctl argument `{pair}`"));
        };
        settings.set_sysctl(name.trim(), &products(value.trim()))?;
    }
    Ok(())
}

/// Evaluates products such as `$((15*1024*1024))`. Other text in these brackets is kept.
fn products(text: &str) -> String {
    let Some((before, rest)) = text.split_once("$((") else { return text.to_owned() };
    let Some((inside, after)) = rest.split_once("))") else { return text.to_owned() };
    let factors = inside.split('*').map(|factor| factor.trim().parse::<u64>().ok());
    let product = factors.reduce(|product, factor| product?.checked_mul(factor?)).flatten();
    product.map_or_else(|| text.to_owned(), |product| format!("{before}{product}{}", products(after)))
}

fn echo(value: &str, path: &str, settings: &mut Settings) -> Result<(), String> {
    match path.strip_prefix("/sys/module/tcp_cubic/parameters/") {
        Some("hystart_detect") => {
            settings.hystart = match value {
                "1" => "train",
                "2" => "delay",
                "3" => "both",
                _ => return Err(format!("`hystart_detect={value}`: 1, 2 and 3 can be had")),
            };
            Ok(())
        }
        _ if path.starts_with("/proc/sys/") => settings.set_sysctl(path, value),
        _ => Err(format!("writing to `{path}`")),
    }
}

/// Returns the commands of a text, each with its line number. Commands are separated by line ends, `;` and `&&`.
fn simple_commands(text: &str) -> Vec<(usize, String)> {
    let mut commands = Vec::new();
    let mut pending: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        let (begins, mut whole) = pending.take().unwrap_or((at, String::new()));
        if let Some(part) = line.strip_suffix('\\') {
            whole.push_str(part);
            pending = Some((begins, whole));
        } else {
            whole.push_str(line);
            commands.extend(parts(&whole).into_iter().map(|part| (begins, part)));
        }
    }
    if let Some((begins, whole)) = pending {
        commands.extend(parts(&whole).into_iter().map(|part| (begins, part)));
    }
    commands
}

fn parts(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut quote = None;
    let mut letters = line.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let and = letter == '&' && letters.peek() == Some(&'&');
        match (quote, letter) {
            (None, '#') if before == ' ' || before == '\t' => break,
            (None, ';') => parts.push(String::new()),
            (None, '&') if and => {
                letters.next();
                parts.push(String::new());
            }
            _ => {
                if letter == '\'' || letter == '"' {
                    quote = match quote {
                        None => Some(letter),
                        Some(open) if open == letter => None,
                        open => open,
                    };
                }
                if let Some(part) = parts.last_mut() {
                    part.push(letter);
                }
            }
        }
        before = letter;
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Returns the words of a command, without quotes. Redirections are dropped unless the file has an effect.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut quoted = false;
    for letter in command.chars() {
        match (quote, letter) {
            (None, ' ' | '\t') => {
                if quoted || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                quoted = false;
            }
            (None, '\'' | '"') => (quote, quoted) = (Some(letter), true),
            (Some(open), _) if open == letter => quote = None,
            _ => word.push(letter),
        }
    }
    if quoted || !word.is_empty() {
        words.push(word);
    }
    for silence in [
        &[">", "/dev/null", "2>&1"][..],
        &[">", "/dev/null"],
        &["2>", "/dev/null"],
        &["2>/dev/null"],
        &[">/dev/null"],
    ] {
        if words.ends_with(&silence.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()) {
            words.truncate(words.len() - silence.len());
            break;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suites_defaults_and_its_own_sysctls_are_honoured() {
        let mut settings = Settings::default();
        let text = "../common/defaults.sh\n../common/set_sysctls.py /proc/sys/net/ipv4/tcp_slow_start_after_idle=1 \\\n \
                    /proc/sys/net/ipv4/tcp_min_tso_segs=10\nsysctl -q net.ipv4.tcp_rmem=\"4096 1 2\" # why\n\
                    tc qdisc replace dev tun0 root fq; /tmp/sysctl_restore_${PPID}.sh";
        assert_eq!(interpret(text, &mut settings), Ok(()));
        assert_eq!(settings.number("tcp_slow_start_after_idle"), 1);
        assert_eq!(settings.number("tcp_min_tso_segs"), 10);
        assert_eq!(settings.part("tcp_rmem", 2), 2);
        assert_eq!(settings.queue, Queue::Fair);
    }

    #[test]
    fn a_command_that_is_not_known_is_named_with_its_line() {
        let mut settings = Settings::default();
        assert_eq!(
            interpret("true\n\nrm -rf /", &mut settings),
            Err((2, "the command `rm -rf /`".to_owned()))
        );
        assert!(interpret("tc qdisc replace dev tun0 root netem loss 1%", &mut settings).is_err());
        assert!(interpret("echo 1 > /etc/passwd", &mut settings).is_err());
    }
}
