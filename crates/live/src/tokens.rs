//! PIT tokens of peers: the bytes stay here, and core has a handle.
//!
//! A token is kept from its Interest to the last answer; its end is unknown, so the table is swept
//! when it has grown. A handle of a token that was swept too early finds nothing, never another's token.

use tidegate_core::ndn::packet::PitToken;
use tidegate_wire::Token;

/// Number of low bits of a handle that are a place in the table; the others count how often it was used.
const PLACE_BITS: u32 = 22;

/// Maximum number of tokens held at once.
pub const CAPACITY: usize = (1 << PLACE_BITS) - 1;

/// Minimum number of tokens for which a sweep is worth its cost.
const MIN: usize = 65_536;

/// Tokens of all faces of a node.
#[derive(Debug, Default)]
pub struct TokenTable {
    places: Vec<TokenPlace>,
    free: Vec<u32>,
    held_after_sweep: usize,
}

#[derive(Debug)]
struct TokenPlace {
    token: Option<Token>,
    /// Number of earlier uses, modulo the range in a handle.
    uses: u16,
    is_marked: bool,
}

impl TokenTable {
    /// A table without tokens.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of tokens in the table.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Whether no token is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps a token; `None` when [`CAPACITY`] tokens are held. Equal tokens get handles of their own, which
    /// spares a search among bytes that a peer chooses.
    pub fn insert(&mut self, token: Token) -> Option<PitToken> {
        let place = match self.free.pop() {
            Some(place) => place,
            None if self.places.len() < CAPACITY => {
                self.places.push(TokenPlace { token: None, uses: 0, is_marked: false });
                self.places.len() as u32 - 1
            }
            None => return None,
        };
        let slot = &mut self.places[place as usize];
        slot.token = Some(token);
        Some(handle(place, slot.uses))
    }

    /// The token of a handle; `None` for handle 0 and for a token that was swept.
    pub fn get(&self, token: PitToken) -> Option<&Token> {
        let place = self.places.get(place_of(token)?)?;
        place.token.as_ref().filter(|_| place.uses == uses_of(token))
    }

    /// Whether a [`sweep`](Self::sweep) is due: there are twice as many tokens as after the last one.
    pub fn needs_sweep(&self) -> bool {
        self.len() >= MIN.max(2 * self.held_after_sweep).min(CAPACITY)
    }

    /// Forgets every token that is not `in_use`: those of pending Interests, and those of packets that wait
    /// in queues and stores.
    pub fn sweep(&mut self, in_use: impl Iterator<Item = PitToken>) {
        for token in in_use {
            if let Some(place) = place_of(token).and_then(|place| self.places.get_mut(place)) {
                place.is_marked |= place.uses == uses_of(token);
            }
        }
        for (index, place) in self.places.iter_mut().enumerate() {
            if place.token.is_some() && !place.is_marked {
                place.token = None;
                // An answer to the swept Interest may still come; its handle must not find the next token of
                // this place.
                place.uses = (place.uses + 1) & USES_MASK;
                self.free.push(index as u32);
            }
            place.is_marked = false;
        }
        self.held_after_sweep = self.len();
    }
}

const USES_MASK: u16 = (1 << (32 - PLACE_BITS)) - 1;

/// A handle of a place in the table. Never 0, which means no token.
fn handle(place: u32, uses: u16) -> PitToken {
    PitToken((place + 1) | u32::from(uses) << PLACE_BITS)
}

fn place_of(token: PitToken) -> Option<usize> {
    let place = token.0 & ((1 << PLACE_BITS) - 1);
    (place > 0).then(|| place as usize - 1)
}

fn uses_of(token: PitToken) -> u16 {
    (token.0 >> PLACE_BITS) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Token {
        Token::new(text.as_bytes()).expect("1 to 32 bytes")
    }

    #[test]
    fn a_token_comes_back_by_its_handle_and_handle_zero_is_none() {
        let mut table = TokenTable::new();
        let (a, b) = (table.insert(token("a")), table.insert(token("a")));
        assert_ne!(a, b);
        assert_eq!(a.and_then(|handle| table.get(handle)), Some(&token("a")));
        assert_eq!(table.get(PitToken(0)), None);
        assert_eq!(table.get(PitToken(3)), None);
    }

    #[test]
    fn a_sweep_keeps_what_is_in_use_and_no_old_handle_finds_a_new_token() {
        let mut table = TokenTable::new();
        let handles: Vec<PitToken> = (0..4).filter_map(|_| table.insert(token("old"))).collect();
        table.sweep([handles[1], PitToken(0), PitToken(u32::MAX)].into_iter());
        assert_eq!(table.len(), 1);
        let new: Vec<PitToken> = (0..3).filter_map(|_| table.insert(token("new"))).collect();
        assert_eq!(table.places.len(), 4);
        assert_eq!(table.get(handles[1]), Some(&token("old")));
        assert!([0, 2, 3].iter().all(|at| table.get(handles[*at]).is_none()));
        assert!(new.iter().all(|handle| table.get(*handle) == Some(&token("new"))));
    }

    #[test]
    fn a_sweep_is_due_when_the_table_has_doubled() {
        let mut table = TokenTable::new();
        let handles: Vec<PitToken> = (0..65_536).filter_map(|_| table.insert(token("x"))).collect();
        assert!(table.needs_sweep());
        table.sweep(handles.iter().take(40_000).copied());
        assert!(!table.needs_sweep());
        assert_eq!((0..39_999).filter_map(|_| table.insert(token("y"))).count(), 39_999);
        assert!(!table.needs_sweep());
        table.insert(token("y"));
        assert!(table.needs_sweep());
    }
}
