//! Each sender's course through one bottleneck stays as recorded; `UPDATE_GOLDEN=1` records anew.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::*;

const CASE: &str = "tcp_bottleneck.txt";

/// Two flows, the second four seconds later, one in 5000 segments lost, in rows of 400 ms.
fn course(scheme: &Scheme) -> String {
    let setup = Bottleneck { loss: Loss::Every(5_000), ..Bottleneck::new(20.0, 100) };
    let setup = if scheme.router.is_some() { setup.behind(scheme, &[]) } else { setup };
    let late = Flow { start: seconds(4.0), ..Flow::of(scheme, &[], 60) };
    let mut path = Dumbbell::new(setup, vec![Flow::of(scheme, &[], 40), late]);
    let mut text = format!(
        "# {}: 20 Mbit/s, room for 100 packets, one segment in 5000 lost; round trips of 40 and 60 ms, the second from 4 s on\n\
         # t_ms  window_1  window_2  in_flight_1  in_flight_2  queued  kB_1  kB_2  dropped\n",
        scheme.name
    );
    let rows = path.trace(12.0, Span::from_millis(400), |path| {
        let window = |flow| match path.window(flow) {
            window if window.is_finite() => window.round().to_string(),
            _ => "-".to_owned(),
        };
        format!(
            "{:>6}{:>10}{:>10}{:>13}{:>13}{:>8}{:>6}{:>6}{:>9}",
            path.now.as_nanos() / 1_000_000,
            window(0),
            window(1),
            path.in_flight(0),
            path.in_flight(1),
            path.queued(),
            path.received(0) / 1000,
            path.received(1) / 1000,
            path.queue_stats().dropped,
        )
    });
    for row in rows {
        writeln!(text, "{row}").expect("a string takes every row");
    }
    text
}

#[test]
fn every_sender_runs_as_recorded() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    let mut differences = Vec::new();
    for scheme in senders() {
        let file = root.join(scheme.name).join(CASE);
        let now = course(scheme);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::create_dir_all(file.parent().expect("the file lies in a folder")).expect("folder");
            fs::write(&file, &now).expect("golden file is writable");
        }
        let recorded = fs::read_to_string(&file).unwrap_or_default();
        let differing = recorded.lines().zip(now.lines()).find(|(old, new)| old != new);
        if recorded != now {
            differences.push(format!("{}: {differing:?}", scheme.name));
        }
    }
    assert!(
        differences.is_empty(),
        "{differences:#?}\nreview, then UPDATE_GOLDEN=1 cargo test -p tidegate-schemes"
    );
}
