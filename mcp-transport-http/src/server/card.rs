//! Server cards: documents about a server for clients that have not connected yet.

use std::convert::Infallible;
use std::fmt;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::X_CONTENT_TYPE_OPTIONS;
use http::{HeaderValue, Request, Response, StatusCode, request::Parts};
use http_body_util::Full;
use mcp_types::ext::server_card::{InvalidCard, ServerCard};
use serde_json::json;
use tower_service::Service;

use crate::public_document::PublicDocument;
use crate::server_card::{CARD_MIME_TYPE, CATALOG_PATH};

/// A server card as HTTP documents: `<path of the endpoint>/server-card`, and the catalog of the
/// domain at `/.well-known/ai-catalog.json`.
///
/// Both have `Access-Control-Allow-Origin: *`, `Cache-Control: public, max-age=3600` and an `ETag`; they need
/// no authorization. It is a tower service for routers; [`Serve::card`](crate::Serve::card) answers its paths
/// without one.
///
/// # Examples
///
/// ```
/// use axum::Router;
/// use mcp::StreamableHttp;
/// use mcp::http::server::CardService;
/// use mcp::prelude::*;
/// use mcp::types::ext::server_card::{CardRemote, ServerCard};
///
/// let card = ServerCard::new("com.example/docs", "1.0.0", "Documents of the company")
///     .remote(CardRemote::streamable_http("https://mcp.example.com/mcp"));
/// let cards = CardService::new(&card, "/mcp")?;
/// let endpoint = StreamableHttp::new(Server::new("docs", "1.0.0"));
/// let app: Router = cards
///     .paths()
///     .iter()
///     .fold(Router::new(), |app, path| app.route_service(path, cards.clone()))
///     .route_service("/mcp", endpoint);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CardService {
    documents: Arc<[Document; 2]>,
}

/// A document with its path.
struct Document {
    path: String,
    content: PublicDocument,
}

impl Document {
    fn new(path: String, mime_type: &'static str, body: Vec<u8>) -> Self {
        Self {
            path,
            content: PublicDocument::new(mime_type, body).with_etag(),
        }
    }

    fn respond(&self, head: &Parts) -> Response<Bytes> {
        let mut response = self.content.respond(&head.method, &head.headers);
        if response.status() == StatusCode::OK {
            let nosniff = HeaderValue::from_static("nosniff");
            response
                .headers_mut()
                .insert(X_CONTENT_TYPE_OPTIONS, nosniff);
        }
        response
    }
}

impl CardService {
    /// Creates the documents of a card for an endpoint at `path`, such as `/mcp`. The catalog contains the
    /// card itself.
    ///
    /// # Errors
    ///
    /// Returns an [`InvalidCard`] that names the field.
    pub fn new(card: &ServerCard, path: &str) -> Result<Self, InvalidCard> {
        card.check()?;
        let entry = json!({"identifier": identifier(card), "type": CARD_MIME_TYPE, "data": card});
        let catalog = json!({"specVersion": "1.0", "entries": [entry]});
        // The serialization of strings and lists cannot fail.
        let card = serde_json::to_vec(card).unwrap_or_default();
        let catalog = serde_json::to_vec(&catalog).unwrap_or_default();
        let card_path = format!("{}/server-card", path.trim_end_matches('/'));
        Ok(Self {
            documents: Arc::new([
                Document::new(card_path, CARD_MIME_TYPE, card),
                Document::new(
                    CATALOG_PATH.to_owned(),
                    "application/ai-catalog+json",
                    catalog,
                ),
            ]),
        })
    }

    /// Returns the paths of the card and the catalog.
    pub fn paths(&self) -> [&str; 2] {
        let [card, catalog] = &*self.documents;
        [&card.path, &catalog.path]
    }

    /// Answers a request for one of the paths.
    pub(crate) fn respond(&self, head: &Parts) -> Option<Response<Full<Bytes>>> {
        let document = self
            .documents
            .iter()
            .find(|card| card.path == head.uri.path())?;
        Some(document.respond(head).map(Full::new))
    }
}

