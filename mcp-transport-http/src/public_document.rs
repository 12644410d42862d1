//! Documents that web pages of every origin may read: `GET`, `HEAD`, `OPTIONS`, and 405 for all others.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH,
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

/// A public document, which may be cached for an hour.
#[derive(Debug, Clone)]
pub struct PublicDocument {
    mime_type: &'static str,
    body: Bytes,
    etag: Option<HeaderValue>,
}

impl PublicDocument {
    /// A document without an `ETag`.
    pub fn new(mime_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self {
            mime_type,
            body: body.into(),
            etag: None,
        }
    }

    /// Adds an `ETag`, the first half of the body's SHA-256. A client that sends it with
    /// `If-None-Match` receives 304 without a body.
    #[must_use]
    pub fn with_etag(mut self) -> Self {
        let hash = hmac_sha256::Hash::hash(&self.body);
        let digits = hash.iter().take(16).map(|byte| format!("{byte:02x}"));
        let etag = format!("\"{}\"", digits.collect::<String>());
        // Hexadecimal digits in quotes are a valid value.
        self.etag = HeaderValue::try_from(etag).ok();
        self
    }

    /// Answers a request.
    pub fn respond(&self, method: &Method, headers: &HeaderMap) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        let any = HeaderValue::from_static("*");
        response
            .headers_mut()
            .insert(ACCESS_CONTROL_ALLOW_ORIGIN, any);
        match *method {
            Method::GET | Method::HEAD => self.read(method, headers, &mut response),
            Method::OPTIONS => {
                let headers = response.headers_mut();
                // Some clients send a header with their version.
                headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*"));
                let methods = HeaderValue::from_static("GET, HEAD");
                headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
                *response.status_mut() = StatusCode::NO_CONTENT;
            }
            _ => {
                let methods = HeaderValue::from_static("GET, HEAD, OPTIONS");
                response.headers_mut().insert(ALLOW, methods);
                *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            }
        }
        response
    }

    fn read(&self, method: &Method, request: &HeaderMap, response: &mut Response<Bytes>) {
        let headers = response.headers_mut();
        let cached = HeaderValue::from_static("public, max-age=3600");
        headers.insert(CACHE_CONTROL, cached);
        if let Some(etag) = &self.etag {
            headers.insert(ETAG, etag.clone());
            let exposed = HeaderValue::from_static("ETag");
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
            if is_known(request, etag) {
                *response.status_mut() = StatusCode::NOT_MODIFIED;
                return;
            }
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.mime_type));
        if *method == Method::GET {
            *response.body_mut() = self.body.clone();
        } else {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(self.body.len()));
        }
    }
}

/// Returns true if the client has this version of the document.
fn is_known(request: &HeaderMap, etag: &HeaderValue) -> bool {
    let known = request.get_all(IF_NONE_MATCH).into_iter();
    let mut tags = known
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|tag| tag.trim().trim_start_matches("W/"));
    tags.any(|tag| tag == "*" || tag.as_bytes() == etag.as_bytes())
}

#[cfg(test)]
mod tests {
    use http::header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
    };
    use http::{HeaderMap, Method, Response};

    use super::{Bytes, PublicDocument};

    fn respond(document: &PublicDocument, method: Method) -> Response<Bytes> {
        document.respond(&method, &HeaderMap::new())
    }

    fn documents() -> [PublicDocument; 2] {
        let document = PublicDocument::new("application/json", "{}");
        [document.clone(), document.with_etag()]
    }

    #[test]
    fn get_has_the_body_for_every_origin() {
        for document in documents() {
            let response = respond(&document, Method::GET);
            assert_eq!(
                (response.status().as_u16(), &**response.body()),
                (200, &b"{}"[..])
            );
            assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
            assert_eq!(response.headers()[CACHE_CONTROL], "public, max-age=3600");
            assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
        }
    }

    #[test]
    fn head_has_the_length_without_the_body() {
        for document in documents() {
            let get = respond(&document, Method::GET);
            let mut response = respond(&document, Method::HEAD);
            assert_eq!(
                (response.status().as_u16(), response.body().len()),
                (200, 0)
            );
            let length = response.headers_mut().remove(CONTENT_LENGTH).unwrap();
            assert_eq!(length, get.body().len().to_string());
            assert_eq!(response.headers(), get.headers());
        }
    }

    #[test]
    fn options_permit_reading_with_any_header() {
        for document in documents() {
            let response = respond(&document, Method::OPTIONS);
            assert_eq!(
                (response.status().as_u16(), response.body().len()),
                (204, 0)
            );
            assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
            assert_eq!(
                response.headers()[ACCESS_CONTROL_ALLOW_METHODS],
                "GET, HEAD"
            );
            assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_HEADERS], "*");
        }
    }

    #[test]
    fn other_methods_are_refused_with_the_allowed_ones() {
        for document in documents() {
            for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
                let response = respond(&document, method);
                assert_eq!(
                    (response.status().as_u16(), response.body().len()),
                    (405, 0)
                );
                assert_eq!(response.headers()[ALLOW], "GET, HEAD, OPTIONS");
                assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
                assert!(!response.headers().contains_key(CACHE_CONTROL));
            }
        }
    }

    #[test]
    fn known_version_is_not_sent_again() {
        let [plain, document] = documents();
        assert!(!respond(&plain, Method::GET).headers().contains_key(ETAG));
        let etag = respond(&document, Method::GET).headers()[ETAG].clone();
        let mut headers = HeaderMap::new();
        headers.insert(IF_NONE_MATCH, etag.clone());
        for method in [Method::GET, Method::HEAD] {
            let response = document.respond(&method, &headers);
            assert_eq!(
                (response.status().as_u16(), response.body().len()),
                (304, 0)
            );
            assert_eq!(response.headers()[ETAG], etag);
            assert!(!response.headers().contains_key(CONTENT_LENGTH));
            assert_eq!(plain.respond(&method, &headers).status(), 200);
        }
    }
}
