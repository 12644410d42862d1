//! Progress and log messages of a running call, on their way to its client.

mod buffer;

use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::{Context, Poll};

use mcp_types::{LogMessage, LoggingLevel, Meta, ProgressToken, ProgressUpdate, RawObject};
use parking_lot::Mutex;

pub use buffer::NotificationBuffer;
use buffer::NotificationSink;

use super::input::TaskChannel;
use crate::message::ServerNotification;
use crate::observe::NotificationObserver;
use crate::panic::catch_panic_sync;

/// Sends progress and log messages of one call, as far as its client asked for them.
///
/// Clones share their state. The default sends nothing, and allocates nothing.
#[derive(Clone, Default)]
pub struct NotificationSender(Option<Arc<OpenSender>>);

struct OpenSender {
    token: Option<ProgressToken>,
    level: Option<LoggingLevel>,
    /// The last progress that was reported. `None` after [`NotificationSender::close`].
    last_progress: Mutex<Option<f64>>,
    sink: Arc<dyn NotificationSink>,
    /// The notifications that this one was [mapped](NotificationSender::map) from, and the function.
    mapped: Option<(Arc<Self>, Box<MapFn>)>,
    task: Option<TaskSender>,
    observer: Option<Arc<NotificationObserver>>,
}

/// The notifications of a call that may become a task.
struct TaskSender {
    /// The notifications before the call is a task.
    direct: Option<Arc<OpenSender>>,
    channel: Arc<dyn TaskChannel>,
}

/// Passes notifications to a task.
struct TaskSink(Arc<dyn TaskChannel>);

impl NotificationSink for TaskSink {
    fn poll_send(
        &self,
        _: &mut Context<'_>,
        notification: &ServerNotification,
        _: Option<&Meta>,
    ) -> Poll<()> {
        self.0.report(notification);
        Poll::Ready(())
    }

    fn try_send(&self, notification: &ServerNotification, _: Option<&Meta>) {
        self.0.report(notification);
    }
}

type MapFn = dyn Fn(ServerNotification) -> Option<ServerNotification> + Send + Sync;

impl NotificationSender {
    /// Sends to `buffer` what a client asked for: progress under `token`, and log messages of `level`
    /// and above. It sends nothing when both are `None`.
    pub fn new(
        token: Option<ProgressToken>,
        level: Option<LoggingLevel>,
        buffer: Arc<NotificationBuffer>,
    ) -> Self {
        if token.is_none() && level.is_none() {
            return Self::default();
        }
        Self::open(token, level, buffer)
    }

    /// The notifications of a subscription, which sends changes only.
    // spec: HTTP-SM-17
    pub(crate) fn for_subscription(sink: Arc<dyn NotificationSink>) -> Self {
        Self::open(None, None, sink)
    }

    /// A sender that also sends extension notifications.
    pub(crate) fn open(
        token: Option<ProgressToken>,
        level: Option<LoggingLevel>,
        sink: Arc<dyn NotificationSink>,
    ) -> Self {
        Self(Some(Arc::new(OpenSender {
            token,
            level,
            last_progress: Mutex::new(Some(f64::NEG_INFINITY)),
            sink,
            mapped: None,
            task: None,
            observer: None,
        })))
    }

    /// Lets an observer see the notifications that are sent. Has no effect on a clone, and on a sender
    /// that sends nothing.
    pub(crate) fn observe(&mut self, observer: impl FnOnce() -> Option<NotificationObserver>) {
        if let Some(inner) = self.0.as_mut().and_then(Arc::get_mut) {
            inner.observer = observer().map(Arc::new);
        }
    }

