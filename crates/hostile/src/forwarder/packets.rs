//! Frames of few names, so that an input soon requests the same name twice.

use tidegate_core::ndn::packet::Millis;
use tidegate_wire::name::{push_component, push_segment};
use tidegate_wire::tlv::{self, types};
use tidegate_wire::{DataView, InterestBuilder, implicit_digest};

/// Name and form of a packet.
#[derive(Clone, Copy, Debug)]
pub struct RandomChoice {
    pub name: u8,
    pub flags: u8,
}

const FIRST_WORDS: [&[u8]; 8] = [b"a", b"a", b"a", b"b", b"localhost", b"localhop", b"%", &[b'x'; 40]];

/// The prefix of a name.
pub fn prefix(name: u8) -> Vec<u8> {
    let mut components = Vec::new();
    let at = usize::from(name & 7);
    push_component(&mut components, 8, FIRST_WORDS[at]);
    for word in [b"b", b"c"].iter().take(if at < 3 { at } else { 0 }) {
        push_component(&mut components, 8, *word);
    }
    components
}

fn components(name: u8) -> Vec<u8> {
    let mut components = prefix(name);
    match name >> 3 {
        0 => {}
        number @ 1..16 => push_segment(&mut components, u32::from(number) * 20),
        word => push_component(&mut components, 32, &[word]),
    }
    components
}

/// A bare Interest, or one with a PIT token.
pub fn interest(choice: RandomChoice, nonce: u8) -> Vec<u8> {
    let flags = choice.flags;
    let mut name = components(choice.name);
    if flags & 8 != 0 {
        let data = data(RandomChoice { flags: nonce, ..choice });
        let digest = DataView::parse(&data).map(|data| implicit_digest(&data)).expect("a Data of ours");
        push_component(&mut name, 1, &digest);
    }
    let interest = InterestBuilder {
        name: &name,
        can_be_prefix: flags & 1 != 0,
        must_be_fresh: flags & 2 != 0,
        nonce: (nonce != 0).then_some(u32::from(nonce) & 31),
        hop_limit: (flags & 4 != 0).then_some(nonce >> 5),
        lifetime: [None, Some(Millis(u32::from(nonce))), Some(Millis(20)), Some(Millis(u32::MAX))]
            [usize::from(flags >> 6)],
        ..InterestBuilder::default()
    };
    let interest = interest.build().expect("a name of ours");
    if flags & 16 == 0 {
        return interest.to_vec();
    }
    let mut fields = Vec::new();
    tlv::write_element(&mut fields, types::PIT_TOKEN, &[nonce]);
    if flags & 32 != 0 {
        tlv::write_integer(&mut fields, types::CONGESTION_MARK, 1);
    }
    framed(fields, &interest)
}

/// A bare Data; its looks follow from the choice.
pub fn data(choice: RandomChoice) -> Vec<u8> {
    data_for(&components(choice.name), choice.flags)
}

/// A Data of the name with these components. Nobody looks into its signature, which is none.
pub fn data_for(name: &[u8], flags: u8) -> Vec<u8> {
    let (mut meta, mut inner) = (Vec::new(), Vec::new());
    if let Some(freshness) = [None, Some(0), Some(50), Some(u64::from(u32::MAX))][usize::from(flags >> 6)] {
        tlv::write_integer(&mut meta, types::FRESHNESS_PERIOD, freshness);
    }
    tlv::write_element(&mut inner, types::NAME, name);
    tlv::write_element(&mut inner, types::META_INFO, &meta);
    tlv::write_element(&mut inner, types::CONTENT, &[flags; 256][..usize::from(flags & 63) * 4]);
    tlv::write_element(&mut inner, types::SIGNATURE_INFO, &[types::SIGNATURE_TYPE as u8, 1, 200]);
    tlv::write_element(&mut inner, types::SIGNATURE_VALUE, &[]);
    let mut data = Vec::new();
    tlv::write_element(&mut data, types::DATA, &inner);
    data
}

/// A Nack of the Interest that [`interest`] makes.
pub fn nack(choice: RandomChoice, nonce: u8) -> Vec<u8> {
    let mut fields = Vec::new();
    tlv::write_element(&mut fields, types::NACK, &[]);
    let refused = RandomChoice { flags: choice.flags & !16, ..choice };
    framed(fields, &interest(refused, nonce.max(1)))
}

/// A loss notice for any name.
pub fn loss_notice(choice: RandomChoice) -> Vec<u8> {
    let (mut fields, mut name, mut data) = (Vec::new(), Vec::new(), Vec::new());
    tlv::write_element(&mut fields, types::LOSS_NOTICE, &[]);
    tlv::write_element(&mut name, types::NAME, &components(choice.name));
    tlv::write_element(&mut data, types::DATA, &name);
    framed(fields, &data)
}

/// `packet` in a frame with `fields`.
fn framed(mut fields: Vec<u8>, packet: &[u8]) -> Vec<u8> {
    tlv::write_element(&mut fields, types::FRAGMENT, packet);
    let mut frame = Vec::new();
    tlv::write_element(&mut frame, types::LP_PACKET, &fields);
    frame
}
