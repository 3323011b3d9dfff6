//! TLV-TYPE numbers of packet format 0.3, NDNLPv2 and the naming conventions.
#![expect(missing_docs, reason = "the names are those of the specifications")]

pub const INTEREST: u32 = 5;
pub const DATA: u32 = 6;
pub const NAME: u32 = 7;

pub const IMPLICIT_SHA256_DIGEST: u32 = 1;
pub const PARAMETERS_SHA256_DIGEST: u32 = 2;
pub const GENERIC_NAME_COMPONENT: u32 = 8;
pub const KEYWORD_NAME_COMPONENT: u32 = 32;
pub const SEGMENT_NAME_COMPONENT: u32 = 50;
pub const VERSION_NAME_COMPONENT: u32 = 54;
pub const SEQUENCE_NUM_NAME_COMPONENT: u32 = 58;

pub const CAN_BE_PREFIX: u32 = 33;
pub const MUST_BE_FRESH: u32 = 18;
pub const FORWARDING_HINT: u32 = 30;
pub const NONCE: u32 = 10;
pub const INTEREST_LIFETIME: u32 = 12;
pub const HOP_LIMIT: u32 = 34;
pub const APPLICATION_PARAMETERS: u32 = 36;
pub const INTEREST_SIGNATURE_INFO: u32 = 44;
pub const INTEREST_SIGNATURE_VALUE: u32 = 46;

pub const META_INFO: u32 = 20;
pub const CONTENT: u32 = 21;
pub const SIGNATURE_INFO: u32 = 22;
pub const SIGNATURE_VALUE: u32 = 23;
pub const CONTENT_TYPE: u32 = 24;
pub const FRESHNESS_PERIOD: u32 = 25;
pub const FINAL_BLOCK_ID: u32 = 26;
/// Identity of the content that the segments of a version are of, which is our extension in MetaInfo. Even, so that a consumer
/// that does not know it ignores it.
pub const CONTENT_ID: u32 = 250;

pub const SIGNATURE_TYPE: u32 = 27;
pub const KEY_LOCATOR: u32 = 28;
pub const KEY_DIGEST: u32 = 29;
pub const SIGNATURE_NONCE: u32 = 38;
pub const SIGNATURE_TIME: u32 = 40;
pub const SIGNATURE_SEQ_NUM: u32 = 42;
pub const VALIDITY_PERIOD: u32 = 253;
pub const NOT_BEFORE: u32 = 254;
pub const NOT_AFTER: u32 = 255;
pub const SAFE_BAG: u32 = 128;
pub const ENCRYPTED_KEY: u32 = 129;

pub const LP_PACKET: u32 = 100;
pub const FRAGMENT: u32 = 80;
pub const SEQUENCE: u32 = 81;
pub const FRAG_INDEX: u32 = 82;
pub const FRAG_COUNT: u32 = 83;
pub const PIT_TOKEN: u32 = 98;
pub const NACK: u32 = 800;
pub const NACK_REASON: u32 = 801;
pub const INCOMING_FACE_ID: u32 = 812;
pub const NEXT_HOP_FACE_ID: u32 = 816;
pub const CACHE_POLICY: u32 = 820;
pub const CACHE_POLICY_TYPE: u32 = 821;
/// A probe of the path's MTU, and its confirmation, which are our extension. A node that does not know them ignores them.
pub const PATH_PROBE: u32 = 824;
pub const PATH_PROBE_REPLY: u32 = 828;
pub const CONGESTION_MARK: u32 = 832;
pub const ACK: u32 = 836;
pub const TX_SEQUENCE: u32 = 840;
/// A loss notice, which is our extension. Odd, so that a node that does not know it drops the packet.
pub const LOSS_NOTICE: u32 = 901;
