//! Event streams of calls in paused time: start, content and end.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http_body_util::BodyExt;
use mcp_core::{NotificationSender, Principal, Reply};
use mcp_types::{LogMessage, LoggingLevel, ProgressUpdate, codes};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};
use tower_service::Service as _;
use tracing::Instrument;

use super::{endpoint, events, text, tool_call};
use crate::headers::names;
use crate::server::{Body, StreamableHttp};
use crate::shutdown::Shutdown;

/// Time after which a client that does not read no longer delays progress notifications.
const STALL_TIMEOUT: Duration = Duration::from_secs(1);

async fn respond(endpoint: &StreamableHttp) -> http::Response<Body> {
    let Ok(response) = endpoint.clone().call(tool_call(true)).await;
    response
}

async fn start_stream(endpoint: &StreamableHttp) -> Body {
    let response = respond(endpoint).await;
    assert_eq!(response.headers()[names::CONTENT_TYPE], names::EVENT_STREAM);
    response.into_body()
}

async fn frame(body: &mut Body) -> Option<String> {
    let frame: Option<Result<_, Infallible>> = body.frame().await;
    frame.map(|Ok(frame)| String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap())
}

/// Returns the remaining messages of a stream.
async fn rest(mut body: Body) -> Vec<Value> {
    let mut whole = String::new();
    while let Some(frame) = frame(&mut body).await {
        whole += &frame;
    }
    events(&whole)
}

#[tokio::test(start_paused = true)]
async fn stream_task_runs_in_the_request_span() {
    let subscriber = tracing_subscriber::fmt().with_writer(std::io::sink);
    let _default = tracing::subscriber::set_default(subscriber.finish());
    let endpoint = endpoint(|_| async {
        sleep(Duration::from_secs(5)).await;
        let span = tracing::Span::current();
        text(span.metadata().map_or("no span", |span| span.name()))
    });
    let span = tracing::info_span!("of the request");
    let body = start_stream(&endpoint).instrument(span).await;
    let answer = rest(body).await;
    let said = &answer[0]["result"]["content"][0]["text"];
    assert_eq!(said, "of the request");
}

#[tokio::test(start_paused = true)]
async fn call_longer_than_commit_after_becomes_a_stream() {
    let endpoint = endpoint(|_| async {
        sleep(Duration::from_secs(5)).await;
        text("late")
    });
    let begin = Instant::now();
    let mut body = start_stream(&endpoint).await;
    assert_eq!(begin.elapsed(), Duration::from_secs(1));
    assert_eq!(frame(&mut body).await.as_deref(), Some(":\n\n"));
    let answer = frame(&mut body).await.unwrap();
    assert_eq!(begin.elapsed(), Duration::from_secs(5));
    assert_eq!(events(&answer)[0]["result"]["content"][0]["text"], "late");
    assert_eq!(frame(&mut body).await, None);
    assert_eq!(frame(&mut body).await, None);
}

#[tokio::test(start_paused = true)]
async fn call_shorter_than_commit_after_is_json() {
    let endpoint = endpoint(|_| async {
        sleep(Duration::from_millis(999)).await;
        text("in time")
    });
    assert_eq!(
        respond(&endpoint).await.headers()[names::CONTENT_TYPE],
        names::JSON
    );
}

