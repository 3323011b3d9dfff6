//! NDN packet format 0.3 and NDNLPv2: received bytes to [`Packet<Bytes>`](tidegate_core::ndn::packet::Packet) and back.
//!
//! [`decode_frame`] reads a frame, [`decode_packet`] the packet in it: once, in one pass; the received bytes
//! stay as the packet's body. [`LinkEncoder`] makes frames of packets. All elements, beyond those of the
//! forwarder's header, are in an [`InterestView`] or a [`DataView`].
//!
//! ```
//! use tidegate_core::ndn::name::NameTable;
//! use tidegate_wire::{DataBuilder, DataView, Signer, Verifier, decode_frame, decode_packet, name};
//!
//! // /greeting, as the bytes of its components.
//! let mut components = Vec::new();
//! name::push_component(&mut components, 8, b"greeting");
//!
//! let data = DataBuilder { name: &components, content: b"hello", ..DataBuilder::default() };
//! let bytes = data.sign(&Signer::Digest)?;
//!
//! let frame = decode_frame(bytes.clone())?;
//! let mut names = NameTable::new();
//! let packet = decode_packet(&frame.fields, frame.fragment, &mut names, &mut || 0)?;
//! assert_eq!(names.uri(packet.header.name), "/greeting");
//!
//! let view = DataView::parse(&bytes)?;
//! assert_eq!(view.content, b"hello");
//! assert!(Verifier::Digest.verify_data(&view).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod batch;
mod builder;
mod certificate;
mod data;
mod error;
mod evolvability;
mod forwarding_hint;
mod interest;
mod link_encoder;
mod link_frame;
mod lp;
pub mod name;
mod packet;
pub mod rdr;
mod reassembler;
mod rewrite;
mod safe_bag;
mod secret_key;
mod sign;
mod signature;
pub mod tlv;
mod token;
mod validity;

pub use batch::FrameBatch;
pub use builder::{DataBuilder, InterestBuilder, InterestStamp};
pub use certificate::{Certificate, CertificateError, CertificateSettings};
pub use data::DataView;
pub use error::{DecodeError, EncodeError};
pub use forwarding_hint::ForwardingHint;
pub use interest::{DEFAULT_LIFETIME, InterestView};
pub use link_encoder::{LinkEncoder, MAX_FRAGMENTS};
pub use link_frame::{LABEL_LEN, LinkFrame, write_acks, write_path_probe};
pub use lp::{LpFields, LpPacket, PathProbe, decode_frame, is_ignorable};
pub use packet::{MAX_PACKET, decode_packet, loss_notice_size};
pub use reassembler::{MAX_BYTES, MAX_PARTIAL, Reassembler, TIMEOUT};
pub use safe_bag::{SafeBag, SafeBagError, SafeBagSalt, read_safe_bag, write_safe_bag};
pub use secret_key::{SecretKeyError, read_secret_key};
pub use sign::{
    KeyAlgorithm, KeyError, KeySigner, PublicKey, Signer, Verifier, VerifyError, implicit_digest,
    parameters_digest_holds, sha256,
};
pub use signature::{KeyLocator, SignatureView, signature_type};
pub use token::Token;
pub use validity::ValidityPeriod;
