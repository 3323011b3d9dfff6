//! Elements in few words, for packets written by hand.

/// An element of a type and length below 253.
pub fn tlv(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
    let value = parts.concat();
    let len = u8::try_from(value.len()).expect("short");
    assert!(kind < 253 && len < 253);
    [&[kind, len][..], &value].concat()
}

/// An element of a type of 253 to 65535.
pub fn long(kind: u16, value: &[u8]) -> Vec<u8> {
    let [high, low] = kind.to_be_bytes();
    [&[253, high, low, value.len() as u8][..], value].concat()
}

/// The Name `/a`.
pub fn name() -> Vec<u8> {
    tlv(7, &[&tlv(8, &[b"a"])])
}

/// An Interest for `/a` with a nonce, and these elements behind it.
pub fn interest(parts: &[&[u8]]) -> Vec<u8> {
    tlv(5, &[&name(), &tlv(10, &[&[1, 2, 3, 4]]), &parts.concat()])
}

/// A Data `/a` with these elements between its name and its signature.
pub fn data(parts: &[&[u8]]) -> Vec<u8> {
    tlv(6, &[&name(), &parts.concat(), &tlv(22, &[&tlv(27, &[&[0]])]), &tlv(23, &[&[9; 32]])])
}
