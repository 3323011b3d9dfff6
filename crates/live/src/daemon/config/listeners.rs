//! Listening addresses of the forwarder, with the defaults that apply if none is configured.

use std::net::SocketAddr;
use std::path::PathBuf;

use tidegate_settings::fields::Fields;
use tidegate_settings::read_context::show;
use tidegate_settings::values::read_text;

use super::Listener;
use crate::uri::LONGEST_PATH;

/// Default addresses of UDP and TCP listeners.
pub(super) const ADDRESSES: [&str; 2] = ["0.0.0.0:6363", "[::]:6363"];
/// Default path of the forwarder's socket, where applications look for it.
const UNIX: &str = "/run/nfd/nfd.sock";
/// Maximum number of addresses of one kind.
const MAX_LISTENERS: usize = 64;

/// The addresses under `key`, with ports; those of `default` if it is not given.
pub(super) fn read_addresses(listen: &Fields<'_>, key: &str, default: &[&str]) -> Vec<Listener<SocketAddr>> {
    read_listeners(listen, key, default, read_address)
}

/// The paths under `key`.
pub(super) fn read_paths(listen: &Fields<'_>, key: &str) -> Vec<Listener<PathBuf>> {
    read_listeners(listen, key, &[UNIX], read_path)
}

/// The address at which metrics are served, if there is one. They show what the forwarder does, so they stay on this machine.
pub(super) fn read_metrics(forwarder: &Fields<'_>) -> Option<SocketAddr> {
    let text = forwarder.text("metrics")?;
    let address = read_address(&text).and_then(|address: SocketAddr| match address.ip().is_loopback() {
        true => Ok(address),
        false => Err(format!("{} is not a loopback address such as \"127.0.0.1:9695\"", show(&text))),
    });
    address.map_err(|why| forwarder.refuse("metrics", format!("metrics: {why}"))).ok()
}

/// The permissions under `key`.
pub(super) fn read_mode(listen: &Fields<'_>, key: &str) -> Option<u32> {
    let text = listen.text(key)?;
    match u32::from_str_radix(&text, 8) {
        Ok(mode) if mode <= 0o777 && text.len() >= 3 => Some(mode),
        _ => {
            let why = format!("{key}: {} is not of the form \"0660\", within 000 to 0777", show(&text));
            listen.refuse(key, why);
            None
        }
    }
}

/// The addresses of a list, or the default ones.
fn read_listeners<A: Clone + PartialEq>(
    listen: &Fields<'_>,
    key: &str,
    default: &[&str],
    read: fn(&str) -> Result<A, String>,
) -> Vec<Listener<A>> {
    if listen.item(key).is_none() {
        let address = |text: &&str| read(text).ok().map(|address| Listener { address, is_required: false });
        return default.iter().filter_map(address).collect();
    }
    let items = listen.list(key);
    if items.len() > MAX_LISTENERS {
        listen.refuse(key, format!("{key}: {} addresses; at most {MAX_LISTENERS}", items.len()));
        return Vec::new();
    }
    let mut list: Vec<Listener<A>> = Vec::new();
    for item in items {
        match read_text(item).and_then(read) {
            Ok(address) if list.iter().any(|other| other.address == address) => {
                listen.context.refuse(item.place, format!("{key}: this address is listed twice"));
            }
            Ok(address) => list.push(Listener { address, is_required: true }),
            Err(why) => listen.context.refuse(item.place, format!("{key}: {why}")),
        }
    }
    list
}

fn read_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!(
            "{} is not an address with a port; write it like \"0.0.0.0:6363\" or \"[::]:6363\"",
            show(text)
        )
    })
}

fn read_path(text: &str) -> Result<PathBuf, String> {
    if text.len() < 2 || text.len() > LONGEST_PATH || !text.starts_with('/') || text.contains('\0') {
        return Err(format!(
            "{} is not an absolute path of at most {LONGEST_PATH} bytes; write it like {UNIX:?}",
            show(text)
        ));
    }
    Ok(PathBuf::from(text))
}
