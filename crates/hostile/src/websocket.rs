//! What a peer sends over a WebSocket, in whatever pieces: always the same frames, and little memory for what it does not read.

use std::io::{self, Read, Write};

use bytes::Bytes;
use tidegate_live::framing::MAX_ELEMENT;
use tidegate_live::udp::Received;
use tidegate_live::websocket::{MAX_READ, MAX_UNSENT, MessageStream};

const HANDSHAKE: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// Bytes of one answer to a ping, which may be more than the limit.
const ANSWER: usize = 2 + 125;

/// The first byte says what else there is, the next two how long the pieces are, the others are the stream.
pub fn check(data: &[u8]) {
    let Some(([mode, lengths @ ..], stream)) = data.split_first_chunk::<3>() else { return };
    if mode & 1 == 1 {
        let _ = run(&pieces(stream, *lengths), mode & 2 == 0);
        return;
    }
    let whole = run(&[HANDSHAKE, stream], mode & 2 == 0);
    let cut = pieces(stream, *lengths);
    // Which answers to pings are dropped for want of room depends on the pieces.
    if mode & 2 == 0 {
        assert_eq!(run(&[&[HANDSHAKE][..], &cut].concat(), true), whole);
    }
}

/// The stream in pieces of 1 to 256 bytes.
fn pieces(mut stream: &[u8], lengths: [u8; 2]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    for len in lengths.iter().cycle() {
        let (piece, rest) = stream.split_at((usize::from(*len) + 1).min(stream.len()));
        if piece.is_empty() {
            break;
        }
        pieces.push(piece);
        stream = rest;
    }
    pieces
}

/// The frames received, whether the connection has ended, and how many bytes it sent.
fn run(pieces: &[&[u8]], peer_reads: bool) -> (Vec<Bytes>, bool, usize) {
    let (mut frames, mut sent, mut has_ended) = (Vec::new(), 0, false);
    let pipe = Pipe { pieces: pieces.iter().copied(), piece: &[], peer_reads, sent: &mut sent };
    let mut messages = MessageStream::accepted(pipe);
    let calls = pieces.iter().map(|piece| piece.len() / MAX_READ + 1).sum::<usize>() + 2;
    for _ in 0..calls {
        let received = messages.receive(|frame| frames.push(frame));
        assert!(messages.unsent_bytes() <= MAX_UNSENT + ANSWER, "{} bytes", messages.unsent_bytes());
        if matches!(received, Ok(Received::Closed) | Err(_)) {
            has_ended = true;
            break;
        }
    }
    if !has_ended && messages.is_open() {
        let parts = [(&b"\x06"[..], &[0; 8][..]); 3];
        let (taken, waits) = messages.send(parts.into_iter()).unwrap_or((3, false));
        assert!(taken == 3 || waits);
    }
    drop(messages);
    assert!(frames.iter().all(|frame| frame.len() <= MAX_ELEMENT));
    (frames, has_ended, sent)
}

/// A stream whose pieces arrive one after the other.
struct Pipe<'a, P> {
    pieces: P,
    piece: &'a [u8],
    /// Whether there is room for what is sent.
    peer_reads: bool,
    sent: &'a mut usize,
}

impl<'a, P: Iterator<Item = &'a [u8]>> Read for Pipe<'a, P> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() {
            // Nothing is there between two pieces.
            self.piece = self.pieces.next().unwrap_or(&[]);
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let (now, later) = self.piece.split_at(buffer.len().min(self.piece.len()));
        buffer[..now.len()].copy_from_slice(now);
        self.piece = later;
        Ok(now.len())
    }
}

impl<P> Write for Pipe<'_, P> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.peer_reads {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        *self.sent += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
