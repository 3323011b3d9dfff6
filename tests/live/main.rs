//! The live side as its users meet it: processes on loopback, files in and files out.
#![cfg(target_os = "linux")]

mod addresses;
mod browser;
mod links;
mod namespaces;
mod path_mtu;
mod peer;
mod python;
mod robustness;
mod top;
mod transfers;

use support::json::Value;

/// The number of an entry; 0 where there is none.
fn number(value: &Value, key: &str) -> f64 {
    match value.get(key) {
        Value::Number(number) => *number,
        _ => 0.0,
    }
}

/// An entry of the forwarder itself in its status.
fn of_forwarder(status: &Value, key: &str) -> f64 {
    status.get("forwarder").list().first().map_or(0.0, |forwarder| number(forwarder, key))
}
