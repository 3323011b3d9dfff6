//! Paths of a router, by the labels that it wrote on Data.
//!
//! By a label a router finds the face by which a path leaves, and the label of the rest of the path at the next
//! router. Labels of Interests are swapped at every router, as in MPLS.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tidegate_core::ndn::face::FaceId;

use crate::toolbox::forwarding::path_label;

/// The label for any path, on an Interest.
pub(super) const ANY: u32 = path_label::NONE;
/// Maximum number of paths of a router.
const MAX: usize = 1024;

/// The table of a node, which its gates and its strategy share.
pub(super) type SharedPaths = Rc<RefCell<PathTable>>;

/// The known paths of a consumer by path label.
#[derive(Debug, Default)]
pub(super) struct PathTable {
    paths: BTreeMap<u32, PathEntry>,
    /// Number of Data packets so far.
    received: u64,
}

#[derive(Clone, Copy, Debug)]
struct PathEntry {
    face: FaceId,
    /// The label of the rest of the path.
    beyond: u32,
    received: u64,
}

impl PathTable {
    /// Records Data that arrived through `face` with the label `beyond`; returns its label from here on. At the
    /// maximum number of paths the one without Data for the longest time is removed.
    pub fn learn(&mut self, beyond: u32, face: FaceId) -> u32 {
        self.received += 1;
        let label = path_label::through(beyond, face);
        if self.paths.len() >= MAX && !self.paths.contains_key(&label) {
            let oldest = self.paths.iter().min_by_key(|(_, path)| path.received).map(|(label, _)| *label);
            oldest.and_then(|oldest| self.paths.remove(&oldest));
        }
        self.paths.insert(label, PathEntry { face, beyond, received: self.received });
        label
    }

    /// The face by which the path `label` leaves; `None` if the label is unknown.
    pub fn face_of(&self, label: u32) -> Option<FaceId> {
        self.paths.get(&label).map(|path| path.face)
    }

    /// Label of the path `label` at the next router if it leaves by `face`, else [`ANY`].
    pub fn beyond(&self, label: u32, face: FaceId) -> u32 {
        self.paths.get(&label).filter(|path| path.face == face).map_or(ANY, |path| path.beyond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_leads_back_along_the_path_that_it_came_by() {
        let (mut far, mut near) = (PathTable::default(), PathTable::default());
        let beyond = far.learn(ANY, FaceId(7));
        let label = near.learn(beyond, FaceId(3));
        let other = near.learn(beyond, FaceId(4));
        assert!(label != ANY && label != other);
        assert_eq!((near.face_of(label), near.beyond(label, FaceId(3))), (Some(FaceId(3)), beyond));
        assert_eq!(far.face_of(beyond), Some(FaceId(7)));
        assert_eq!((near.beyond(label, FaceId(4)), near.beyond(1, FaceId(3))), (ANY, ANY), "another way");
        assert_eq!(near.face_of(1), None);
    }

    #[test]
    fn the_path_that_was_silent_for_longest_is_forgotten() {
        let mut table = PathTable::default();
        let labels: Vec<u32> = (0..MAX as u32).map(|beyond| table.learn(beyond, FaceId(0))).collect();
        table.learn(0, FaceId(0));
        table.learn(0, FaceId(1));
        assert_eq!(table.paths.len(), MAX);
        assert_eq!((table.face_of(labels[0]), table.face_of(labels[1])), (Some(FaceId(0)), None));
    }
}
