//! Validation of dates and times in ISO 8601.

/// Returns `true` for a date or a time of ISO 8601 in the forms that the protocol uses: `2026-07-28`,
/// `2026-07-28T12:00:00Z`, with a fraction of a second or an offset such as `+02:00`.
pub(crate) fn is_iso_8601(text: &str) -> bool {
    let (date, time) = match text.split_once(['T', 't']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    is_date(date) && time.is_none_or(is_time)
}

/// Returns `true` for a date: `2026-07-28`.
pub(crate) fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let (Some(year), Some(month), Some(day), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Returns `true` for a date and a time with an offset, as RFC 3339 defines it.
pub(crate) fn is_date_time(text: &str) -> bool {
    let zoned = text.ends_with(['Z', 'z']) || text.len() > 6 && is_offset(text);
    zoned && text.contains(['T', 't']) && is_iso_8601(text)
}

fn is_offset(text: &str) -> bool {
    let start = text.len() - 6;
    text.is_char_boundary(start) && text[start..].starts_with(['+', '-'])
}

fn is_time(text: &str) -> bool {
    let clock = if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        clock
    } else if let Some(at) = text.rfind(['+', '-']) {
        if !hours_and_minutes(&text[at + 1..]) {
            return false;
        }
        &text[..at]
    } else {
        text
    };
    let (clock, fraction) = match clock.split_once(['.', ',']) {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (clock, None),
    };
    let whole = match clock.rsplit_once(':') {
        // A leap second makes a minute of 61 seconds.
        Some((rest, second)) if rest.as_bytes().contains(&b':') => {
            hours_and_minutes(rest) && digits(second, 2).is_some_and(|second| second <= 60)
        }
        _ => fraction.is_none() && hours_and_minutes(clock),
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    whole && fraction.is_none_or(is_number)
}

fn hours_and_minutes(text: &str) -> bool {
    let Some((hour, minute)) = text.split_once(':') else {
        return false;
    };
    digits(hour, 2).is_some_and(|hour| hour <= 24)
        && digits(minute, 2).is_some_and(|minute| minute <= 59)
}

fn digits(text: &str, count: usize) -> Option<u32> {
    let all = text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{is_date, is_date_time, is_iso_8601};

    #[test]
    fn dates_and_times_are_recognized() {
        for text in [
            "2025-01-12T15:00:58Z",
            "2025-01-12T15:00:58.123456Z",
            "2024-02-29T23:59:60+02:00",
            "2025-01-12t15:00-05:30",
        ] {
            assert!(is_iso_8601(text) && is_date_time(text), "{text}");
        }
        for text in [
            "2025-01-12",
            "2000-02-29",
            "2025-01-12T15:00:58",
            "2025-01-12T15:00",
        ] {
            assert!(is_iso_8601(text) && !is_date_time(text), "{text}");
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
            assert!(!is_iso_8601(text) && !is_date_time(text), "{text}");
        }
        assert!(is_date("2025-12-31") && !is_date("2025-12-31T00:00:00Z"));
    }
}
