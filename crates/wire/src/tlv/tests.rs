use super::*;

fn read(bytes: &[u8]) -> Result<(u32, Vec<u8>), DecodeError> {
    TlvReader::new(bytes).only().map(|element| (element.kind, element.value.to_vec()))
}

#[test]
fn types_and_lengths_of_every_width_are_read_back() {
    for kind in [1, 252, 253, 65_535, 65_536, u32::MAX] {
        for len in [0, 1, 252, 253, 65_535, 65_536] {
            let mut bytes = Vec::new();
            write_element(&mut bytes, kind, &vec![7; len]);
            assert_eq!(bytes.len(), element_len(kind, len));
            assert_eq!(read(&bytes), Ok((kind, vec![7; len])));
        }
    }
}

#[test]
fn a_number_that_has_a_shorter_form_is_refused() {
    for bytes in [
        &[253, 0, 7, 0][..],
        &[253, 0, 252, 0],
        &[254, 0, 0, 255, 255, 0],
        &[255, 0, 0, 0, 0, 255, 255, 255, 255, 0],
        &[7, 253, 0, 0],
    ] {
        assert!(matches!(read(bytes), Err(DecodeError::NotShortest(_))), "{bytes:?}");
    }
}

#[test]
fn type_zero_and_types_past_32_bits_are_refused() {
    assert_eq!(read(&[0, 0]), Err(DecodeError::Type(0)));
    assert_eq!(read(&[255, 0, 0, 0, 1, 0, 0, 0, 0, 0]), Err(DecodeError::Type(1 << 32)));
}

#[test]
fn a_length_past_the_end_is_refused_whatever_its_size() {
    for bytes in
        [&[7][..], &[7, 1], &[7, 255, 255, 255, 255, 255, 255, 255, 255, 255], &[7, 253, 1], &[254, 1]]
    {
        assert!(matches!(read(bytes), Err(DecodeError::Truncated { .. })), "{bytes:?}");
    }
}

#[test]
fn bytes_after_the_only_element_are_refused() {
    assert_eq!(read(&[7, 0, 8]), Err(DecodeError::Trailing(1)));
    assert_eq!(read(&[]), Err(DecodeError::Truncated { needed: 2, left: 0 }));
}

#[test]
fn a_non_negative_integer_has_one_two_four_or_eight_bytes() {
    for len in 0..=9 {
        let mut bytes = Vec::new();
        write_element(&mut bytes, 12, &vec![1; len]);
        let is_integer = TlvReader::new(&bytes).only().expect("whole").integer().is_ok();
        assert_eq!(is_integer, [1, 2, 4, 8].contains(&len), "{len} bytes");
    }
}

#[test]
fn integers_are_written_in_their_shortest_form_and_read_back() {
    for (number, len) in [(0, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (1 << 32, 8), (u64::MAX, 8)] {
        let mut bytes = Vec::new();
        write_integer(&mut bytes, 12, number);
        let element = TlvReader::new(&bytes).only().expect("whole");
        assert_eq!((element.integer(), element.value.len()), (Ok(number), len));
    }
}

#[test]
fn offsets_inside_an_element_count_from_the_packet() {
    let bytes = [7, 5, 8, 3, b'a', b'b', b'c'];
    let name = TlvReader::new(&bytes).only().expect("whole");
    let component = name.inside().only().expect("one component");
    assert_eq!((component.start, component.value_range()), (2, 4..7));
}
