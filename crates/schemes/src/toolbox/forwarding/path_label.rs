//! Labels of paths: each router that a Data passes mixes the face that it came through into the label on it.
//!
//! Paper: the path labels of MIRCC (Mahdian et al., ICN 2016) and RAAQM (Carofiglio et al.); the hash is ours.

use tidegate_core::hash::fnv1a_32;
use tidegate_core::prelude::*;

/// Hash of the path that the Data took.
pub const PATH_LABEL: Signal = Signal::new(912, Merge::Last);

/// The label of Data that no router has labelled.
pub const NONE: u32 = 0;

/// The label of the path `beyond` with the face that leads to it; never [`NONE`].
pub fn through(beyond: u32, face: FaceId) -> u32 {
    // A hash that happens to be 0 would read as "not labelled"; it shares the label 1 instead.
    mix(beyond, u32::from(face.0)).max(NONE + 1)
}

/// A hash of two numbers (FNV-1a).
pub fn mix(first: u32, second: u32) -> u32 {
    fnv1a_32([first.to_le_bytes(), second.to_le_bytes()].as_flattened())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_distinguishes_faces_and_their_order() {
        let [one, two] = [1, 2].map(FaceId);
        let labels = [through(NONE, one), through(NONE, two), through(through(NONE, one), two)];
        assert!(!labels.contains(&NONE) && labels[0] != labels[1]);
        assert_ne!(labels[2], through(through(NONE, two), one));
    }
}
