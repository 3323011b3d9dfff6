//! The router part: adds the face by which Data arrived to the label of its path.

use tidegate_core::prelude::*;

use crate::toolbox::forwarding::path_label;
use crate::toolbox::forwarding::path_label::PATH_LABEL;

/// The gate of one face.
#[derive(Debug)]
pub(super) struct Labeller {
    face: FaceId,
}

impl Labeller {
    pub(super) fn new(face: FaceId) -> Self {
        Self { face }
    }
}

impl FaceGate for Labeller {
    fn on_data_in(&mut self, _: &mut Context<'_>, _: PitId, data: &mut Header, _: Option<Span>) {
        let beyond = data.hop.get(PATH_LABEL).unwrap_or(path_label::NONE);
        data.hop.put(PATH_LABEL, path_label::through(beyond, self.face));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_testkit::gate_bench::{GateBench, data};

    #[test]
    fn a_label_grows_by_every_face_on_the_way() {
        let mut bench = GateBench::new();
        let mut header = data(NameTable::ROOT, 1, 1_000);
        let mut expected = path_label::NONE;
        for face in [3, 1].map(FaceId) {
            bench.at(0, |cx| Labeller::new(face).on_data_in(cx, PitId(0), &mut header, None));
            expected = path_label::through(expected, face);
            assert_eq!(header.hop.get(PATH_LABEL), Some(expected));
        }
    }
}
