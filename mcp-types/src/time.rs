//! Dates and times of ISO 8601. This module reads no clock.

/// Days in an era, which has 400 years.
const DAYS_OF_ERA: i64 = 146_097;
/// Days from 1 March of the year 0 to 1970.
const DAYS_TO_1970: i64 = 719_468;
const MILLIS_OF_MINUTE: i64 = 60_000;
const MILLIS_OF_DAY: i64 = 86_400_000;

/// Formats milliseconds since 1970 in UTC.
pub fn format(milliseconds: u64) -> String {
    let (seconds, millis) = (milliseconds / 1000, milliseconds % 1000);
    // The largest number of milliseconds has 2 * 10^11 days.
    let (year, month, day) = civil(i64::try_from(seconds / 86_400).unwrap_or_default());
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Parses a date and time, such as `2026-07-28T12:00:00.5+02:00`, into milliseconds since 1970. Returns
/// `None` for another form, and for times before 1970.
pub fn parse(text: &str) -> Option<u64> {
    u64::try_from(instant(text)?).ok()
}

/// Returns `true` for a date: `2026-07-28`.
pub(crate) fn is_date(text: &str) -> bool {
    days(text).is_some()
}

/// Returns `true` for a date and a time with an offset, as RFC 3339 defines it.
pub(crate) fn is_date_time(text: &str) -> bool {
    instant(text).is_some()
}

/// Parses a date and a time with an offset into milliseconds since 1970.
fn instant(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let (time, offset) = time_of_day(time)?;
    Some(days(date)? * MILLIS_OF_DAY + time - offset)
}

/// Parses a time into milliseconds since midnight, and its offset into milliseconds.
fn time_of_day(text: &str) -> Option<(i64, i64)> {
    let (clock, offset) = if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        (clock, 0)
    } else {
        let at = text.rfind(['+', '-'])?;
        let offset = minutes(&text[at + 1..])? * MILLIS_OF_MINUTE;
        let is_west = text[at..].starts_with('-');
        (&text[..at], if is_west { -offset } else { offset })
    };
    let (clock, millis) = match clock.split_once(['.', ',']) {
        Some((clock, fraction)) => (clock, Some(millis(fraction)?)),
        None => (clock, None),
    };
    let (minutes, seconds) = match clock.split_at_checked(5)? {
        (clock, "") if millis.is_none() => (minutes(clock)?, 0),
        (clock, second) => (minutes(clock)?, digits(second.strip_prefix(':')?, 2)?),
    };
    // A leap second makes a minute of 61 seconds.
    let time = minutes * MILLIS_OF_MINUTE + seconds * 1000 + millis.unwrap_or(0);
    (seconds <= 60).then_some((time, offset))
}

/// Parses hours and minutes into minutes.
fn minutes(text: &str) -> Option<i64> {
    let (hour, minute) = text.split_once(':')?;
    let (hour, minute) = (digits(hour, 2)?, digits(minute, 2)?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

/// Parses the fraction of a second.
fn millis(fraction: &str) -> Option<i64> {
    digits(fraction, fraction.len().max(1))?;
    digits(format!("{fraction:0<3}").get(..3)?, 3)
}

fn digits(text: &str, count: usize) -> Option<i64> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// Converts days since 1970 into a date. The computation counts years from March, so that the leap day
/// is the last day of a year, in eras of 400 years.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + DAYS_TO_1970;
    let (era, day) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

/// Parses a date into days since 1970: the inverse of [`civil`].
fn days(date: &str) -> Option<i64> {
    let (year, rest) = date.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let date = (digits(year, 4)?, digits(month, 2)?, digits(day, 2)?);
    let (year, month, day) = date;
    let year = year - i64::from(month <= 2);
    let month = if month > 2 { month - 3 } else { month + 9 };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let day_of_era = year * 365 + year / 4 - year / 100 + day_of_year;
    let days = era * DAYS_OF_ERA + day_of_era - DAYS_TO_1970;
    // A day or month that does not exist, such as 31 February, becomes another date.
    (civil(days) == date).then_some(days)
}

#[cfg(test)]
mod tests {
    use super::{format, is_date, is_date_time, parse};

    #[test]
    fn milliseconds_become_iso_8601_and_back() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (1_785_240_000_007, "2026-07-28T12:00:00.007Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(format(milliseconds), text);
            assert_eq!(parse(text), Some(milliseconds), "{text}");
        }
    }

    #[test]
    fn other_iso_8601_forms_are_parsed() {
        for text in [
            "2026-07-28T12:00:00.007Z",
            "2026-07-28 12:00:00.00700Z",
            "2026-07-28T14:30:00.007+02:30",
            "2026-07-28t04:00:00,0079-08:00",
        ] {
            assert_eq!(parse(text), Some(1_785_240_000_007), "{text}");
        }
        assert_eq!(parse("2026-07-28T12:00Z"), Some(1_785_240_000_000));
    }

    #[test]
    fn text_that_is_no_time_is_refused() {
        for text in [
            "",
            "2026-07-28",
            "2026-07-28T12:00:00",
            "2026-07-28T12:00:00.Z",
            "2026-13-28T12:00:00Z",
            "2026-02-31T12:00:00Z",
            "2026-04-31T12:00:00Z",
            "2025-02-29T12:00:00Z",
            "202-007-28T12:00:00Z",
            "2026-07-28T24:00:00Z",
            "2026-07-28T12:00:00+2",
            "2026-07-28T12:00:00+2:00",
            "1969-12-31T23:59:59Z",
            "0000-01-01T00:00:00Z",
            "2026-07-2\u{00e9}T12:00:00Z",
            "+026-07-28T12:00:00Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn dates_and_times_are_recognized() {
        for text in [
            "2025-01-12T15:00:58Z",
            "2025-01-12T15:00:58.123456Z",
            "2024-02-29T23:59:60+02:00",
            "2025-01-12t15:00-05:30",
        ] {
            assert!(is_date_time(text), "{text}");
        }
        for text in [
            "2025-01-12",
            "2000-02-29",
            "2025-01-12T15:00:58",
            "2025-01-12T15:00",
        ] {
            assert!(!is_date_time(text), "{text}");
        }
        for text in [
            "",
            "T",
            "2025",
            "2025-1-12",
            "2025-02-29",
            "1900-02-29",
            "2025-13-01",
            "2025-01-00",
            "2025-01-12T",
            "2025-01-12TZ",
            "2025-01-12T25:00:00Z",
            "2025-01-12T15:60:00Z",
            "2025-01-12T15:00:61Z",
            "2025-01-12T15:00:58.Z",
            "2025-01-12T15:00:58+2:00",
            "2025-01-12T15:00:58+",
            "2025-01-12T1é:00:00",
            "٢٠٢٥-01-12",
            "yesterday",
        ] {
            assert!(!is_date(text) && !is_date_time(text), "{text}");
        }
        assert!(is_date("2025-12-31") && !is_date("2025-12-31T00:00:00Z"));
    }
}
