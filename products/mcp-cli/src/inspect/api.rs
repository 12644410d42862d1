//! Requests of the page.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, header};
use axum::middleware::from_fn_with_state;
use axum::response::sse::{self, KeepAlive, Sse};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::{Stream, stream};
use mcp::http::headers::names::LAST_EVENT_ID;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::page;
use super::questions::Answer;
use super::session::Session;
use super::views::Opened;
use crate::page_guard::{self, Guard};
use crate::session_file;

/// Largest body of a request in bytes: 8 MiB.
const MAX_BODY: usize = 8 << 20;

type Inspected = State<Arc<Session>>;

/// The page and its requests. No request starts another program than the command line does.
pub(super) fn router(session: Arc<Session>, guard: Arc<Guard>) -> Router {
    let index = Bytes::from(page::index(guard.nonce()));
    let requests = Router::new()
        .route(
            "/page/{*name}",
            get(async |name: Path<String>| page::file(&name)),
        )
        .route("/api/state", get(state))
        .route("/api/events", get(events))
        .route("/api/recording", get(recording))
        .route("/api/connect", post(connect))
        .route("/api/request", post(request))
        .route("/api/compare", post(compare))
        .route("/api/cancel", post(cancel))
        .route("/api/answer", post(answer))
        .route("/api/app/open", post(open_app))
        .route("/api/app/send", post(send_to_app))
        .route("/api/app/close", post(close_app))
        .route("/api/diff", post(diff))
        .route("/api/login", post(login))
        .route("/api/watch", post(watch))
        .route("/api/roots", post(roots));
    Router::new()
        .route(
            &format!("{}/", guard.base()),
            get(async move || Html(index)),
        )
        .nest(guard.base(), requests)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(guard, page_guard::check))
        .with_state(session)
}

async fn state(State(session): Inspected) -> Json<Value> {
    Json(session.describe().await)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Connect {
    protocol: String,
}

async fn connect(State(session): Inspected, Json(body): Json<Connect>) -> Response {
    // A page that is loaded again drops this request; the connection must not end half-way.
    let connected = tokio::spawn(async move { session.connect(&body.protocol).await });
    let connected = connected.await.map_err(|error| error.to_string());
    done(connected.flatten())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    /// Chosen by the page, to cancel the request.
    key: String,
    method: String,
    params: Box<RawValue>,
}

async fn request(State(session): Inspected, Json(body): Json<Request>) -> Response {
    let result = session.request(body.key, &body.method, &body.params);
    outcome(result.await)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Compare {
    key: String,
    method: String,
    params: Box<RawValue>,
    protocols: Vec<String>,
}

async fn compare(State(session): Inspected, Json(body): Json<Compare>) -> Response {
    let compared = session.compare(body.key, &body.method, &body.params, &body.protocols);
    outcome(compared.await)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cancel {
    key: String,
}

async fn cancel(State(session): Inspected, Json(body): Json<Cancel>) -> Json<Value> {
    Json(json!({"cancelled": session.cancel(&body.key)}))
}

async fn answer(State(session): Inspected, Json(answer): Json<Answer>) -> Json<Value> {
    Json(json!({"open": session.questions.answer(answer)}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Login {
    key: String,
    protocol: String,
}

async fn login(State(session): Inspected, Json(body): Json<Login>) -> Response {
    done(session.login(body.key, &body.protocol).await)
}

async fn open_app(State(session): Inspected, Json(opened): Json<Opened>) -> Response {
    outcome(session.open_view(opened).await)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfView {
    view: String,
    /// A view message, as JSON.
    #[serde(default)]
    message: String,
}

async fn send_to_app(State(session): Inspected, Json(body): Json<OfView>) -> Response {
    done(session.views.receive(&body.view, body.message))
}

async fn close_app(State(session): Inspected, Json(body): Json<OfView>) -> Json<Value> {
    session.views.close(Some(&body.view)).await;
    Json(json!({}))
}

async fn diff(State(session): Inspected) -> Response {
    outcome(session.diff().await)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Uris {
    uris: Vec<String>,
}

async fn watch(State(session): Inspected, Json(body): Json<Uris>) -> Response {
    done(session.watch(body.uris).await)
}

async fn roots(State(session): Inspected, Json(body): Json<Uris>) -> Response {
    done(session.set_roots(body.uris).await)
}

/// All events, from the first that the page does not know.
async fn events(
    State(session): Inspected,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<sse::Event, Infallible>>> {
    let last = headers.get(LAST_EVENT_ID);
    let last = last.and_then(|id| id.to_str().ok()?.parse().ok());
    let newest = session.history.newest();
    let start = (session, newest, last.unwrap_or(0), Vec::new().into_iter());
    let events = stream::unfold(start, async |(session, mut newest, mut last, mut batch)| {
        loop {
            if let Some(event) = batch.next() {
                let event: super::history::Event = event;
                last = event.number;
                let sent = sse::Event::default()
                    .id(last.to_string())
                    .data(&*event.json);
                return Some((Ok(sent), (session, newest, last, batch)));
            }
            newest.mark_unchanged();
            batch = session.history.after(last).into_iter();
            if batch.len() == 0 && newest.changed().await.is_err() {
                return None;
            }
        }
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// The messages as a file for `mcp replay`.
async fn recording(State(session): Inspected) -> Response {
    let mut lines = vec![session_file::header("inspector")];
    lines.extend(session.history.lines());
    let text = lines.join("\n") + "\n";
    let headers = [
        (header::CONTENT_TYPE, "application/jsonl"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"session.jsonl\"",
        ),
    ];
    (headers, text).into_response()
}

/// Results are serialized without a [`Value`] in between, which would round numbers.
fn outcome(result: Result<impl Serialize, String>) -> Response {
    #[derive(Serialize)]
    struct Answer<T> {
        result: T,
    }
    match result {
        Ok(result) => Json(Answer { result }).into_response(),
        Err(error) => Json(json!({"error": error})).into_response(),
    }
}

fn done(result: Result<(), String>) -> Response {
    outcome(result.map(|()| json!({})))
}
