//! Random packets, valid by construction.

use bytes::Bytes;
use tidegate_core::ndn::name::NameTable;
use tidegate_core::ndn::packet::{Kind, LossNotice, Millis, Nack, NackReason, Packet, PitToken};
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::scheme::signal::{Class, Signal};
use tidegate_wire::name::{push_component, push_segment};
use tidegate_wire::{
    DataBuilder, InterestBuilder, InterestStamp, KeyAlgorithm, KeySigner, LpFields, Signer, Token,
    decode_packet, loss_notice_size,
};

/// Makes packets out of one stream of random numbers.
pub struct Generator {
    rng: Rng,
    pub names: NameTable,
    ecdsa: Signer,
}

/// A packet and the token to send with it.
#[derive(Debug)]
pub struct Sample {
    pub packet: Packet<Bytes>,
    pub token: Option<Token>,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        println!("seed {seed}");
        let key = KeySigner::from_bytes(KeyAlgorithm::P256, &[7; 32], b"\x08\x01k\x08\x03KEY\x08\x011")
            .expect("a key");
        let rng = Rng::stream(Seed(seed), "packets");
        Self { rng, names: NameTable::new(), ecdsa: Signer::Key(Box::new(key)) }
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        self.rng.below(bound)
    }

    pub fn often(&mut self) -> bool {
        self.rng.chance(0.5)
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.rng.bits() as u8).collect()
    }

    /// A number of 1 to 32 significant bits, so that every width comes up.
    pub fn number(&mut self) -> u32 {
        (self.rng.bits() as u32) >> self.below(32)
    }

    fn some<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.often() { Some(make(self)) } else { None }
    }

    /// Concatenated components, one to six.
    pub fn components(&mut self) -> Vec<u8> {
        let mut components = Vec::new();
        for _ in 0..=self.below(5) {
            let kind = [8, 8, 8, 3, 32, 50, 54, 300, 65_535][self.below(9) as usize];
            let len = self.below(12) as usize;
            let value = self.bytes(len);
            push_component(&mut components, kind, &value);
        }
        if self.often() {
            let segment = self.number();
            push_segment(&mut components, segment);
        }
        components
    }

    fn signer(&mut self) -> Signer {
        // ECDSA is slow in unoptimised tests.
        if self.below(20) == 0 { self.ecdsa.clone() } else { Signer::Digest }
    }

    /// The bytes of an Interest.
    pub fn interest(&mut self) -> Bytes {
        let name = self.components();
        let hint = self.some(Self::components).map(|hint| [&[7, hint.len() as u8][..], &hint].concat());
        let large = if self.below(10) == 0 { 8_000 } else { 60 };
        let parameters = self.some(|this| {
            let len = this.below(large) as usize;
            this.bytes(len)
        });
        let builder = InterestBuilder {
            name: &name,
            can_be_prefix: self.often(),
            must_be_fresh: self.often(),
            forwarding_hint: hint.as_deref(),
            nonce: self.some(|this| this.rng.bits() as u32),
            lifetime: self.some(|this| Millis(this.number())),
            hop_limit: self.some(|this| this.rng.bits() as u8),
            parameters: parameters.as_deref(),
        };
        let stamp_nonce = self.some(|this| this.bytes(8));
        let stamp = InterestStamp {
            nonce: stamp_nonce.as_deref(),
            time_ms: self.some(|this| this.rng.bits()),
            sequence: self.some(|this| u64::from(this.number())),
        };
        let signer = self.some(Self::signer);
        let built = match signer {
            Some(signer) => builder.sign(&signer, &stamp),
            None => builder.build(),
        };
        built.expect("an Interest of fewer than 8800 bytes")
    }

    /// The bytes of a Data.
    pub fn data(&mut self) -> Bytes {
        let (name, last) = (self.components(), self.components());
        let final_block = self.some(|this| {
            let mut component = Vec::new();
            let segment = this.number();
            push_segment(&mut component, segment);
            component
        });
        let len = if self.below(4) == 0 { self.below(8_500) } else { self.below(300) } as usize;
        let content = self.bytes(len);
        let builder = DataBuilder {
            name: if self.below(50) == 0 { &[] } else { &name },
            content_type: if self.often() { 0 } else { u64::from(self.number()) },
            freshness: self.some(|this| Millis(this.number())),
            final_block: final_block.as_deref(),
            content_id: self.some(|this| u64::from(this.number())),
            content: if self.below(10) == 0 { &last } else { &content },
            validity: None,
        };
        let signer = self.signer();
        builder.sign(&signer).expect("a Data of fewer than 8800 bytes")
    }

    pub fn token(&mut self) -> Token {
        let len = 1 + self.below(32) as usize;
        Token::new(&self.bytes(len)).expect("1 to 32 bytes")
    }

    /// A packet of any kind as the forwarder holds it.
    pub fn sample(&mut self) -> Sample {
        let kind = self.below(4);
        let body = if kind == 1 || kind == 3 { self.data() } else { self.interest() };
        let fields = LpFields::default();
        let mut packet =
            decode_packet(&fields, body, &mut self.names, &mut || 77).expect("what is built is valid");
        match kind {
            0 => self.change_interest(&mut packet.header.kind),
            2 => self.refuse(&mut packet.header.kind),
            3 => self.make_notice(&mut packet),
            _ => {}
        }
        self.put_signals(&mut packet);
        Sample { packet, token: self.some(Self::token) }
    }

    fn change_interest(&mut self, kind: &mut Kind) {
        let Kind::Interest(interest) = kind else { panic!("{kind:?}") };
        if self.often() {
            interest.nonce = self.rng.bits() as u32;
        }
        if self.often() {
            interest.hop_limit = self.some(|this| this.rng.bits() as u8);
        }
    }

    fn refuse(&mut self, kind: &mut Kind) {
        self.change_interest(kind);
        let Kind::Interest(interest) = *kind else { panic!("{kind:?}") };
        let reasons = [NackReason::Congestion, NackReason::Duplicate, NackReason::NoRoute];
        *kind = Kind::Nack(Nack { interest, reason: reasons[self.below(3) as usize] });
    }

    fn make_notice(&mut self, packet: &mut Packet<Bytes>) {
        let name = packet.header.name;
        let size = loss_notice_size(self.names.encoded_len(name));
        let kind = Kind::LossNotice(LossNotice { token: PitToken::default() });
        packet.header = tidegate_core::ndn::packet::Header::new(name, kind, size);
        packet.header.hop.class = Class::NOTICE;
        packet.body = Bytes::new();
    }

    fn put_signals(&mut self, packet: &mut Packet<Bytes>) {
        let hop = &mut packet.header.hop;
        if self.rng.chance(0.3) {
            hop.mark = self.rng.bits() as u8;
        }
        // In the order of the wire, so that each keeps its slot.
        const NUMBERS: [u32; 12] = [888, 892, 896, 904, 908, 912, 916, 932, 940, 944, 952, 956];
        for signal in NUMBERS.into_iter().filter_map(Signal::with_type) {
            if self.rng.chance(0.15) {
                hop.put(signal, (self.rng.bits() as u32) >> self.rng.below(32));
            }
        }
    }
}
