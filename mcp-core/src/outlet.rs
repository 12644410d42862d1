//! Progress and log messages of a running call.

mod buffer;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcp_types::{LogMessage, LoggingLevel, ProgressToken, ProgressUpdate};

pub use buffer::{Framing, NotificationBuffer};

use crate::ServerNotification;
use parking_lot::Mutex;

/// Where a transport takes notifications of a call.
pub trait NotificationSink: Send + Sync {
    /// Takes a note, or keeps the waker until there is room.
    fn poll_send(&self, cx: &mut Context<'_>, note: &ServerNotification) -> Poll<()>;

    /// Takes a note if there is room; else it is lost.
    fn try_send(&self, note: &ServerNotification);
}

/// The way of a running call to its client. Cheap to clone; costs nothing when the client asked
/// for neither progress nor logs.
#[derive(Clone)]
pub struct Outlet(Option<Arc<dyn Listener>>);

/// A sink that knows what the client wants to hear of one call.
trait Listener: NotificationSink {
    fn wants(&self) -> &Wants;
}

/// What the client wants to hear of a call.
struct Wants {
    token: Option<ProgressToken>,
    level: Option<LoggingLevel>,
    /// The last progress that was reported; `None` once the call is answered.
    last: Mutex<Option<f64>>,
}

/// A sink for several calls, or one of somebody else, for one call.
struct Apart {
    wants: Wants,
    sink: Arc<dyn NotificationSink>,
}

impl Outlet {
    /// An outlet that takes nothing.
    pub fn none() -> Self {
        Self(None)
    }

    /// An outlet for what the client asked for: progress under its token, log messages from its
    /// level on. When it asked for neither, `sink` is not made.
    // spec: LOG-04, PROG-02
    pub fn new(
        token: Option<ProgressToken>,
        level: Option<LoggingLevel>,
        sink: impl FnOnce() -> Arc<dyn NotificationSink>,
    ) -> Self {
        let wants = Wants::new(token, level);
        if wants.is_nothing() {
            return Self::none();
        }
        let sink = sink();
        Self(Some(Arc::new(Apart { wants, sink })))
    }

    /// The outlet of the one call that a buffer belongs to, for what it [wants](NotificationBuffer::for_call).
    pub fn from_buffer(notes: Arc<NotificationBuffer>) -> Self {
        match notes.is_for_one_call() {
            true => Self(Some(notes)),
            false => Self::none(),
        }
    }

    /// The outlet of a subscription: for changes alone.
    // spec: HTTP-SM-17
    pub fn for_subscription(sink: Arc<dyn NotificationSink>) -> Self {
        let wants = Wants::default();
        Self(Some(Arc::new(Apart { wants, sink })))
    }

    /// Tells a change; waits while the client does not keep up.
    pub(crate) fn send(&self, note: ServerNotification) -> SendNotification {
        let listener = self.0.as_ref().filter(|it| it.wants().is_open());
        SendNotification(listener.map(|it| (it.clone(), note)))
    }

    /// Tells a change, if there is room.
    pub(crate) fn try_send(&self, note: &ServerNotification) {
        if let Some(listener) = &self.0
            && listener.wants().is_open()
        {
            listener.try_send(note);
        }
    }

    /// The client wants progress.
    pub fn wants_progress(&self) -> bool {
        self.wants().is_some_and(|wants| wants.token.is_some())
    }

    /// The client wants log messages of this level.
    pub fn wants_log(&self, level: LoggingLevel) -> bool {
        let least = self.wants().and_then(|wants| wants.level);
        least.is_some_and(|least| level >= least)
    }

    fn wants(&self) -> Option<&Wants> {
        self.0.as_ref().map(|listener| listener.wants())
    }

    /// Reports progress; waits while the client does not keep up. Without effect when the client
    /// did not ask, when the progress does not grow, or when the call is answered already. Numbers
    /// that JSON cannot write (infinite ones) are left out.
    // spec: PROG-02, PROG-03
    #[inline]
    pub fn report_progress(&self, mut progress: ProgressUpdate) -> SendNotification {
        let Some(listener) = &self.0 else {
            return SendNotification(None);
        };
        let wants = listener.wants();
        let Some(token) = &wants.token else {
            return SendNotification(None);
        };
        if !progress.progress.is_finite() || !wants.grows(progress.progress) {
            return SendNotification(None);
        }
        progress.total = progress.total.filter(|total| total.is_finite());
        let note = ServerNotification::Progress {
            token: token.clone(),
            progress,
        };
        SendNotification(Some((listener.clone(), note)))
    }

    /// Sends a log message; drops it when the client does not keep up. Without effect when the
    /// client did not ask for this level.
    // spec: LOG-04, LOG-05
    #[inline]
    pub fn log(&self, message: LogMessage) {
        let Some(listener) = &self.0 else { return };
        if self.wants_log(message.level) && listener.wants().is_open() {
            listener.try_send(&ServerNotification::Log(message));
        }
    }

    /// The call is answered: nothing goes out any more.
    // spec: PROG-02
    pub fn close(&self) {
        if let Some(wants) = self.wants() {
            *wants.last.lock() = None;
        }
    }
}

impl Default for Wants {
    fn default() -> Self {
        Self::new(None, None)
    }
}

impl Wants {
    fn new(token: Option<ProgressToken>, level: Option<LoggingLevel>) -> Self {
        Self {
            token,
            level,
            last: Mutex::new(Some(f64::NEG_INFINITY)),
        }
    }

    fn is_nothing(&self) -> bool {
        self.token.is_none() && self.level.is_none()
    }

    fn is_open(&self) -> bool {
        self.last.lock().is_some()
    }

    fn grows(&self, progress: f64) -> bool {
        let mut last = self.last.lock();
        let grows = last.is_some_and(|last| progress > last);
        if grows {
            *last = Some(progress);
        }
        grows
    }
}

impl std::fmt::Debug for Outlet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let wants = self.wants();
        f.debug_struct("Outlet")
            .field("token", &wants.and_then(|wants| wants.token.as_ref()))
            .field("level", &wants.and_then(|wants| wants.level))
            .finish_non_exhaustive()
    }
}

impl Listener for Apart {
    fn wants(&self) -> &Wants {
        &self.wants
    }
}

impl NotificationSink for Apart {
    fn poll_send(&self, cx: &mut Context<'_>, note: &ServerNotification) -> Poll<()> {
        self.sink.poll_send(cx, note)
    }

    fn try_send(&self, note: &ServerNotification) {
        self.sink.try_send(note);
    }
}

/// A report of progress on its way. Made by [`Outlet::report_progress`].
#[must_use = "progress is reported when the future is awaited"]
pub struct SendNotification(Option<(Arc<dyn Listener>, ServerNotification)>);

impl Future for SendNotification {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some((sink, note)) = &self.0 else {
            return Poll::Ready(());
        };
        let polled = sink.poll_send(cx, note);
        if polled.is_ready() {
            self.0 = None;
        }
        polled
    }
}

impl std::fmt::Debug for SendNotification {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SendNotification")
            .field(&self.0.as_ref().map(|(_, note)| note))
            .finish()
    }
}

#[cfg(test)]
mod tests;
