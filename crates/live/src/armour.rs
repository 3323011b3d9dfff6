//! Packets in text: in base64, as `ndnsec` writes them, or in PEM blocks with headers, as ndnd does.

use base64ct::{Base64, Encoding};

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";

/// The packets in a text: the contents of its PEM blocks, whatever their labels; without a block all of it is one packet. `None`
/// if something is not base64, or a block has no end.
pub fn packets(text: &str) -> Option<Vec<Vec<u8>>> {
    if !text.contains(BEGIN) {
        return decode(text.chars()).map(|packet| vec![packet]);
    }
    let mut packets = Vec::new();
    let mut block: Option<Vec<&str>> = None;
    // Text between blocks is a comment (RFC 7468, section 2).
    for line in text.lines().map(str::trim) {
        if line.starts_with(BEGIN) {
            block = Some(Vec::new());
        } else if line.starts_with(END) {
            let lines = block.take()?;
            // Headers, which name what the packet has as well (RFC 1421, section 4.4); no base64 has a colon.
            let content = lines.into_iter().filter(|line| !line.contains(':'));
            packets.push(decode(content.flat_map(str::chars))?);
        } else if let Some(block) = &mut block {
            block.push(line);
        }
    }
    block.is_none().then_some(packets)
}

fn decode(text: impl Iterator<Item = char>) -> Option<Vec<u8>> {
    let text: String = text.filter(|letter| !letter.is_ascii_whitespace()).collect();
    Base64::decode_vec(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_base64_is_one_packet() {
        assert_eq!(packets("AQID\nBA==\n"), Some(vec![vec![1, 2, 3, 4]]));
        assert_eq!(packets("AQID!"), None);
    }

    #[test]
    fn each_block_is_a_packet_and_headers_are_none_of_it() {
        let text = "comment: none\n-----BEGIN NDN KEY-----\nName: /a/KEY/1\nSigType: Ed25519\n\nAQID\nBA==\n\
                    -----END NDN KEY-----\n\n-----BEGIN NDN CERT-----\r\nBQ==\r\n-----END NDN CERT-----\r\n";
        assert_eq!(packets(text), Some(vec![vec![1, 2, 3, 4], vec![5]]));
    }

    #[test]
    fn a_block_without_its_end_or_with_other_text_is_refused() {
        for text in [
            "-----BEGIN X-----\nAQID\n",
            "-----BEGIN X-----\nA*\n-----END X-----\n",
            "-----BEGIN X-----\n-----END X-----\n-----END X-----\n",
        ] {
            assert_eq!(packets(text), None, "{text}");
        }
    }
}
