//! PIT tokens: 1 to 32 opaque bytes that an answer must echo.

use std::fmt;

use crate::error::DecodeError;

/// A PIT token (NDNLPv2), stored inline.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token {
    len: u8,
    bytes: [u8; Self::MAX],
}

impl Token {
    /// Maximum length of a token, bytes.
    pub const MAX: usize = 32;

    /// A token of these bytes.
    ///
    /// # Errors
    /// When there are none, or more than [`MAX`](Self::MAX).
    pub fn new(token: &[u8]) -> Result<Self, DecodeError> {
        if token.is_empty() || token.len() > Self::MAX {
            let element = crate::tlv::types::PIT_TOKEN;
            return Err(DecodeError::Length { element, bytes: token.len(), accepted: "1 to 32" });
        }
        let mut bytes = [0; Self::MAX];
        bytes[..token.len()].copy_from_slice(token);
        Ok(Self { len: token.len() as u8, bytes })
    }

    /// The bytes, 1 to [`MAX`](Self::MAX).
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(")?;
        for byte in self.as_bytes() {
            write!(f, "{byte:02x}")?;
        }
        f.write_str(")")
    }
}