#[tokio::test(start_paused = true)]
async fn notifications_are_sent_before_the_reply() {
    // spec: HTTP-SM-12, HTTP-SM-14
    let endpoint = endpoint(|exchange| async move {
        for step in 1..4 {
            exchange
                .notifications
                .report_progress(ProgressUpdate::new(f64::from(step)))
                .await;
            exchange
                .notifications
                .log(LogMessage::new(LoggingLevel::Info, "step"));
            sleep(Duration::from_millis(10)).await;
        }
        text("done")
    });
    let begin = Instant::now();
    let mut body = start_stream(&endpoint).await;
    assert_eq!(begin.elapsed(), Duration::ZERO);
    let first = events(&frame(&mut body).await.unwrap());
    assert_eq!(first[0]["params"]["progress"], 1.0);
    assert_eq!(first[0]["params"]["progressToken"], 7);
    let rest = rest(body).await;
    let methods: Vec<_> = rest.iter().map(|event| event["method"].as_str()).collect();
    let (progress, log) = (
        Some("notifications/progress"),
        Some("notifications/message"),
    );
    assert_eq!(methods, [progress, log, progress, log, None]);
    assert_eq!(rest[4]["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn silent_stream_gets_comments() {
    // spec: HTTP-SM-20
    let endpoint = endpoint(|exchange| async move {
        sleep(Duration::from_secs(50)).await;
        exchange
            .notifications
            .report_progress(ProgressUpdate::new(1.0))
            .await;
        sleep(Duration::from_secs(20)).await;
        text("done")
    })
    .ping_interval(Duration::from_secs(15));
    let begin = Instant::now();
    let mut body = start_stream(&endpoint).await;
    let mut seen = Vec::new();
    while let Some(frame) = frame(&mut body).await {
        let kind = if frame.starts_with(": ping") {
            "ping"
        } else {
            &frame[..1]
        };
        seen.push((begin.elapsed().as_secs(), kind.to_owned()));
    }
    let expected = [
        (1, ":"),
        (16, "ping"),
        (31, "ping"),
        (46, "ping"),
        (50, "e"),
        (65, "ping"),
        (70, "e"),
    ];
    assert_eq!(seen, expected.map(|(time, kind)| (time, kind.to_owned())));
}

#[tokio::test(start_paused = true)]
async fn dropped_body_cancels_its_call() {
    // spec: HTTP-SM-15, HTTP-SM-16
    struct Gone(Arc<Notify>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let gone = Arc::new(Notify::new());
    let flag = Arc::clone(&gone);
    let endpoint = endpoint(move |_| {
        let guard = Gone(Arc::clone(&flag));
        async move {
            std::future::pending::<()>().await;
            drop(guard);
            text("never")
        }
    });
    let body = start_stream(&endpoint).await;
    drop(body);
    gone.notified().await;
}

#[tokio::test(start_paused = true)]
async fn client_that_does_not_read_does_not_block_the_call() {
    let finished = Arc::new(Notify::new());
    let flag = Arc::clone(&finished);
    let endpoint = endpoint(move |exchange| {
        let flag = Arc::clone(&flag);
        async move {
            let message = "x".repeat(1000);
            for step in 0..1000 {
                let progress = ProgressUpdate::new(f64::from(step)).message(message.as_str());
                exchange.notifications.report_progress(progress).await;
            }
            flag.notify_one();
            text("done")
        }
    });
    let begin = Instant::now();
    let body = start_stream(&endpoint).await;
    finished.notified().await;
    assert_eq!(begin.elapsed(), STALL_TIMEOUT);
    // Then the client reads: the buffered notifications, the newest one, and the reply.
    let events = rest(body).await;
    assert!(events.len() < 200, "{}", events.len());
    let [.., newest, answer] = &events[..] else {
        panic!()
    };
    assert_eq!(newest["params"]["progress"], 999.0);
    assert_eq!(answer["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn slow_client_receives_all_notifications() {
    let endpoint = endpoint(|exchange| async move {
        let message = "x".repeat(1000);
        for step in 0..1000 {
            let progress = ProgressUpdate::new(f64::from(step)).message(message.as_str());
            exchange.notifications.report_progress(progress).await;
        }
        text("done")
    });
    let mut body = start_stream(&endpoint).await;
    let mut whole = String::new();
    while let Some(frame) = frame(&mut body).await {
        assert!(frame.len() < 80_000);
        whole += &frame;
        // Slow, but faster than the stall timeout.
        sleep(Duration::from_millis(900)).await;
    }
    assert_eq!(events(&whole).len(), 1001);
}

#[tokio::test(start_paused = true)]
async fn progress_from_another_task_is_not_blocked_forever() {
    let endpoint = endpoint(|exchange| async move {
        let notifications: NotificationSender = exchange.notifications.clone();
        let reports = tokio::spawn(async move {
            let message = "x".repeat(100_000);
            for step in 0..10 {
                let progress = ProgressUpdate::new(f64::from(step)).message(message.as_str());
                notifications.report_progress(progress).await;
            }
        });
        reports.await.unwrap();
        text("done")
    });
    let begin = Instant::now();
    let body = start_stream(&endpoint).await;
    sleep(Duration::from_secs(3)).await;
    assert_eq!(rest(body).await.last().unwrap()["id"], 1);
    assert_eq!(begin.elapsed(), Duration::from_secs(3));
}

/// Returns the error that ends the stream of an endless call.
async fn last_error(endpoint: StreamableHttp, shutdown: Option<Shutdown>) -> Value {
    let body = start_stream(&endpoint).await;
    if let Some(shutdown) = shutdown {
        shutdown.close();
    }
    let mut events = rest(body).await;
    let last = events.pop().unwrap();
    assert_eq!(last["id"], 1);
    last["error"].clone()
}

#[tokio::test(start_paused = true)]
async fn panic_ends_the_stream_with_an_error() {
    let endpoint = endpoint(|_| async {
        sleep(Duration::from_secs(5)).await;
        panic!("secret")
    });
    let error = last_error(endpoint, None).await;
    assert_eq!(error["code"], codes::INTERNAL_ERROR);
    assert!(!error.to_string().contains("secret"));
}

#[tokio::test(start_paused = true)]
async fn stream_ends_at_its_maximum_age() {
    let endpoint =
        endpoint(|_| std::future::pending::<Reply>()).max_stream_age(Duration::from_secs(60));
    let begin = Instant::now();
    let error = last_error(endpoint, None).await;
    assert_eq!(error["code"], codes::INTERNAL_ERROR);
    assert_eq!(begin.elapsed(), Duration::from_secs(61));
}

#[tokio::test(start_paused = true)]
async fn stream_ends_when_the_server_closes() {
    let shutdown = Shutdown::new();
    let endpoint = endpoint(|_| std::future::pending::<Reply>()).shutdown_with(shutdown.clone());
    let error = last_error(endpoint, Some(shutdown)).await;
    assert!(error["message"].as_str().unwrap().contains("shutting down"));
}

#[tokio::test(start_paused = true)]
async fn stream_ends_with_an_error_when_its_authorization_expires() {
    let gone = Arc::new(Notify::new());
    let flag = Arc::clone(&gone);
    let endpoint = endpoint(move |_| {
        let guard = NotifyOnDrop(Arc::clone(&flag));
        async move {
            let _guard = guard;
            std::future::pending().await
        }
    });
    let minute = Duration::from_secs(60);
    let mut request = tool_call(true);
    let me = Principal::new("issuer", "me").expires_at(SystemTime::now() + minute);
    request.extensions_mut().insert(me);
    let begin = Instant::now();
    let Ok(response) = endpoint.clone().call(request).await;
    let messages = rest(response.into_body()).await;
    let elapsed = begin.elapsed();
    assert!(
        elapsed > minute * 9 / 10 && elapsed <= minute + Duration::from_secs(1),
        "{elapsed:?}"
    );
    let message = messages[0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("has expired"), "{message}");
    gone.notified().await;
}

struct NotifyOnDrop(Arc<Notify>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}
