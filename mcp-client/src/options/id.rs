//! Call ids, by which a program cancels them.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_types::RequestId;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// The calls of a client whose ids a program knows.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallIds(Arc<Mutex<HashMap<i64, CancellationToken>>>);

impl CallIds {
    /// Adds a call until the returned value is dropped.
    pub(crate) fn add(&self, number: i64) -> CallId {
        let token = CancellationToken::new();
        self.0.lock().insert(number, token.clone());
        CallId {
            calls: self.clone(),
            number,
            is_sent: false,
            token,
        }
    }

    /// Cancels a call. Returns false if there is none with this id.
    pub(crate) fn cancel(&self, id: &RequestId) -> bool {
        let RequestId::Number(number) = id else {
            return false;
        };
        let token = self.0.lock().remove(number);
        token.inspect(CancellationToken::cancel).is_some()
    }
}

/// The id of a call that has not ended.
pub(crate) struct CallId {
    calls: CallIds,
    number: i64,
    is_sent: bool,
    token: CancellationToken,
}

impl CallId {
    pub(crate) fn request_id(&self) -> RequestId {
        self.number.into()
    }

    /// Returns the number for the call's first request, and `None` for later ones: a number is never sent
    /// twice.
    // spec: BASE-05
    pub(crate) fn take_number(&mut self) -> Option<i64> {
        // spec: MRTR-12
        (!std::mem::replace(&mut self.is_sent, true)).then_some(self.number)
    }

    /// Resolves when the program cancels the call, also before it was started.
    pub(crate) fn cancelled(&self) -> impl Future<Output = ()> + Send + use<> {
        self.token.clone().cancelled_owned()
    }
}

impl Drop for CallId {
    fn drop(&mut self) {
        self.calls.0.lock().remove(&self.number);
    }
}
