//! Times in ISO 8601. This module reads no clock: the crates of extensions do.

/// Days of an era of 400 years.
const DAYS_OF_ERA: u64 = 146_097;
/// Days from 1 March of the year 0 to 1970.
const DAYS_TO_1970: u64 = 719_468;
const MILLIS_OF_DAY: u64 = 86_400_000;

/// Formats milliseconds since 1970 in UTC.
pub fn format(milliseconds: u64) -> String {
    let (seconds, millis) = (milliseconds / 1000, milliseconds % 1000);
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Parses a date and time, such as `2026-07-28T12:00:00.5+02:00`, into milliseconds since 1970. Returns
/// `None` for another form, and for times before 1970.
pub fn parse(text: &str) -> Option<u64> {
    let (date, rest) = text.split_at_checked(10)?;
    let [year, month, day] = numbers(date, '-')?;
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (time, zone) = rest.split_at_checked(8)?;
    let [hour, minute, second] = numbers(time, ':')?;
    let is_valid = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !is_valid {
        return None;
    }
    let (millis, zone) = fraction(zone)?;
    let days = days(year, month, day)?;
    let time = (hour * 3600 + minute * 60 + second) * 1000 + millis;
    let local = days.checked_mul(MILLIS_OF_DAY)?.checked_add(time)?;
    local.checked_add_signed(-offset(zone)?)
}

/// Parses three numbers with a separator.
fn numbers(text: &str, separator: char) -> Option<[u64; 3]> {
    let mut parts = text.split(separator).map(digits);
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

fn digits(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// Parses the fraction of a second, and returns the rest.
fn fraction(text: &str) -> Option<(u64, &str)> {
    let Some(rest) = text.strip_prefix('.') else {
        return Some((0, text));
    };
    let end = rest.find(|it: char| !it.is_ascii_digit())?;
    let (digits_of_second, zone) = rest.split_at(end);
    let millis: String = digits_of_second
        .chars()
        .chain("000".chars())
        .take(3)
        .collect();
    Some((digits(&millis).filter(|_| end > 0)?, zone))
}

/// Parses a time zone into milliseconds.
fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let (sign, zone) = match (zone.strip_prefix('+'), zone.strip_prefix('-')) {
        (Some(zone), _) => (1, zone),
        (_, Some(zone)) => (-1, zone),
        _ => return None,
    };
    let (hours, minutes) = zone.split_once(':')?;
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    let minutes = (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)?;
    Some(sign * i64::try_from(minutes * 60_000).ok()?)
}

/// Converts days since 1970 into a date. The computation counts years from March, so that the leap day
/// is the last day of a year, in eras of 400 years.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + DAYS_TO_1970;
    let (era, day) = (days / DAYS_OF_ERA, days % DAYS_OF_ERA);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

/// Converts a date into days since 1970: the inverse of [`civil`].
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = year.checked_sub(u64::from(month <= 2))?;
    let month = if month > 2 { month - 3 } else { month + 9 };
    let (era, year) = (year / 400, year % 400);
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let day_of_era = year * 365 + year / 4 - year / 100 + day_of_year;
    (era * DAYS_OF_ERA + day_of_era).checked_sub(DAYS_TO_1970)
}

#[cfg(test)]
mod tests {
    use super::{format, parse};

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
    fn other_forms_of_iso_8601_are_parsed() {
        for text in [
            "2026-07-28T12:00:00.007Z",
            "2026-07-28 12:00:00.00700Z",
            "2026-07-28T14:30:00.007+02:30",
            "2026-07-28t04:00:00.0079-08:00",
        ] {
            assert_eq!(parse(text), Some(1_785_240_000_007), "{text}");
        }
    }

    #[test]
    fn text_that_is_no_time_is_refused() {
        for text in [
            "",
            "2026-07-28",
            "2026-07-28T12:00:00",
            "2026-07-28T12:00:00.Z",
            "2026-07-28T12:00Z",
            "2026-13-28T12:00:00Z",
            "2026-07-28T24:00:00Z",
            "2026-07-28T12:00:00+2",
            "1969-12-31T23:59:59Z",
            "0000-01-01T00:00:00Z",
            "2026-07-2\u{00e9}T12:00:00Z",
            "+026-07-28T12:00:00Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
