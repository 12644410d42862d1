//! Work that is done once per call, although the handler may run several times.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::input_round::{AskError, InputKey, InputRound};

/// Returns the result that an earlier run recorded, or runs `work` and records the value that
/// `to_result` makes of its output.
pub(super) async fn run_once<T, E, F, Fut>(
    round: &Arc<InputRound>,
    key: InputKey,
    work: F,
    to_result: impl FnOnce(Fut::Output) -> Result<T, E>,
) -> Result<T, E>
where
    T: Serialize + DeserializeOwned,
    E: From<AskError>,
    F: FnOnce() -> Fut,
    Fut: Future,
{
    if let Some(recorded) = round.recorded_result(&key)? {
        return Ok(recorded);
    }
    let _guard = round.start_work();
    let mut work = pin!(work());
    let output = poll_fn(|cx| round.poll_work(|| work.as_mut().poll(cx))).await;
    let value = to_result(output)?;
    round.record_result(&key, &value)?;
    Ok(value)
}
