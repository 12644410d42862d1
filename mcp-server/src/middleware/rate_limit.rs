//! A number of calls per time and caller.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use governor::clock::{Clock as _, DefaultClock};
use governor::{Quota, RateLimiter};
use hmac_sha256::Hash;
use mcp_core::tower::{Middleware, Next, from_fn};
use mcp_core::{Exchange, Fault, LogLimit, Principal, Reply};

/// Callers whose calls are counted at the same time. At the limit, those that have used nothing of their
/// quota are forgotten; further ones share one quota.
const MAX_CALLERS: usize = 10_000;

/// A caller: the digest of a principal, or all callers without one.
type CallerKey = [u8; 32];

type Limiter =
    RateLimiter<CallerKey, governor::state::keyed::HashMapStateStore<CallerKey>, DefaultClock>;

/// A layer that limits the calls of each caller: a number in a period. For a server, a router or a route.
///
/// A caller is the [`Principal`] that a layer has verified: its issuer, subject and client. All callers
/// without one are one caller, because a client can present itself under any name and from many addresses.
///
/// All calls of the period may come at once. A further one is refused until its share of the period has
/// passed, with [`Fault::RateLimited`]: over HTTP with the status 429 and `Retry-After`, elsewhere with the
/// seconds in `data.retryAfter`. The handler does not run, so clients can repeat the call. Refusals are
/// logged as warnings, at most once per second.
///
/// Several nodes count separately. Each round of a call that asks its client is one call.
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
    limiter: Arc<Limiter>,
    calls: u32,
    period: Duration,
}

impl RateLimit {
    /// Limits each caller to `calls` calls in `period`. Values of 0 are 1 call and 1 ms. Clones count
    /// together.
    pub fn new(calls: u32, period: Duration) -> Self {
        let (calls, period) = (calls.max(1), period.max(Duration::from_millis(1)));
        let burst = NonZeroU32::new(calls).unwrap_or(NonZeroU32::MIN);
        // A share of the period is at least a nanosecond.
        let share = (period / calls).max(Duration::from_nanos(1));
        let quota = Quota::with_period(share).unwrap_or(Quota::per_second(burst));
        Self {
            limiter: Arc::new(RateLimiter::hashmap(quota.allow_burst(burst))),
            calls,
            period,
        }
    }

    /// Counts a call.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::RateLimited`] when the caller has no calls left.
    fn count(&self, principal: Option<&Principal>) -> Result<(), Fault> {
        if self.limiter.len() >= MAX_CALLERS {
            self.limiter.retain_recent();
        }
        let key = match principal {
            Some(principal) if self.limiter.len() < MAX_CALLERS => key_of(principal),
            _ => CallerKey::default(),
        };
        self.limiter.check_key(&key).map_err(|early| {
            let wait = early.wait_time_from(DefaultClock::default().now());
            self.log(principal, wait);
            Fault::rate_limited("too many calls", wait)
        })
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
            "a call was refused: its caller has made too many"
        );
    }
}

/// Returns the key of a caller, which has one size for names of any length.
fn key_of(principal: &Principal) -> CallerKey {
    let client = principal.client.as_deref();
    let parts = [Some(&*principal.issuer), Some(&*principal.subject), client];
    let mut hash = Hash::new();
    for part in parts {
        // The length separates the parts.
        let length = part.map_or(u64::MAX, |part| part.len() as u64);
        hash.update(length.to_be_bytes());
        hash.update(part.unwrap_or_default());
    }
    hash.finalize()
}

impl Middleware for RateLimit {
    fn wrap(self, next: Next) -> Next {
        let limited = from_fn(move |exchange: Exchange, next: Next| {
            let counted = self.count(exchange.principal());
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
    use std::time::Duration;

    use mcp_core::{Fault, Principal};

    use super::{MAX_CALLERS, RateLimit};

    #[test]
    fn callers_are_counted_separately_and_those_without_a_name_together() {
        let limit = RateLimit::new(2, Duration::from_secs(600));
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
                assert_eq!(limit.count(caller.as_ref()), Ok(()), "{caller:?}");
            }
        }
        for caller in &callers {
            let fault = limit.count(caller.as_ref()).unwrap_err();
            let Fault::RateLimited { retry_after, .. } = &fault else {
                panic!("{fault:?}");
            };
            assert!((290..=300).contains(&retry_after.as_secs()), "{fault:?}");
            assert!(fault.to_string().contains("try again in 300 s"), "{fault}");
        }
    }

    #[test]
    fn number_of_callers_is_bounded() {
        let limit = RateLimit::new(1, Duration::from_secs(600));
        for number in 0..MAX_CALLERS + 10 {
            let _ = limit.count(Some(&Principal::new("issuer", number.to_string())));
        }
        assert!(limit.limiter.len() <= MAX_CALLERS + 1);
    }
}