/// Returns the identifier in the catalog: the domain and the name of the card.
fn identifier(card: &ServerCard) -> String {
    let (domain, name) = card.name.split_once('/').unwrap_or(("", &card.name));
    let publisher: Vec<_> = domain.rsplit('.').collect();
    format!("urn:air:{}:mcp:{name}", publisher.join("."))
}

impl<B> Service<Request<B>> for CardService {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (head, _) = request.into_parts();
        let response = self.respond(&head).unwrap_or_else(|| {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        });
        ready(Ok(response))
    }
}

impl fmt::Debug for CardService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardService")
            .field("paths", &self.paths())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use http::header::{
        ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG,
        IF_NONE_MATCH,
    };
    use http::{Method, Request, Response, StatusCode};
    use http_body::Body as _;
    use mcp_types::ext::server_card::ServerCard;

    use super::{Bytes, CardService, Full};

    fn respond(cards: &CardService, request: Request<()>) -> Option<Response<Full<Bytes>>> {
        let (head, ()) = request.into_parts();
        cards.respond(&head)
    }

    fn cards(path: &str) -> CardService {
        CardService::new(&ServerCard::new("com.example/docs", "1.0.0", "Docs"), path).unwrap()
    }

    // The values come from the description of the draft.
    #[test]
    fn card_and_catalog_are_public_and_cached() {
        let cards = cards("/mcp/");
        assert_eq!(
            cards.paths(),
            ["/mcp/server-card", "/.well-known/ai-catalog.json"]
        );
        for (path, mime) in [
            ("/mcp/server-card", "application/mcp-server-card+json"),
            (
                "/.well-known/ai-catalog.json?x=1",
                "application/ai-catalog+json",
            ),
        ] {
            let request = Request::get(path).body(()).unwrap();
            let response = respond(&cards, request).unwrap();
            assert_eq!(response.status(), StatusCode::OK);
            assert_eq!(response.headers()[CONTENT_TYPE], mime);
            assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
            assert_eq!(response.headers()[CACHE_CONTROL], "public, max-age=3600");
            let tag = response.headers()[ETAG].to_str().unwrap();
            for known in [
                tag.to_owned(),
                format!("W/{tag}"),
                format!("\"a\", {tag}"),
                "*".to_owned(),
            ] {
                let request = Request::get(path)
                    .header(IF_NONE_MATCH, known)
                    .body(())
                    .unwrap();
                let response = respond(&cards, request).unwrap();
                assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
                assert_eq!(response.body().size_hint().exact(), Some(0));
            }
            let request = Request::get(path)
                .header(IF_NONE_MATCH, "\"a\"")
                .body(())
                .unwrap();
            assert_eq!(respond(&cards, request).unwrap().status(), StatusCode::OK);
        }
    }

    #[test]
    fn other_methods_and_paths_are_refused() {
        let cards = cards("/mcp");
        let request = |method: Method, path: &str| {
            let request = Request::builder().method(method).uri(path);
            respond(&cards, request.body(()).unwrap())
        };
        for path in cards.paths() {
            let preflight = request(Method::OPTIONS, path).unwrap();
            assert_eq!(preflight.status(), StatusCode::NO_CONTENT);
            let get = request(Method::GET, path).unwrap();
            let head = request(Method::HEAD, path).unwrap();
            assert_eq!(
                (head.status(), head.body().size_hint().exact()),
                (StatusCode::OK, Some(0))
            );
            let length = get.body().size_hint().exact().unwrap().to_string();
            assert_eq!(head.headers()[CONTENT_LENGTH], length);
        }
        let post = request(Method::POST, "/mcp/server-card").unwrap();
        assert_eq!(post.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(post.headers()[ALLOW], "GET, HEAD, OPTIONS");
        for path in ["/mcp", "/server-card", "/mcp/server-card/"] {
            assert!(request(Method::GET, path).is_none(), "{path}");
        }
    }

    #[test]
    fn invalid_card_is_refused() {
        let card = ServerCard::new("docs", "1", "d");
        let error = CardService::new(&card, "/mcp").unwrap_err();
        assert!(error.to_string().contains("`name`"), "{error}");
    }
}
