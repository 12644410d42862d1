//! Call limits: rate, concurrency, size of the result, time. The request states that clients have used.

use std::future::ready;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::store::StoreError;
use mcp_core::{BoxFuture, CallerKey, Fault, ResultBody};
use mcp_server::ToolError;
use mcp_server::middleware::RateLimit;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use uuid::Uuid;

use super::used_states::MemoryUsedStates;

/// Maximum time that a call waits for its turn.
const WAIT: Duration = Duration::from_secs(30);

/// Time that a state counts beyond its own lifetime, because the clocks of nodes differ.
const MARGIN: Duration = Duration::from_secs(60);

/// Longest wait for the store.
const STORE_TIMEOUT: Duration = Duration::from_secs(5);

/// Limits of the calls to one tool, or to all tools of a server together. Default: only the connection's limits.
///
/// A call beyond a limit is answered with an error for the language model; the server does not receive it.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use mcp::gateway::CallLimits;
///
/// let limits = CallLimits::new()
///     .rate(10, Duration::from_secs(60))
///     .concurrency(2)
///     .max_result_bytes(100_000)
///     .timeout(Duration::from_secs(20));
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "limits nothing until it is passed to a server or a tool"]
pub struct CallLimits {
    rate: Option<(u32, Duration)>,
    concurrency: Option<usize>,
    max_result_bytes: Option<usize>,
    timeout: Option<Duration>,
}

impl CallLimits {
    /// No limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many calls each caller may make in a period. A caller is a verified
    /// [`Principal`](mcp_core::Principal); callers without one are counted together. All calls may come at once. Then
    /// one more is accepted after each part `period / calls`. Values of 0 are 1 call and 1 ms.
    pub fn rate(mut self, calls: u32, period: Duration) -> Self {
        self.rate = Some((calls, period));
        self
    }

    /// Sets how many calls run at the same time, whoever calls. Further ones wait for 30 seconds, and are then refused.
    /// 0 means 1.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = Some(calls.clamp(1, Semaphore::MAX_PERMITS));
        self
    }

    /// Sets the size of a result as JSON, in bytes.
    pub fn max_result_bytes(mut self, bytes: usize) -> Self {
        self.max_result_bytes = Some(bytes);
        self
    }

    /// Sets the time limit of a call, from its start to its result or its next question to the client.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

/// The state of limits.
#[derive(Default)]
pub(crate) struct Limiter {
    pub(crate) rate: Option<RateLimit>,
    turns: Option<Arc<Semaphore>>,
    pub(crate) max_result_bytes: Option<usize>,
    pub(crate) timeout: Option<Duration>,
}

impl Limiter {
    pub(crate) fn new(limits: &CallLimits) -> Self {
        Self {
            rate: limits
                .rate
                .map(|(calls, period)| RateLimit::new(calls, period)),
            turns: limits
                .concurrency
                .map(|permits| Arc::new(Semaphore::new(permits))),
            max_result_bytes: limits.max_result_bytes,
            timeout: limits.timeout,
        }
    }

    /// Counts a call.
    ///
    /// # Errors
    ///
    /// Returns a [`ToolError`] when there were too many calls of this caller.
    pub(crate) fn count(&self, caller: &CallerKey) -> Result<(), ToolError> {
        let Some(rate) = &self.rate else {
            return Ok(());
        };
        rate.check(caller.principal()).map_err(|fault| {
            let wait = match fault {
                Fault::RateLimited { retry_after, .. } => retry_after,
                _ => Duration::ZERO,
            };
            let seconds = wait.as_secs_f64().ceil();
            ToolError::new(format!(
                "too many calls of this tool; try again in {seconds} s"
            ))
        })
    }

    /// Waits until the call may run.
    ///
    /// # Errors
    ///
    /// Returns a [`ToolError`] when other calls run for too long.
    pub(crate) async fn turn(&self) -> Result<Option<OwnedSemaphorePermit>, ToolError> {
        let Some(turns) = &self.turns else {
            return Ok(None);
        };
        let permit = timeout(WAIT, turns.clone().acquire_owned()).await;
        match permit {
            Ok(Ok(permit)) => Ok(Some(permit)),
            _ => Err(ToolError::new(
                "too many calls of this tool run at the same time; try again later",
            )),
        }
    }

