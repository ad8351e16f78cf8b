//! The notice to the service manager that a scheme is loaded (`sd_notify`), so that a unit of `Type=notify` is active only then.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::{env, io};

/// Reports to the service manager that the command is ready, with its state in words. Does nothing if no service manager waits for it.
pub(super) fn ready(state: &str) {
    let Some(name) = env::var_os("NOTIFY_SOCKET") else { return };
    // A manager that no longer listens needs no notice.
    let _: io::Result<()> = send(name.as_bytes(), state);
}

fn send(name: &[u8], state: &str) -> io::Result<()> {
    let address = match name.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(name))?,
    };
    let message = format!("READY=1\nSTATUS={}", state.trim_end());
    UnixDatagram::unbound()?.send_to_addr(message.as_bytes(), &address).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manager_receives_one_notice_at_its_socket() {
        let name = format!("firstflight-notify-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let manager = UnixDatagram::bind_addr(&address).expect("a socket");
        send(format!("@{name}").as_bytes(), "ff_x is registered\n").expect("it listens");
        let mut bytes = [0; 100];
        let length = manager.recv(&mut bytes).expect("a notice");
        assert_eq!(&bytes[..length], b"READY=1\nSTATUS=ff_x is registered");
        assert!(send(b"@firstflight-none", "").is_err());
    }
}
