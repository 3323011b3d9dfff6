//! ValidityPeriod of a certificate (NDN certificate format 2.0).

use crate::error::DecodeError;
use crate::tlv::{self, Element, TlvReader, types};

/// Time within which a certificate is valid, both ends included; seconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidityPeriod {
    /// The first second that it includes.
    pub not_before: u64,
    /// The last second that it includes.
    pub not_after: u64,
}

/// The last time that the format can express, 9999-12-31T23:59:59.
const LAST: u64 = 253_402_300_799;

const SECONDS_PER_DAY: u64 = 86_400;

/// Days of 400 years, after which the calendar repeats.
const DAYS_PER_ERA: u64 = 146_097;

impl ValidityPeriod {
    /// Whether it includes a time, seconds since 1970-01-01 UTC.
    pub const fn includes(&self, time: u64) -> bool {
        self.not_before <= time && time <= self.not_after
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let mut inner = Vec::new();
        tlv::write_element(&mut inner, types::NOT_BEFORE, write_time(self.not_before).as_bytes());
        tlv::write_element(&mut inner, types::NOT_AFTER, write_time(self.not_after).as_bytes());
        tlv::write_element(out, types::VALIDITY_PERIOD, &inner);
    }

    /// Reads the element, whatever its type.
    ///
    /// # Errors
    /// When one of the two times is missing or malformed.
    pub fn parse(element: &Element<'_>) -> Result<Self, DecodeError> {
        let mut reader = element.inside();
        Ok(Self {
            not_before: next_time(&mut reader, types::NOT_BEFORE)?,
            not_after: next_time(&mut reader, types::NOT_AFTER)?,
        })
    }
}

fn next_time(reader: &mut TlvReader<'_>, kind: u32) -> Result<u64, DecodeError> {
    let missing = DecodeError::Missing { element: kind, inside: types::VALIDITY_PERIOD };
    let element = reader.next()?.filter(|element| element.kind == kind).ok_or(missing)?;
    let accepted = "a time of the form 20261125T183000";
    read_time(element.value).ok_or(DecodeError::Unexpected { element: kind, accepted })
}

/// A time as `YYYYMMDDThhmmss`; one past the year 9999 becomes the last that the format can express.
fn write_time(time: u64) -> String {
    let time = time.min(LAST);
    let (year, month, day) = date_of(time / SECONDS_PER_DAY);
    let seconds = time % SECONDS_PER_DAY;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}")
}

/// Reads what [`write_time`] writes; `None` for anything else and for times before 1970.
fn read_time(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() == 15)?;
    let (date, time) = text.split_once('T').filter(|(date, _)| date.len() == 8)?;
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let part = |text: &str, from: usize, to: usize| text[from..to].parse::<u64>().ok();
    if !is_number(date) || !is_number(time) {
        return None;
    }
    let (year, month, day) = (part(date, 0, 4)?, part(date, 4, 6)?, part(date, 6, 8)?);
    let (hour, minute, second) = (part(time, 0, 2)?, part(time, 2, 4)?, part(time, 4, 6)?);
    if year < 1970 || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days_of(year, month, day);
    // A day that does not exist, such as February 30, is another one when it is written.
    (date_of(days) == (year, month, day))
        .then_some(days * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar. Years begin in March here, so that a leap day is the last.
fn days_of(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * month + 2) / 5 + day;
    // 719,469 days lie between 0000-02-29 and 1970-01-01.
    (era * DAYS_PER_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year).saturating_sub(719_469)
}

/// Year, month and day of a number of days from 1970-01-01.
fn date_of(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, is_next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * era + year + is_next, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        // By `date -u -d @SECONDS`.
        for (time, text) in [
            (0, "19700101T000000"),
            (951_782_400, "20000229T000000"),
            (1_764_095_400, "20251125T183000"),
            (4_107_542_399, "21000228T235959"),
            (4_107_542_400, "21000301T000000"),
            (LAST, "99991231T235959"),
        ] {
            assert_eq!(write_time(time), text);
            assert_eq!(read_time(text.as_bytes()), Some(time), "{text}");
        }
        assert_eq!(write_time(u64::MAX), "99991231T235959");
    }

    #[test]
    fn every_day_of_a_century_comes_back_and_follows_the_one_before() {
        for day in 0..36_525 {
            let (year, month, of_month) = date_of(day);
            assert_eq!(days_of(year, month, of_month), day, "{year}-{month}-{of_month}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "20251125T18300",
            "20251125 183000",
            "20250230T000000",
            "20251301T000000",
            "20251125T240000",
            "19691231T235959",
            "2025112ÄT18300",
            "+0251125T183000",
        ] {
            assert_eq!(read_time(text.as_bytes()), None, "{text}");
        }
    }
}