    /// Passes each notification through a function before it is sent. The function returns the
    /// notification to send, possibly another one, or `None` to suppress it. For layers: replace
    /// [`Exchange::notifications`](crate::Exchange::notifications) by the mapped notifications before the call continues.
    ///
    /// Notifications are neither queued nor reordered. The function runs on the task that sends the
    /// notification, so it must not block. The outermost layer is the last one to see a notification,
    /// as with replies. The notifications of a client that receives no notifications stays as it is.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::core::ServerNotification;
    /// use mcp::middleware::{Exchange, Next, Reply, from_fn};
    ///
    /// /// Sends no log messages of tools.
    /// async fn without_logs(mut exchange: Exchange, next: Next) -> Reply {
    ///     exchange.notifications = exchange.notifications.map(|notification| match notification {
    ///         ServerNotification::Log(_) => None,
    ///         other => Some(other),
    ///     });
    ///     next.run(exchange).await
    /// }
    ///
    /// let layer = from_fn(without_logs);
    /// ```
    #[must_use]
    pub fn map(
        self,
        map: impl Fn(ServerNotification) -> Option<ServerNotification> + Send + Sync + 'static,
    ) -> Self {
        Self(self.0.map(|inner| {
            Arc::new(OpenSender {
                token: inner.token.clone(),
                level: inner.level,
                last_progress: Mutex::new(Some(f64::NEG_INFINITY)),
                sink: inner.sink.clone(),
                observer: inner.observer.clone(),
                mapped: Some((inner, Box::new(map))),
                task: None,
            })
        }))
    }

    /// Sends an extension notification. The future waits while the client reads more slowly than
    /// the call sends.
    ///
    /// The notification is dropped when client and server declare no common extension, or after the
    /// call was answered. The caller checks that the client declares the extension that defines it.
    #[must_use = "the notification is sent when the future is awaited"]
    pub fn notify(
        &self,
        method: &str,
        params: Option<RawObject>,
    ) -> impl Future<Output = ()> + Send + use<> {
        let method = method.into();
        let notification = ServerNotification::Other { method, params };
        let notifications = self.clone();
        async move { notifications.send(notification).await }
    }

    /// Returns the notifications for a call that may become a task. Before, notifications go to this notifications;
    /// afterwards, the task receives them. It accepts progress in any case.
    #[must_use]
    pub fn for_task(self, channel: Arc<dyn TaskChannel>) -> Self {
        let direct = self.0;
        let token = direct.as_ref().and_then(|direct| direct.token.clone());
        Self(Some(Arc::new(OpenSender {
            token: Some(token.unwrap_or_else(|| "task".to_owned().into())),
            level: direct.as_ref().and_then(|direct| direct.level),
            last_progress: Mutex::new(Some(f64::NEG_INFINITY)),
            sink: Arc::new(TaskSink(channel.clone())),
            mapped: None,
            task: Some(TaskSender { direct, channel }),
            observer: None,
        })))
    }

    /// Returns true if the client asked for progress.
    pub fn wants_progress(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.token.is_some())
    }

    /// Returns true if the client asked for this level's log messages.
    pub fn wants_log(&self, level: LoggingLevel) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.wants_log(level))
    }

    /// Reports progress. The future waits while the client reads more slowly than the call reports.
    ///
    /// The report is dropped when the client did not ask for progress, when the progress does not
    /// grow, or after the call was answered. Infinite numbers, which JSON does not have, are left
    /// out.
    // spec: PROG-02, PROG-03
    #[must_use = "progress is reported when the future is awaited"]
    pub fn report_progress(
        &self,
        mut progress: ProgressUpdate,
    ) -> impl Future<Output = ()> + Send + use<> {
        let inner = self.0.as_ref().and_then(|inner| {
            let token = inner.token.clone()?;
            let is_new = progress.progress.is_finite() && inner.advance(progress.progress);
            is_new.then(|| (Arc::clone(inner), token))
        });
        async move {
            if let Some((inner, token)) = inner {
                progress.total = progress.total.filter(|total| total.is_finite());
                let notification = ServerNotification::Progress { token, progress };
                inner.send(notification).await;
            }
        }
    }

    /// Sends a log message. The message is dropped when the client did not ask for its level, or
    /// reads more slowly than the call logs.
    // spec: LOG-04
    pub fn log(&self, message: LogMessage) {
        if self.wants_log(message.level) {
            self.try_send(ServerNotification::Log(message));
        }
    }

    /// Sends a change. Waits while the client reads more slowly than changes come.
    pub(crate) async fn send(&self, notification: ServerNotification) {
        if let Some(inner) = self.open_inner() {
            inner.send(notification).await;
        }
    }

    /// Sends a notification, or drops it when there is no space.
    pub(crate) fn try_send(&self, notification: ServerNotification) {
        if let Some(inner) = self.open_inner() {
            inner.try_send(notification);
        }
    }

    /// Closes the notifications: the call was answered, and later notifications are dropped.
    // spec: PROG-02
    pub fn close(&self) {
        if let Some(inner) = &self.0 {
            *inner.last_progress.lock() = None;
        }
    }

    /// Passes a received notification through the functions of [`map`](Self::map). For clients, whose
    /// notifications sends nothing.
    #[doc(hidden)]
    pub fn apply(&self, notification: ServerNotification) -> Option<ServerNotification> {
        match &self.0 {
            Some(inner) => inner.map(notification),
            None => Some(notification),
        }
    }

    /// The notifications of a client's call: layers map those that arrive for it.
    #[doc(hidden)]
    pub fn for_client() -> Self {
        struct Discard;

        impl NotificationSink for Discard {
            fn poll_send(
                &self,
                _: &mut Context<'_>,
                _: &ServerNotification,
                _: Option<&Meta>,
            ) -> Poll<()> {
                Poll::Ready(())
            }

            fn try_send(&self, _: &ServerNotification, _: Option<&Meta>) {}
        }

        Self::open(None, None, Arc::new(Discard))
    }

    fn open_inner(&self) -> Option<&OpenSender> {
        let inner = self.0.as_deref()?;
        inner.is_open().then_some(inner)
    }
}

