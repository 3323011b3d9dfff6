//! Course of two TCP flows through a bottleneck, as a table.

use std::fmt::Write as _;

use tidegate_core::scheme::Scheme;
use tidegate_core::units::Span;

use super::{Bottleneck, Dumbbell, DumbbellFlow, DumbbellLoss, seconds};

/// The course of two flows under the TCP sender of `scheme`, with its router part if it has one, as a golden text.
///
/// 20 Mbit/s with room for 100 packets; one segment in 5000 is lost; round trips of 40 and 60 ms. The second flow starts
/// after four seconds. A row stands for 400 ms of twelve seconds, in whole packets.
///
/// # Panics
/// If the scheme has no TCP sender.
pub fn course(scheme: &Scheme) -> String {
    let setup = Bottleneck { loss: DumbbellLoss::Every(5_000), ..Bottleneck::new(20.0, 100) };
    let setup = if scheme.router.is_some() { setup.behind(scheme, &[]) } else { setup };
    let late = DumbbellFlow { start: seconds(4.0), ..DumbbellFlow::of(scheme, &[], 60) };
    let mut path = Dumbbell::new(setup, vec![DumbbellFlow::of(scheme, &[], 40), late]);
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
