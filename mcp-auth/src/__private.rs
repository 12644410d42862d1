//! Functions for the tools of this repository. They are not part of the public interface.

use http::HeaderMap;

use crate::challenge;

/// Parses all `WWW-Authenticate` headers: schemes with their parameters in their order.
pub fn challenges(headers: &HeaderMap) -> Vec<(String, Vec<(String, String)>)> {
    let all = challenge::parse_headers(headers).into_iter();
    all.map(|one| (one.scheme, one.parameters)).collect()
}

/// The scheme and the scopes of the challenge that a client answers.
pub fn answered(headers: &HeaderMap, prefers_dpop: bool) -> Option<(String, Option<String>)> {
    let selected = challenge::Challenge::select(headers, prefers_dpop)?;
    let scopes = selected.scope.map(|scopes| scopes.to_string());
    Some((format!("{:?}", selected.scheme), scopes))
}
