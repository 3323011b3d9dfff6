//! Whatever a peer sends, the forwarder counts it, answers its status, and moves the next file.

mod authority;
mod commands;
mod configuration;
mod faces;
mod floods;
mod logs;
mod malformed;
mod metrics;
mod scope;
mod service;
mod tokens;

use std::fs;

use crate::of_forwarder;
use crate::peer::{element, frame, interest, uri};
use support::json::Value;
use support::program::Scratch;
use support::running::{Forwarder, Running, Way};
use tidegate_core::ndn::packet::Millis;
use tidegate_wire::tlv::types;
use tidegate_wire::{DataBuilder, InterestBuilder, InterestStamp, Signer};

/// A forwarder that is to be hurt, and a server beside it.
struct Target {
    forwarder: Forwarder,
    _server: Running,
    scratch: Scratch,
    content: Vec<u8>,
}

impl Target {
    fn start(test: &str, config: &str) -> Self {
        let scratch = Scratch::new(test);
        let forwarder = Forwarder::start(test, config);
        let content: Vec<u8> = (0..40_000u32).map(|at| (at * at / 7) as u8).collect();
        let file = scratch.file("file", &content);
        let uri = forwarder.uri(Way::Unix);
        let server = Running::start(&["serve", "/well", &file, "--version", "5", "--transport", uri]);
        server.out_line("serving ");
        Self { forwarder, _server: server, scratch, content }
    }

    /// The status, after a small file went through.
    #[track_caller]
    fn assert_well(&self, way: Way) -> Value {
        let copy = self.scratch.at("copy");
        Running::start(&["fetch", "/well", "-o", &copy, "--transport", self.forwarder.uri(way)])
            .wait()
            .with(0);
        assert!(fs::read(&copy).expect("fetched") == self.content);
        self.forwarder.status()
    }

    /// What cannot be read is counted exactly, and the forwarder is well after it.
    #[track_caller]
    fn assert_counts(&self, way: Way, count: usize, what: &str, send: impl FnOnce()) {
        let before = unreadable(&self.forwarder.status());
        send();
        let status = self.assert_well(way);
        assert_eq!(unreadable(&status) - before, count as f64, "{what} over {way:?}: {status:?}");
    }
}

/// Malformed and oversized input.
fn unreadable(status: &Value) -> f64 {
    of_forwarder(status, "malformed") + of_forwarder(status, "oversized")
}

/// Numbers that look random, the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.roll() as u8).collect()
    }
}

/// Valid frames with everything in them that there is.
fn samples() -> Vec<Vec<u8>> {
    let name = uri(&["sample", "of", "a", "name"]);
    let hint = element(types::NAME, &[&uri(&["hint"])]);
    let full = InterestBuilder {
        name: &name,
        can_be_prefix: true,
        must_be_fresh: true,
        forwarding_hint: Some(&hint),
        nonce: Some(1),
        lifetime: Some(Millis(10)),
        hop_limit: Some(9),
        parameters: Some(b"parameters"),
    };
    let stamp =
        InterestStamp { nonce: Some(&[1, 2, 3, 4]), time_ms: Some(1_700_000_000_000), sequence: Some(1) };
    let signed = full.sign(&Signer::Digest, &stamp).expect("valid").to_vec();
    let last = [50, 1, 9];
    let data = DataBuilder {
        name: &name,
        content_type: 1,
        freshness: Some(Millis(1_000)),
        final_block: Some(&last),
        content_id: Some(7),
        content: &[7; 60],
        validity: None,
    };
    let data = data.sign(&Signer::Digest).expect("valid").to_vec();
    let token = element(types::PIT_TOKEN, &[&[1, 2, 3, 4]]);
    let mark = element(types::CONGESTION_MARK, &[&[1]]);
    let nack = element(types::NACK, &[&element(types::NACK_REASON, &[&[50]])]);
    let notice = element(types::LOSS_NOTICE, &[]);
    let bare = element(types::DATA, &[&element(types::NAME, &[&name])]);
    vec![
        interest(&name),
        signed.clone(),
        data.clone(),
        frame(&[&token, &mark], &data),
        frame(&[&token, &nack], &signed),
        frame(&[&token, &notice], &bare),
    ]
}
