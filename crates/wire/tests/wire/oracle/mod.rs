//! python-ndn, an independent implementation, reads what we write and writes what we read.
//!
//! Runs when `TIDEGATE_PYTHON` names an interpreter with python-ndn (`pip install python-ndn`).

mod words;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use bytes::Bytes;
use tidegate_core::ndn::packet::{Kind, Nack};
use tidegate_wire::{
    DataBuilder, FrameBatch, InterestBuilder, InterestStamp, LinkEncoder, Signer, decode_frame,
};

use crate::generator::Generator;
use support::skipped::skipped;
use words::{KEY_NAME, Line, code, describe, ecdsa, hex, nonce_number};

const KEY: &str = "tests/wire/keys/pkcs8.pem";

/// The interpreter; `None`, reported as skipped, when there is none.
fn python() -> Option<String> {
    let python = std::env::var("TIDEGATE_PYTHON").ok().filter(|python| !python.is_empty());
    if python.is_none() {
        skipped(
            "packets read and written by python-ndn",
            "TIDEGATE_PYTHON does not name a Python with python-ndn installed",
        );
    }
    python
}

/// What the script prints in this mode when it is told `input`.
fn request(python: &str, mode: &str, input: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut child = Command::new(python)
        .arg(root.join("tests/oracle.py"))
        .args([mode, KEY])
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("TIDEGATE_PYTHON runs");
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("the script ends");
    let _ = writer.join().expect("the writer ends");
    assert!(output.status.success(), "oracle.py: {}", output.status);
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex")).collect()
}

/// A packet of ours and what was put into it.
type Written = (Bytes, String);

/// Changes the last byte, which is the signature's; whether it did.
fn damaged(packet: Bytes, generator: &mut Generator) -> (Bytes, bool) {
    if generator.below(4) > 0 {
        return (packet, false);
    }
    let mut bytes = packet.to_vec();
    *bytes.last_mut().expect("not empty") ^= 1;
    (Bytes::from(bytes), true)
}

fn signer(generator: &mut Generator) -> (Signer, u64, Option<&'static [u8]>) {
    if generator.often() { (Signer::Digest, 0, None) } else { (ecdsa(), 3, Some(KEY_NAME)) }
}

fn write_interest(generator: &mut Generator) -> Written {
    let name = generator.components();
    let hint = generator.components();
    let hint = [&[7, hint.len() as u8][..], &hint].concat();
    let len = generator.below(300) as usize;
    let (parameters, stamp_nonce) = (generator.bytes(len), generator.bytes(8));
    let builder = InterestBuilder {
        name: &name,
        can_be_prefix: generator.often(),
        must_be_fresh: generator.often(),
        forwarding_hint: generator.often().then_some(&hint),
        nonce: generator.often().then(|| generator.number()),
        lifetime: generator.often().then(|| tidegate_core::ndn::packet::Millis(generator.number())),
        hop_limit: generator.often().then(|| generator.number() as u8),
        parameters: generator.often().then_some(&parameters),
    };
    let stamp = InterestStamp {
        nonce: generator.often().then_some(&stamp_nonce),
        time_ms: generator.often().then(|| 1_700_000_000_000 + u64::from(generator.number())),
        sequence: generator.often().then(|| generator.number().into()),
    };
    let signed = generator.often().then(|| signer(generator));
    let ((packet, is_damaged), parameters) = match &signed {
        Some((signer, ..)) => {
            let packet = builder.sign(signer, &stamp).expect("small");
            (damaged(packet, generator), Some(builder.parameters.unwrap_or_default()))
        }
        None => ((builder.build().expect("small"), false), builder.parameters),
    };
    let holds = |is_there: bool| is_there.then_some(u64::from(!is_damaged));
    let stamp = if signed.is_some() { stamp } else { InterestStamp::default() };
    let line = Line("interest".to_owned())
        .bytes("name", Some(&name))
        .number("prefix", Some(builder.can_be_prefix.into()))
        .number("fresh", Some(builder.must_be_fresh.into()))
        .bytes("hint", builder.forwarding_hint)
        .number("nonce", builder.nonce.map(u64::from))
        .number("lifetime", builder.lifetime.map(|lifetime| lifetime.0.into()))
        .number("hops", builder.hop_limit.map(u64::from))
        .bytes("parameters", parameters)
        .number("digest", holds(parameters.is_some()))
        .number("signature", signed.as_ref().map(|signed| signed.1))
        .bytes("key", signed.as_ref().and_then(|signed| signed.2))
        .number("stamp_nonce", stamp.nonce.map(nonce_number))
        .number("time", stamp.time_ms)
        .number("sequence", stamp.sequence)
        .number("holds", holds(signed.is_some()));
    (packet, line.0)
}

