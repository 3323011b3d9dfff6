//! Packet captures in pcapng (draft-ietf-opsawg-pcapng), as Wireshark reads them.
//!
//! The sender of each link direction is an interface. Every packet on the link is one UDP datagram in IPv4 in
//! Ethernet, on NDN's port, so that the dissector for NDN over UDP decodes it. Addresses follow from the
//! numbers of the nodes: 10.x.y.z, and 02:00:0a:x:y:z.

use std::io::{self, Write};

use tidegate_core::units::Time;

/// NDN over UDP (NFD's port).
const NDN_PORT: u16 = 6363;
/// Bytes of Ethernet, IPv4 and UDP in front of the packet.
const HEADERS: usize = 14 + 20 + 8;
/// Packets are cut in a capture at this many bytes.
const SNAP_LEN: u32 = 262_144;
const ETHERNET: u16 = 1;

/// Writer of a pcapng capture.
#[derive(Debug)]
pub struct Capture<W> {
    out: W,
    frame: Vec<u8>,
}

impl<W: Write> Capture<W> {
    /// A capture by `application` on interfaces of these names.
    ///
    /// # Errors
    /// Errors of writing to `out`.
    pub fn new(mut out: W, application: &str, interfaces: &[String]) -> io::Result<Self> {
        let mut body = Vec::new();
        // Byte order, version 1.0, length of the section not known.
        body.extend_from_slice(&0x1A2B_3C4D_u32.to_le_bytes());
        body.extend_from_slice(&[1, 0, 0, 0]);
        body.extend_from_slice(&u64::MAX.to_le_bytes());
        // shb_userappl; option 0 ends a list of options.
        push_option(&mut body, 4, application.as_bytes());
        push_option(&mut body, 0, &[]);
        write_block(&mut out, 0x0A0D_0D0A, &body)?;
        for name in interfaces {
            body.clear();
            body.extend_from_slice(&ETHERNET.to_le_bytes());
            body.extend_from_slice(&[0, 0]);
            body.extend_from_slice(&SNAP_LEN.to_le_bytes());
            // if_name, and if_tsresol below.
            push_option(&mut body, 2, name.as_bytes());
            // Times are in nanoseconds.
            push_option(&mut body, 9, &[9]);
            push_option(&mut body, 0, &[]);
            write_block(&mut out, 1, &body)?;
        }
        Ok(Self { out, frame: Vec::new() })
    }

    /// Appends a packet that `from` sends to `to` (numbers of nodes) through `interface`.
    ///
    /// # Errors
    /// `InvalidInput` for a packet that no UDP datagram can carry; errors of writing to the file.
    pub fn push(&mut self, interface: u32, at: Time, [from, to]: [u32; 2], packet: &[u8]) -> io::Result<()> {
        let udp_len =
            // 8 bytes of the UDP header, and 20 of the IPv4 header, whose length field has 16 bits, too.
            u16::try_from(packet.len() + 8).ok().filter(|len| *len <= u16::MAX - 20).ok_or_else(|| {
                io::Error::new(io::ErrorKind::InvalidInput, "a packet is larger than a datagram")
            })?;
        let frame = &mut self.frame;
        frame.clear();
        write_headers(frame, from, to, udp_len);
        frame.extend_from_slice(packet);
        let len = (HEADERS + packet.len()) as u32;
        let nanos = at.as_nanos();
        let mut body = Vec::with_capacity(20 + frame.len() + 3);
        // Enhanced Packet Block: interface, time as two words, captured and original length.
        for word in [interface, (nanos >> 32) as u32, nanos as u32, len, len] {
            body.extend_from_slice(&word.to_le_bytes());
        }
        body.extend_from_slice(frame);
        write_block(&mut self.out, 6, &body)
    }

    /// Writes the buffered rest of the capture.
    ///
    /// # Errors
    /// Errors of writing to the file.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A block: type, length, body padded to words, length.
fn write_block(out: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let padding = body.len().next_multiple_of(4) - body.len();
    let len = (12 + body.len() + padding) as u32;
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&len.to_le_bytes())?;
    out.write_all(body)?;
    out.write_all(&[0; 4][..padding])?;
    out.write_all(&len.to_le_bytes())
}

fn push_option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    body.extend_from_slice(&code.to_le_bytes());
    body.extend_from_slice(&(value.len() as u16).to_le_bytes());
    body.extend_from_slice(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

fn write_headers(out: &mut Vec<u8>, from: u32, to: u32, udp_len: u16) {
    let (source, destination) = (address(from), address(to));
    for node in [destination, source] {
        // Bit 0x02 of the first byte: a locally administered address.
        out.extend_from_slice(&[0x02, 0x00]);
        out.extend_from_slice(&node);
    }
    out.extend_from_slice(&0x0800_u16.to_be_bytes());
    let start = out.len();
    out.extend_from_slice(&[0x45, 0]);
    out.extend_from_slice(&(udp_len + 20).to_be_bytes());
    // Identification, "do not fragment", 64 hops, UDP, checksum below.
    out.extend_from_slice(&[0, 0, 0x40, 0, 64, 17, 0, 0]);
    out.extend_from_slice(&source);
    out.extend_from_slice(&destination);
    let sum = checksum(&out[start..]);
    out[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
    out.extend_from_slice(&NDN_PORT.to_be_bytes());
    out.extend_from_slice(&NDN_PORT.to_be_bytes());
    out.extend_from_slice(&udp_len.to_be_bytes());
    // A checksum of 0 means that there is none, which UDP over IPv4 allows (RFC 768).
    out.extend_from_slice(&[0, 0]);
}

/// IPv4 address of a node: 10.0.0.1 for node 0, and so on.
fn address(node: u32) -> [u8; 4] {
    (0x0A00_0000 | (node.wrapping_add(1) & 0x00FF_FFFF)).to_be_bytes()
}

/// The Internet checksum (RFC 1071) of an even number of bytes.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let mut sum: u32 = words.sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_checksum_is_that_of_a_known_header() {
        // The worked example of many textbooks: 4500 0073 0000 4000 4011 .... c0a8 0001 c0a8 00c7.
        let header =
            [0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 0xC0, 0xA8, 0, 1, 0xC0, 0xA8, 0, 0xC7];
        assert_eq!(checksum(&header), 0xB861);
    }

    #[test]
    fn blocks_are_whole_words_and_say_their_length_twice() {
        let mut file = Vec::new();
        let mut capture = Capture::new(&mut file, "tidegate", &["r1 -> r2".to_owned()]).expect("a Vec");
        capture.push(0, Time::from_nanos(1_500_000_001), [0, 1], &[5, 1, 0]).expect("a Vec");
        capture.finish().expect("a Vec");
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
        let (mut at, mut kinds) = (0, Vec::new());
        while at < file.len() {
            let len = word(at + 4) as usize;
            assert!(len.is_multiple_of(4) && word(at + len - 4) as usize == len);
            kinds.push(word(at));
            at += len;
        }
        assert_eq!(kinds, [0x0A0D_0D0A, 1, 6]);
    }

    #[test]
    fn a_packet_beyond_a_datagram_is_refused() {
        let mut file = Vec::new();
        let mut capture = Capture::new(&mut file, "tidegate", &[]).expect("a Vec");
        assert!(capture.push(0, Time::ZERO, [0, 1], &vec![0; 65_536]).is_err());
    }
}
