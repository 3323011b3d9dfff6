//! Open files of the process: how many faces they suffice for.

use std::fs;

use rustix::process::{Resource, getrlimit, setrlimit};

use super::metrics::MAX_PEERS;

/// Files opened for a moment: configuration, certificates, interfaces.
const SHORT_LIVED: usize = 8;

/// Estimate of the open files of a process whose files cannot be counted.
const ASSUMED: usize = 32;

/// Raises the limit on open files as far as the system allows.
pub(super) fn raise_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Maximum number of faces for which the limit on open files leaves room, of which there are `faces` now. Files for `reserved`
/// more faces stay free, and those that other parts of the forwarder open later; [`usize::MAX`] without a limit.
pub(super) fn places_of_faces(faces: usize, reserved: usize) -> usize {
    let Some(limit) = getrlimit(Resource::Nofile).current else { return usize::MAX };
    let open = fs::read_dir("/proc/self/fd").map_or(ASSUMED + faces, Iterator::count);
    places(usize::try_from(limit).unwrap_or(usize::MAX), open.saturating_sub(faces), reserved)
}

/// As [`places_of_faces`], with `open` files that belong to no face.
fn places(limit: usize, open: usize, reserved: usize) -> usize {
    limit.saturating_sub(open + reserved + MAX_PEERS + SHORT_LIVED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_open_or_reserved_are_no_places_of_faces() {
        assert_eq!(places(1_024, 10, 16), 1_024 - 10 - 16 - 8 - 8);
        assert_eq!(places(30, 10, 16), 0);
    }
}
