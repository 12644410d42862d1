//! `Retry-After` of webhooks.

use std::time::{Duration, SystemTime};

use super::webhooks::WebhookResponse;

/// The longest wait that a webhook can ask for.
const MAX_WAIT: Duration = Duration::from_secs(15 * 60);

/// Returns the wait that a webhook asks for with the status 429 or 503, at most 15 minutes.
pub(super) fn wait(response: &WebhookResponse, now: SystemTime) -> Option<Duration> {
    if !matches!(response.status, 429 | 503) {
        return None;
    }
    let value = response.retry_after.as_deref()?.trim();
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let wait = if is_number {
        // More digits than a number has are more than the longest wait.
        Duration::from_secs(value.parse().unwrap_or(u64::MAX))
    } else {
        let date = httpdate::parse_http_date(value).ok()?;
        date.duration_since(now).unwrap_or_default()
    };
    Some(wait.min(MAX_WAIT))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::{MAX_WAIT, wait};
    use crate::server::WebhookResponse;

    #[test]
    fn seconds_and_dates_are_read_and_bounded() {
        // Sun, 22 Nov 2026 00:00:00 GMT
        let now = UNIX_EPOCH + Duration::from_secs(1_795_305_600);
        for (status, value, seconds) in [
            (429, "7", Some(7)),
            (503, " 0 ", Some(0)),
            (503, "99999999999999999999999", Some(900)),
            (429, "100000", Some(900)),
            (429, "Sun, 22 Nov 2026 00:01:30 GMT", Some(90)),
            (429, "Sat, 21 Nov 2026 00:00:00 GMT", Some(0)),
            (503, "Mon, 23 Nov 2026 00:00:00 GMT", Some(900)),
            (503, "soon", None),
            (503, "", None),
            (503, "-5", None),
            (500, "7", None),
        ] {
            let response = WebhookResponse::new(status, "").retry_after(value);
            let expected = seconds.map(Duration::from_secs);
            assert_eq!(wait(&response, now), expected, "{value}");
        }
        assert_eq!(wait(&WebhookResponse::new(503, ""), now), None);
        assert_eq!(MAX_WAIT.as_secs(), 900);
    }
}
