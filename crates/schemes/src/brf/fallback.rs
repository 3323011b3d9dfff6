//! CUBIC for a BRF sender that is granted nothing: the window of `tcp-cubic`.

use crate::toolbox::window::tcp_cubic::{TcpCubicRule, TcpCubicWindow};

/// First window, segments (RFC 6928).
pub(super) const INITIAL_WINDOW: f64 = TcpCubicRule::RFC_9438.initial;
/// Minimum window to continue from, segments.
const MIN: f64 = 2.0;

/// State at the start of a connection.
pub(super) fn begin() -> TcpCubicWindow {
    TcpCubicWindow::new(TcpCubicRule::RFC_9438)
}

/// A window that continues from `window` segments, which the path is known to carry.
pub(super) fn resume(window: f64) -> TcpCubicWindow {
    TcpCubicWindow::resume(TcpCubicRule::RFC_9438, window.max(MIN))
}