fn write_data(generator: &mut Generator) -> Written {
    let name = generator.components();
    let len = generator.below(3_000) as usize;
    let content = generator.bytes(len);
    let mut last = Vec::new();
    tidegate_wire::name::push_segment(&mut last, generator.number());
    let builder = DataBuilder {
        name: &name,
        content_type: if generator.often() { generator.number().into() } else { 0 },
        freshness: generator.often().then(|| tidegate_core::ndn::packet::Millis(generator.number())),
        final_block: generator.often().then_some(&last),
        content_id: generator.often().then(|| generator.number().into()),
        content: &content,
        validity: None,
    };
    let (signer, kind, key) = signer(generator);
    let (packet, is_damaged) = damaged(builder.sign(&signer).expect("small"), generator);
    let line = Line("data".to_owned())
        .bytes("name", Some(&name))
        .number("type", Some(builder.content_type))
        .number("freshness", Some(builder.freshness.unwrap_or_default().0.into()))
        .bytes("final", builder.final_block)
        .bytes("content", Some(&content))
        .number("signature", Some(kind))
        .bytes("key", key)
        .number("holds", Some((!is_damaged).into()));
    (packet, line.0)
}

/// A frame with link fields; hop signals may be among them, which python-ndn ignores as it should.
fn write_lp(generator: &mut Generator) -> Written {
    loop {
        let sample = generator.sample();
        let packet = &sample.packet;
        let nack = match packet.header.kind {
            Kind::Nack(Nack { reason, .. }) => Some(code(reason)),
            Kind::LossNotice(_) => continue,
            _ => None,
        };
        let mut batch = FrameBatch::new();
        let mut encoder = LinkEncoder::new(None, 0);
        encoder.encode(packet, sample.token.as_ref(), &generator.names, &mut batch).expect("fits");
        let (head, body) = batch.iter().next().expect("one frame");
        let frame = Bytes::from([head, body].concat());
        if frame[0] != 100 {
            continue;
        }
        let fragment = decode_frame(frame.clone()).expect("ours").fragment;
        if matches!(packet.header.kind, Kind::Data(_)) {
            assert_eq!(fragment, packet.body);
        }
        let line = Line("lp".to_owned())
            .bytes("token", sample.token.as_ref().map(|token| token.as_bytes()))
            .number("nack", nack)
            .number("mark", Some(packet.header.hop.mark.into()))
            .bytes("fragment", Some(&fragment));
        return (frame, line.0);
    }
}

#[test]
fn python_ndn_reads_what_we_write() {
    let Some(python) = python() else { return };
    let mut generator = Generator::new(21);
    let mut written: Vec<Written> = Vec::new();
    for make in [write_interest, write_data, write_lp] {
        written.extend((0..200).map(|_| make(&mut generator)));
    }
    let input = written.iter().map(|(packet, _)| hex(packet) + "\n").collect::<String>();
    let read = request(&python, "read", &input);
    assert_eq!(read.len(), written.len());
    for ((packet, expected), read) in written.iter().zip(read) {
        assert_eq!(&read, expected, "python-ndn on {}", hex(packet));
        assert_eq!(&describe(packet), expected, "ours on {}", hex(packet));
    }
}

#[test]
fn we_read_what_python_ndn_writes() {
    let Some(python) = python() else { return };
    let written = request(&python, "write", "");
    assert_eq!(written.len(), 600);
    for line in written {
        let (packet, expected) = line.split_once(' ').expect("hex, then words");
        assert_eq!(describe(&unhex(packet)), expected, "{packet}");
    }
}
