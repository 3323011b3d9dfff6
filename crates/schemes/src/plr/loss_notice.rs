//! The notice of a stored Data to downstream nodes ("ELN", §IV.B).

use tidegate_core::ndn::packet::{Data, LossNotice, wire_size};
use tidegate_core::prelude::*;

/// The notice for `data`, a Data packet with the header `lost`: same name, same token.
pub(super) fn notice_for(names: &NameTable, lost: &Header, data: &Data) -> Header {
    let size = wire_size::loss_notice(names.encoded_len(lost.name));
    Header::new(lost.name, Kind::LossNotice(LossNotice { token: data.token }), size)
}

#[cfg(test)]
mod tests {
    use tidegate_core::ndn::packet::{Millis, PitToken};

    use super::*;

    #[test]
    fn a_notice_has_the_name_and_token_of_its_data_and_no_content() {
        let mut names = NameTable::new();
        let name = Name::segment(names.intern_uri("/ab").expect("valid"), 7);
        let data =
            Data { freshness: Millis(0), final_segment: Segment::NONE, payload: 1040, token: PitToken(42) };
        let lost = Header::new(name, Kind::Data(data), ByteCount::new(1100));
        let notice = notice_for(&names, &lost, &data);
        // Name: 9 bytes (2 + 4 + 3); LpPacket, field 901, Fragment and Data around it: 12.
        assert_eq!((notice.name, notice.size().get()), (name, 21));
        assert_eq!(notice.kind, Kind::LossNotice(LossNotice { token: PitToken(42) }));
    }
}
