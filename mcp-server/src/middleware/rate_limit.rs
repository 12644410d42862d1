//! A limit on each caller's calls in a period.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hmac_sha256::Hash;
use mcp_core::tower::{Middleware, Next, from_fn};
use mcp_core::{Exchange, Fault, LogLimit, Pace, Principal, Reply};
use parking_lot::Mutex;

/// Callers that are counted separately. When a new caller exceeds this number, callers whose whole quota is
/// free are forgotten. If none is, the new caller shares the quota of callers without a principal.
const MAX_CALLERS: usize = 10_000;

/// The longest period. It keeps the sum of a time and a period representable.
const MAX_PERIOD: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// The digest of a principal, or zeros for callers without one.
type CallerKey = [u8; 32];

/// A layer that limits how many calls each caller may make in a period. It fits a server, a router or a route.
///
/// A caller is a verified [`Principal`]: its issuer, subject and client. All callers without a principal are
/// counted together, because an unverified client can use any name and many addresses.
///
/// A caller may use its whole quota at once. Each part `period / calls` of the period then allows one more
/// call. A call beyond the quota fails with [`Fault::RateLimited`]: over HTTP with the status 429 and
/// `Retry-After`, elsewhere with the seconds in `data.retryAfter`. The handler does not run, so the client can
/// repeat the call. Refusals are logged as warnings, at most once per second.
///
/// Each node counts for itself. A call that asks its client for input counts again in each round.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use mcp::middleware::RateLimit;
/// use mcp::prelude::*;
///
/// let server = Server::new("mail", "1.0.0")
///     .tool(
///         Tool::new("send")
///             .handler(|| "sent")
///             .layer(RateLimit::new(10, Duration::from_secs(3600))),
///     )
///     .layer(RateLimit::new(100, Duration::from_secs(60)));
/// # server.check()?;
/// # Ok::<(), mcp::SetupError>(())
/// ```
#[derive(Clone)]
pub struct RateLimit {
    callers: Arc<Mutex<HashMap<CallerKey, Pace>>>,
    calls: u32,
    period: Duration,
}

impl RateLimit {
    /// Limits each caller to `calls` calls in `period`. Values of 0 are 1 call and 1 ms. Clones count
    /// together.
    pub fn new(calls: u32, period: Duration) -> Self {
        Self {
            callers: Arc::default(),
            calls: calls.max(1),
            period: period.clamp(Duration::from_millis(1), MAX_PERIOD),
        }
    }

    /// Counts a call, as the layer does, for limits at other places.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::RateLimited`] when the caller has no calls left.
    pub fn check(&self, principal: Option<&Principal>) -> Result<(), Fault> {
        self.count(principal, Instant::now())
    }

    fn count(&self, principal: Option<&Principal>, now: Instant) -> Result<(), Fault> {
        let share = (self.period / self.calls).max(Duration::from_nanos(1));
        let mut key = principal.map(key_of).unwrap_or_default();
        let mut callers = self.callers.lock();
        if callers.len() >= MAX_CALLERS && !callers.contains_key(&key) {
            callers.retain(|_, pace| !pace.is_free(now));
            if callers.len() >= MAX_CALLERS {
                key = CallerKey::default();
            }
        }
        let counted = callers
            .entry(key)
            .or_default()
            .permit(now, self.calls, share);
        drop(callers);
        let Err(wait) = counted else {
            return Ok(());
        };
        self.log(principal, wait);
        Err(Fault::rate_limited("too many calls", wait))
    }

    fn log(&self, principal: Option<&Principal>, wait: Duration) {
        static REFUSED: LogLimit = LogLimit::new();

        let Some(suppressed) = REFUSED.permit(Instant::now()) else {
            return;
        };
        let subject = principal.map(|principal| principal.subject.as_str());
        let (calls, period, wait) = (self.calls, self.period, wait.as_millis() as u64);
        tracing::warn!(
            ?subject,
            calls,
            ?period,
            wait_ms = wait,
            suppressed,
            "a call was refused: its caller made too many calls"
        );
    }
}