    /// Runs a call for its time.
    ///
    /// # Errors
    ///
    /// Returns the call's error, or a [`ToolError`] when its time is over or its result is too large.
    pub(crate) async fn run(
        &self,
        call: impl Future<Output = Result<ResultBody, ToolError>>,
    ) -> Result<ResultBody, ToolError> {
        let result = match self.timeout {
            None => call.await?,
            Some(limit) => match timeout(limit, call).await {
                Ok(result) => result?,
                Err(_) => {
                    let seconds = limit.as_secs_f64();
                    return Err(ToolError::new(format!(
                        "the tool did not answer within {seconds} s"
                    )));
                }
            },
        };
        match self.max_result_bytes {
            Some(limit) if is_larger(&result, limit) => Err(ToolError::new(too_large(limit))),
            _ => Ok(result),
        }
    }
}

/// Returns the error message for a result that is larger than a limit.
pub(crate) fn too_large(limit: usize) -> String {
    format!("the result of the tool is larger than {limit} bytes; ask for less")
}

/// Returns whether the JSON of a result is larger than a limit.
fn is_larger(body: &ResultBody, limit: usize) -> bool {
    match body {
        ResultBody::Raw(result) => result.json_len() > limit,
        ResultBody::CallTool(result) => serde_json::to_writer(Budget(limit), result).is_err(),
        _ => false,
    }
}

/// Accepts so many bytes.
struct Budget(usize);

impl io::Write for Budget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.0.checked_sub(bytes.len());
        self.0 = left.ok_or(io::ErrorKind::FileTooLarge)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Stores a used state for a time. Returns false if it is stored already.
type Insert = dyn Fn(&CallerKey, &str, Duration) -> BoxFuture<'static, Result<bool, StoreError>>
    + Send
    + Sync;

/// The used states of a gateway, or of all gateways with the same store.
#[derive(Clone)]
pub(crate) struct UsedStates(pub(crate) Arc<Insert>);

impl Default for UsedStates {
    fn default() -> Self {
        let states = MemoryUsedStates::default();
        Self(Arc::new(move |caller, id, ttl| {
            Box::pin(ready(states.insert(caller, id, ttl)))
        }))
    }
}

impl UsedStates {
    /// Counts the use of a state, which is valid for `lifetime`.
    ///
    /// # Errors
    ///
    /// Returns a [`ToolError`] when the state was used before, or when the store fails.
    pub(crate) async fn count(
        &self,
        caller: &CallerKey,
        state: Uuid,
        lifetime: Duration,
    ) -> Result<(), ToolError> {
        let (id, ttl) = (state.to_string(), lifetime.saturating_add(MARGIN));
        let inserting = (self.0)(caller, &id, ttl);
        let error = match timeout(STORE_TIMEOUT, inserting).await {
            Ok(Ok(true)) => return Ok(()),
            Ok(Ok(false)) => {
                return Err(ToolError::new(
                    "this answer to a question of the tool was used already; call the tool again",
                ));
            }
            Ok(Err(error)) => error.to_string(),
            Err(elapsed) => elapsed.to_string(),
        };
        tracing::error!(error = %mcp_types::escaped(&error), "the use of a request state cannot be counted");
        let fault = Fault::internal("the gateway cannot count this call; try again");
        Err(ToolError::fault(fault))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mcp_core::{CallerKey, Principal};
    use mcp_types::CallToolResult;

    use super::{CallLimits, Limiter, is_larger};

    #[test]
    fn calls_beyond_the_rate_are_refused_with_the_time_to_wait() {
        let limiter = Limiter::new(&CallLimits::new().rate(2, Duration::from_secs(600)));
        let anonymous = CallerKey::default();
        let ada = CallerKey::new(Some(&Principal::new("issuer", "ada")));
        assert!(limiter.count(&anonymous).is_ok() && limiter.count(&anonymous).is_ok());
        let refused = format!("{:?}", limiter.count(&anonymous).unwrap_err());
        assert!(refused.contains("try again in 300 s"), "{refused}");
        assert!(limiter.count(&ada).is_ok(), "another caller");
    }

    #[tokio::test(start_paused = true)]
    async fn call_beyond_concurrency_waits_and_is_refused() {
        let limiter = Limiter::new(&CallLimits::new().concurrency(1));
        let first = limiter.turn().await.unwrap();
        assert!(limiter.turn().await.is_err());
        drop(first);
        assert!(limiter.turn().await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn call_beyond_its_time_is_refused() {
        let limiter = Limiter::new(&CallLimits::new().timeout(Duration::from_secs(5)));
        let refused = limiter.run(std::future::pending()).await.unwrap_err();
        let refused = format!("{refused:?}");
        assert!(refused.contains("within 5 s"), "{refused}");
    }

    #[test]
    fn result_size_is_counted_in_json_bytes() {
        let result = CallToolResult::error("abc");
        let size = serde_json::to_string(&result).unwrap().len();
        let body = result.into();
        assert!(is_larger(&body, size - 1));
        assert!(!is_larger(&body, size));
    }
}
