//! A frame whose labels (TxSequence and Ack of NDNLPv2) are written each time that it is sent.

use bytes::Bytes;

use crate::batch::FrameBatch;
use crate::link_encoder::write_place;
use crate::lp::PathProbe;
use crate::tlv::{self, types};

/// Bytes of a TxSequence or of an Ack: type 3, length 1, number 8.
pub const LABEL_LEN: usize = 12;

/// A frame without labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkFrame {
    sequence: Option<u64>,
    /// All fields but the Fragment.
    fields: Vec<u8>,
    /// Offset of the labels among them.
    labels_at: usize,
    fragment: Bytes,
}

impl LinkFrame {
    /// A frame with the fields of a packet; `place` has its Sequence, FragIndex and FragCount.
    pub(crate) fn new(
        place: Option<(u64, usize, usize)>,
        fields: &[u8],
        labels_at: usize,
        fragment: Bytes,
    ) -> Self {
        let mut all = Vec::with_capacity(fields.len() + 16);
        if let Some((sequence, index, count)) = place {
            write_place(&mut all, sequence, index, count);
        }
        let labels_at = all.len() + labels_at;
        all.extend_from_slice(fields);
        Self { sequence: place.map(|(sequence, ..)| sequence), fields: all, labels_at, fragment }
    }

    /// Sequence of the frame; `None` if it has none.
    pub const fn sequence(&self) -> Option<u64> {
        self.sequence
    }

    /// Bytes of the frame without labels.
    pub fn byte_len(&self) -> usize {
        tlv::element_len(types::LP_PACKET, self.inner_len())
    }

    /// Number of labels that fit a frame of at most `mtu` bytes.
    pub fn room(&self, mtu: usize) -> usize {
        // The length of the frame itself may take two bytes more.
        let len = self.byte_len();
        mtu.saturating_sub(if len <= 254 { len + 2 } else { len }) / LABEL_LEN
    }

    fn inner_len(&self) -> usize {
        self.fields.len() + tlv::element_len(types::FRAGMENT, self.fragment.len())
    }

    /// Appends the frame with its labels to `batch`.
    pub fn write(&self, tx_sequence: Option<u64>, acks: &[u64], batch: &mut FrameBatch) {
        let labels = LABEL_LEN * (acks.len() + usize::from(tx_sequence.is_some()));
        let start = batch.begin();
        let out = batch.head();
        tlv::write_header(out, types::LP_PACKET, self.inner_len() + labels);
        out.extend_from_slice(&self.fields[..self.labels_at]);
        write_labels(out, tx_sequence, acks);
        out.extend_from_slice(&self.fields[self.labels_at..]);
        tlv::write_header(out, types::FRAGMENT, self.fragment.len());
        batch.end(start, self.fragment.clone());
    }
}

/// Appends a frame that has acknowledgements only (IDLE).
pub fn write_acks(acks: &[u64], batch: &mut FrameBatch) {
    let start = batch.begin();
    let out = batch.head();
    tlv::write_header(out, types::LP_PACKET, LABEL_LEN * acks.len());
    write_labels(out, None, acks);
    batch.end(start, Bytes::new());
}

/// Bytes of a frame around the padding of a probe that needs three bytes for each length: type 1 and length 3 of the frame, type 3
/// and length 3 of the field, and the number.
const PROBE_ENVELOPE: usize = 4 + 6 + 8;

/// Minimum size of a padded probe, bytes: smaller ones have shorter lengths.
const MIN_PADDED: usize = PROBE_ENVELOPE + 256;

/// Appends a frame with a probe of the path's MTU alone (IDLE). It has `size` bytes, or 14 if that is less than 274; a reply always
/// has 14 bytes, no more than any request.
pub fn write_path_probe(probe: PathProbe, size: usize, batch: &mut FrameBatch) {
    let (kind, number, padding) = match probe {
        PathProbe::Request(number) if size >= MIN_PADDED => {
            (types::PATH_PROBE, number, size - PROBE_ENVELOPE)
        }
        PathProbe::Request(number) => (types::PATH_PROBE, number, 0),
        PathProbe::Reply(number) => (types::PATH_PROBE_REPLY, number, 0),
    };
    let start = batch.begin();
    let out = batch.head();
    let value = 8 + padding;
    tlv::write_header(out, types::LP_PACKET, tlv::element_len(kind, value));
    tlv::write_header(out, kind, value);
    out.extend_from_slice(&number.to_be_bytes());
    out.resize(out.len() + padding, 0);
    batch.end(start, Bytes::new());
}

fn write_labels(out: &mut Vec<u8>, tx_sequence: Option<u64>, acks: &[u64]) {
    for ack in acks {
        tlv::write_element(out, types::ACK, &ack.to_be_bytes());
    }
    if let Some(number) = tx_sequence {
        tlv::write_element(out, types::TX_SEQUENCE, &number.to_be_bytes());
    }
}
