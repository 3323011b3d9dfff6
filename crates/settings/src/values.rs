//! Converts one value to a quantity, a number or a text; the error explains what is wrong.

use std::str::FromStr;

use tidegate_core::ndn::face::Limit;
use tidegate_core::units::Span;

use crate::document::{Item, TomlValue};
use crate::keys::KeyKind;
use crate::read_context::{MAX_QUOTED, ReadContext, show};

/// Form of a value in messages.
pub fn shown(value: &TomlValue) -> String {
    match value {
        TomlValue::Text(text) => show(text),
        TomlValue::Bool(truth) => truth.to_string(),
        TomlValue::Number(number) if number.written.len() <= MAX_QUOTED => number.written.clone(),
        other => other.kind().to_owned(),
    }
}

/// A text.
///
/// # Errors
/// The kind of the value instead.
pub fn read_text(item: &Item) -> Result<&str, String> {
    match &item.value {
        TomlValue::Text(text) => Ok(text),
        other => Err(format!("{} is not a text in quotes", shown(other))),
    }
}

/// A quantity with its unit, in the spelling of its type; `example` shows one.
///
/// # Errors
/// The reason why it is not valid.
pub fn read_quantity<T: FromStr<Err = String>>(item: &Item, example: &str) -> Result<T, String> {
    match &item.value {
        TomlValue::Text(text) if text.len() > MAX_QUOTED => Err(format!("{} is too long", show(text))),
        TomlValue::Text(text) => text.parse(),
        TomlValue::Number(_) => Err(format!("{} has no unit; write it like {example:?}", shown(&item.value))),
        other => Err(format!("{} is not a quantity; write it like {example:?}", shown(other))),
    }
}

/// A span of time; zero only if `kind` accepts a [`KeyKind::Time`].
///
/// # Errors
/// The reason why it is not valid.
pub fn read_time(item: &Item, kind: &KeyKind) -> Result<Span, String> {
    let span: Span = read_quantity(item, "15ms")?;
    let may_be_zero = match kind {
        KeyKind::AnyOf(kinds) => kinds.iter().any(|kind| matches!(kind, KeyKind::Time)),
        kind => matches!(kind, KeyKind::Time),
    };
    if span > Span::ZERO || may_be_zero {
        Ok(span)
    } else {
        Err(format!("{} is not above zero", shown(&item.value)))
    }
}

/// A number of packets or bytes above zero.
pub(crate) fn read_limit(item: &Item) -> Result<Limit, String> {
    let text: String = match &item.value {
        TomlValue::Text(text) if text.len() <= MAX_QUOTED => text.clone(),
        // Called for its error message: the value has no unit of packets or bytes.
        _ => return read_quantity(item, "100pkt").map(Limit::Packets),
    };
    parse_limit(&text)
}

/// A number of packets (`100pkt`) or bytes (`64KiB`) above zero.
///
/// # Errors
/// The reason why it is not valid.
pub fn parse_limit(text: &str) -> Result<Limit, String> {
    let limit = if text.ends_with("pkt") {
        Limit::Packets(text.parse()?)
    } else {
        Limit::Bytes(text.parse().map_err(|why: String| why.replace("known: GB", "known: pkt, GB"))?)
    };
    match limit {
        Limit::Packets(packets) if packets.get() > 0 => Ok(limit),
        Limit::Bytes(bytes) if bytes.get() > 0 => Ok(limit),
        _ => Err(format!("{} is not above zero", show(text))),
    }
}

/// The bounds of a count, or of the one among several kinds.
fn count_bounds(kind: &KeyKind) -> (i64, i64) {
    match kind {
        KeyKind::Count(min, max) => (*min, *max),
        KeyKind::AnyOf(kinds) => {
            let is_count = |kind: &&KeyKind| matches!(kind, KeyKind::Count(..));
            kinds.iter().find(is_count).map_or((0, i64::MAX), count_bounds)
        }
        _ => (0, i64::MAX),
    }
}

/// A whole number within the bounds of `kind`.
pub(crate) fn read_count(item: &Item, kind: &KeyKind) -> Result<i64, String> {
    let TomlValue::Number(number) = &item.value else {
        return Err(format!("{} is not a whole number", shown(&item.value)));
    };
    let (min, max) = count_bounds(kind);
    match number.whole {
        Some(whole) if (min..=max).contains(&whole) => Ok(whole),
        None if number.value.is_finite() => Err(format!("{} is not a whole number", shown(&item.value))),
        _ if min == max => Err(format!("{} is not {min}", shown(&item.value))),
        _ => Err(format!("{} is not within {min} to {max}", shown(&item.value))),
    }
}

/// A number within the bounds of `kind`.
///
/// # Errors
/// The reason why it is not valid.
pub fn read_number(item: &Item, kind: &KeyKind) -> Result<f64, String> {
    let TomlValue::Number(number) = &item.value else {
        return Err(format!("{} is not a plain number", shown(&item.value)));
    };
    let KeyKind::Number(min, max) = *kind else { return Ok(number.value) };
    if (min..=max).contains(&number.value) {
        return Ok(number.value);
    }
    // A range that only excludes infinity has bounds of 300 digits, which no message needs.
    if !number.value.is_finite() && max == f64::MAX {
        return Err(format!("{} is not finite", shown(&item.value)));
    }
    Err(format!("{} is not within {min} to {max}", shown(&item.value)))
}

/// A name: 1 to 64 letters, digits, `_` and `-`; notes a problem if it is not one.
pub fn read_name(context: &ReadContext<'_>, item: &Item) -> Option<String> {
    let is_allowed = |c: char| c.is_alphanumeric() || "_-".contains(c);
    match &item.value {
        TomlValue::Text(name) if !name.is_empty() && name.len() <= 64 && name.chars().all(is_allowed) => {
            Some(name.clone())
        }
        other => {
            let rule = "a name has 1 to 64 letters, digits, \"_\" and \"-\"";
            context.refused(item.place, format!("{} is not a name; {rule}", shown(other)))
        }
    }
}