impl OpenSender {
    async fn send(&self, notification: ServerNotification) {
        if let Some(task) = self.task.as_ref().filter(|task| !task.channel.is_task()) {
            if let Some(direct) = task.direct_for(&notification) {
                Box::pin(direct.send(notification)).await;
            }
            return;
        }
        if let Some(notification) = self.map(notification) {
            let Some(observer) = &self.observer else {
                return poll_fn(|cx| self.sink.poll_send(cx, &notification, None)).await;
            };
            let (observation, meta) = observer.start(&notification);
            poll_fn(|cx| self.sink.poll_send(cx, &notification, meta.as_ref())).await;
            observation.end(Ok(()));
        }
    }

    fn try_send(&self, notification: ServerNotification) {
        if let Some(task) = self.task.as_ref().filter(|task| !task.channel.is_task()) {
            if let Some(direct) = task.direct_for(&notification) {
                direct.try_send(notification);
            }
        } else if let Some(notification) = self.map(notification) {
            let Some(observer) = &self.observer else {
                return self.sink.try_send(&notification, None);
            };
            let (observation, meta) = observer.start(&notification);
            self.sink.try_send(&notification, meta.as_ref());
            observation.end(Ok(()));
        }
    }

    /// Passes a notification through the functions of layers, the innermost first.
    fn map(&self, notification: ServerNotification) -> Option<ServerNotification> {
        let Some((outer, map)) = &self.mapped else {
            return Some(notification);
        };
        let mapped = catch_panic_sync(|| map(notification)).unwrap_or_else(|panic| {
            tracing::error!(panic = %mcp_types::escaped(&panic), "the map of an notifications panicked");
            None
        });
        outer.map(mapped?)
    }

    /// Returns true until the call is answered, which closes the outermost notifications.
    fn is_open(&self) -> bool {
        match &self.mapped {
            Some((outer, _)) => outer.is_open(),
            None => self.last_progress.lock().is_some(),
        }
    }

    fn wants_log(&self, level: LoggingLevel) -> bool {
        // spec: LOG-04
        self.level.is_some_and(|least| level >= least)
    }

    /// Stores the progress. Returns false if it does not grow, or if the notifications is closed.
    fn advance(&self, progress: f64) -> bool {
        if self.mapped.is_some() && !self.is_open() {
            return false;
        }
        let mut last = self.last_progress.lock();
        let grows = last.is_some_and(|last| progress > last);
        if grows {
            *last = Some(progress);
        }
        grows
    }
}

impl TaskSender {
    /// Returns the notifications of the call, if its client receives the notification.
    fn direct_for(&self, notification: &ServerNotification) -> Option<&OpenSender> {
        let is_progress = matches!(notification, ServerNotification::Progress { .. });
        let direct = self.direct.as_deref()?;
        (direct.is_open() && (direct.token.is_some() || !is_progress)).then_some(direct)
    }
}

impl fmt::Debug for NotificationSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.0.as_ref();
        f.debug_struct("NotificationSender")
            .field("token", &inner.and_then(|inner| inner.token.as_ref()))
            .field("level", &inner.and_then(|inner| inner.level))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
