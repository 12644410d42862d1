//! A request that passes through the client's layers.
//!
//! The layers run in a future of their own. The caller's task sends the request, because the options
//! of a call borrow from the caller. The endpoint of the layers passes the call to this task and waits
//! for the reply.

use std::mem;
use std::pin::pin;

use futures_util::future::{Either, select};
use mcp_core::tower::Layers;
use mcp_core::{
    BoxFuture, Call, ClientRequest, Exchange, Fault, NotificationSender, Reply, ResultBody,
};
use mcp_types::RawObject;
use tokio::sync::oneshot;
use tokio::time::timeout_at;
use tracing::{Instrument, Span};

use super::attempt::{Attempt, ReceivedReply};
use crate::error::ErrorKind;
use crate::options::CallTimer;

impl Attempt<'_, '_> {
    /// Runs the layers with `call`, the content of the request, and sends the call that they pass on. When
    /// a layer replies by itself, nothing is sent, or the request is cancelled. Dropping the future drops
    /// the layers and the request.
    pub(crate) async fn run_layered(
        self,
        call: &Call,
        layers: &Layers,
    ) -> Result<ReceivedReply, ErrorKind> {
        let (timer, options) = (self.timer, self.options);
        let mut exchange = Exchange::new(call.clone(), self.client.inner.facts());
        exchange.id = Some(self.number.into());
        self.client.inner.describe_connection(&mut exchange);
        exchange.notifications = NotificationSender::for_client();
        let meta = options.meta.as_ref();
        let meta = meta.and_then(|meta| RawObject::from_value(meta).ok());
        exchange.meta = meta.into();
        let (passed_on, call) = oneshot::channel();
        let (replies, reply) = oneshot::channel();
        let mut layered = layers.run(exchange, endpoint(passed_on, reply));

        let deadline = timer.deadline();
        let before = timeout_at(deadline, select(&mut layered, call)).await;
        let (exchange, span) = match before {
            Ok(Either::Left((reply, _))) => return Ok(ReceivedReply::of_layer(reply, false)),
            Ok(Either::Right((Ok(passed_on), _))) => passed_on,
            // The layers have dropped the endpoint, so one of them replies.
            Ok(Either::Right((Err(_), _))) => {
                let reply = timeout_at(deadline, layered).await;
                let reply = reply.map_err(|_| timer.timed_out(deadline))?;
                return Ok(ReceivedReply::of_layer(reply, false));
            }
            Err(_) => return Err(timer.timed_out(deadline)),
        };

        let meta = exchange.meta.object().and_then(|meta| meta.parse().ok());
        let request = ClientRequest::Call(exchange.call);
        let caller_meta = mem::replace(&mut options.meta, meta);
        let attempt = Attempt {
            request: &request,
            options: &mut *options,
            timer: &mut *timer,
            notifications: Some(&exchange.notifications),
            ..self
        };
        let sent = {
            // The request is sent inside the span in which the innermost layer has passed it on.
            let sending = pin!(attempt.run().instrument(span));
            match select(&mut layered, sending).await {
                Either::Left((reply, _)) => Err(reply),
                Either::Right((received, _)) => Ok(received),
            }
        };
        // The call's next request starts with the caller's `_meta`.
        options.meta = caller_meta;
        let received = match sent {
            Ok(received) => received,
            // A layer has replied while the server worked.
            Err(reply) => return Ok(ReceivedReply::of_layer(reply, true)),
        };
        finish(received, replies, layered, timer).await
    }
}

/// Returns the innermost service: it passes the call to the task of the caller.
fn endpoint(
    passed_on: oneshot::Sender<(Exchange, Span)>,
    reply: oneshot::Receiver<Reply>,
) -> impl FnOnce(Exchange) -> BoxFuture<'static, Reply> + Send + Sync + 'static {
    |exchange| {
        Box::pin(async move {
            // An error means that the caller has dropped the call, and with it this future.
            let _ = passed_on.send((exchange, Span::current()));
            let cancelled = |_| Fault::internal("the call was cancelled").into();
            reply.await.unwrap_or_else(cancelled)
        })
    }
}

/// Passes the reply through the layers. They see a failed request as an internal fault; if it comes
/// back unchanged, the call fails with the request's error.
async fn finish(
    received: Result<ReceivedReply, ErrorKind>,
    replies: oneshot::Sender<Reply>,
    layered: BoxFuture<'static, Reply>,
    timer: &CallTimer,
) -> Result<ReceivedReply, ErrorKind> {
    let may_have_run = match &received {
        Ok(received) => received.may_have_run(),
        Err(error) => error.may_have_run(),
    };
    let (reply, received) = match received {
        Ok(mut received) => {
            let reply = mem::replace(&mut received.reply, ResultBody::Empty.into());
            (reply, Ok(received))
        }
        Err(error) => (Fault::internal(error.to_string()).into(), Err(error)),
    };
    // An error means that the layers no longer wait for the reply, because one of them replies.
    let _ = replies.send(reply);
    let deadline = timer.deadline();
    let reply = timeout_at(deadline, layered).await;
    let reply = reply.map_err(|_| timer.timed_out(deadline))?;
    match received {
        Ok(ReceivedReply { frame, .. }) => Ok(ReceivedReply {
            reply,
            frame,
            hides_execution: may_have_run,
        }),
        Err(error) => match &reply {
            Reply::Fault(Fault::Internal(message)) if **message == error.to_string() => Err(error),
            _ => Ok(ReceivedReply::of_layer(reply, may_have_run)),
        },
    }
}