/// Returns a caller's key. A digest has the same size for names of any length.
fn key_of(principal: &Principal) -> CallerKey {
    let client = principal.client.as_deref();
    let parts = [Some(&*principal.issuer), Some(&*principal.subject), client];
    let mut hash = Hash::new();
    for part in parts {
        // Hashing the length keeps (`ab`, `c`) and (`a`, `bc`) apart.
        let length = part.map_or(u64::MAX, |part| part.len() as u64);
        hash.update(length.to_be_bytes());
        hash.update(part.unwrap_or_default());
    }
    hash.finalize()
}

impl Middleware for RateLimit {
    fn wrap(self, next: Next) -> Next {
        let limited = from_fn(move |exchange: Exchange, next: Next| {
            let counted = self.check(exchange.principal());
            async move {
                match counted {
                    Ok(()) => next.run(exchange).await,
                    Err(fault) => Reply::from(fault),
                }
            }
        });
        limited.wrap(next)
    }
}

impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit")
            .field("calls", &self.calls)
            .field("period", &self.period)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use mcp_core::{Fault, Principal};

    use super::{MAX_CALLERS, RateLimit};

    #[test]
    fn callers_are_counted_separately_and_those_without_a_name_together() {
        let limit = RateLimit::new(2, Duration::from_secs(600));
        let start = Instant::now();
        let ada = Principal::new("issuer", "ada");
        let mut app = ada.clone();
        app.client = Some("app".to_owned());
        let callers = [
            None,
            Some(ada),
            Some(app),
            Some(Principal::new("other issuer", "ada")),
            Some(Principal::new("issuera", "da")),
        ];
        for caller in &callers {
            for _ in 0..2 {
                assert_eq!(limit.count(caller.as_ref(), start), Ok(()), "{caller:?}");
            }
        }
        for caller in &callers {
            let later = start + Duration::from_secs(10);
            let fault = limit.count(caller.as_ref(), later).unwrap_err();
            let Fault::RateLimited { retry_after, .. } = &fault else {
                panic!("{fault:?}");
            };
            assert_eq!(retry_after.as_secs(), 290, "{fault:?}");
            assert!(fault.to_string().contains("try again in 290 s"), "{fault}");
        }
    }

    #[test]
    fn one_more_call_is_allowed_after_half_the_period() {
        let limit = RateLimit::new(2, Duration::from_secs(600));
        let start = Instant::now();
        let at = |seconds| {
            limit
                .count(None, start + Duration::from_secs(seconds))
                .is_ok()
        };
        assert_eq!(
            [0, 0, 299, 300, 301].map(at),
            [true, true, false, true, false]
        );
        assert_eq!([2000, 2000, 2000].map(at), [true, true, false]);
    }

    #[test]
    fn extreme_settings_are_accepted() {
        let now = Instant::now();
        for (calls, period) in [
            (0, Duration::ZERO),
            (1, Duration::MAX),
            (u32::MAX, Duration::MAX),
            (u32::MAX, Duration::ZERO),
        ] {
            let limit = RateLimit::new(calls, period);
            assert_eq!(limit.count(None, now), Ok(()), "{calls} {period:?}");
        }
    }

    #[test]
    fn full_table_forgets_idle_callers_and_keeps_the_others_counts() {
        let limit = RateLimit::new(2, Duration::from_secs(600));
        let start = Instant::now();
        let caller = |number: usize| Principal::new("issuer", number.to_string());
        for number in 0..MAX_CALLERS {
            limit.count(Some(&caller(number)), start).unwrap();
        }
        // New callers share one quota.
        for number in MAX_CALLERS..MAX_CALLERS + 2 {
            limit.count(Some(&caller(number)), start).unwrap();
        }
        limit
            .count(Some(&caller(MAX_CALLERS + 2)), start)
            .unwrap_err();
        assert_eq!(limit.callers.lock().len(), MAX_CALLERS + 1);
        // Known callers keep their own.
        limit.count(Some(&caller(7)), start).unwrap();
        limit.count(Some(&caller(7)), start).unwrap_err();

        let later = start + Duration::from_secs(300);
        limit.count(Some(&caller(MAX_CALLERS)), later).unwrap();
        assert!(limit.callers.lock().len() <= 3);
    }
}
