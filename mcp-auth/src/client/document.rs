//! [`AuthDocument`]: a login's documents, without secrets.

use std::fmt;

use serde_json::{Map, Value};

use crate::error::shown;
use crate::fetch::Fetched;

/// Largest size of the contents in bytes: 16 KiB.
const MAX_BYTES: usize = 16 << 10;
/// Largest number of members that are kept.
const MAX_MEMBERS: usize = 128;
/// Members of a registration that are shown. The others may be secrets, such as
/// `registration_access_token`.
// Spec: RFC 7591 section 2 and 3.2.1.
const REGISTERED: [&str; 18] = [
    "application_type",
    "client_id",
    "client_id_issued_at",
    "client_name",
    "client_secret_expires_at",
    "client_uri",
    "contacts",
    "dpop_bound_access_tokens",
    "grant_types",
    "logo_uri",
    "policy_uri",
    "redirect_uris",
    "response_types",
    "scope",
    "software_id",
    "software_version",
    "token_endpoint_auth_method",
    "tos_uri",
];
/// Members that are secrets wherever they are.
const SECRETS: [&str; 8] = [
    "access_token",
    "client_secret",
    "id_token",
    "initial_access_token",
    "password",
    "refresh_token",
    "registration_access_token",
    "software_statement",
];
/// The value of a member that is not shown.
const HIDDEN: &str = "(hidden)";

/// The subject of an [`AuthDocument`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentKind {
    /// The metadata of the protected resource, which is the MCP server (RFC 9728).
    Resource,
    /// Metadata of the authorization server (RFC 8414).
    Server,
    /// The response to the registration of the client (RFC 7591).
    Registration,
}

/// A document that a login has fetched, for programs that show or log it.
///
/// The document is reported before it is checked, so it may be one that the login refuses. Secrets are
/// replaced by `(hidden)`: of a registration, all members but those that RFC 7591 defines as public.
/// `Debug` prints the size of the contents only.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthDocument {
    /// The subject of the document.
    pub kind: DocumentKind,
    /// The URL without user, query and fragment.
    pub url: String,
    /// The members as a JSON object of about 16 KiB at most. Members beyond the limit are replaced by their size.
    pub contents: String,
}

impl AuthDocument {
    /// Describes a response. Returns `None` if it is not a JSON object.
    pub(crate) fn new(kind: DocumentKind, fetched: &Fetched) -> Option<Self> {
        let members: Map<String, Value> = fetched.json().ok()?;
        Some(Self {
            kind,
            url: shown(&fetched.url),
            contents: Value::Object(bounded(kind, members)).to_string(),
        })
    }
}

impl fmt::Debug for AuthDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthDocument")
            .field("kind", &self.kind)
            .field("url", &self.url)
            .field("bytes", &self.contents.len())
            .finish()
    }
}

fn bounded(kind: DocumentKind, members: Map<String, Value>) -> Map<String, Value> {
    let mut bytes = 0;
    let members = members.into_iter().take(MAX_MEMBERS);
    let kept = members
        .filter(|(name, _)| name.len() <= 128)
        .map(|(name, mut value)| {
            let is_public = kind != DocumentKind::Registration || REGISTERED.contains(&&*name);
            if !is_public || SECRETS.contains(&&*name) {
                return (name, HIDDEN.into());
            }
            hide_secrets(&mut value);
            let size = value.to_string().len();
            if bytes + size > MAX_BYTES {
                return (name, format!("({size} bytes)").into());
            }
            bytes += size;
            (name, value)
        });
    kept.collect()
}

fn hide_secrets(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if SECRETS.contains(&&**name) {
                    *value = HIDDEN.into()
                } else {
                    hide_secrets(value)
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(hide_secrets),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use http::Response;
    use serde_json::{Value, json};

    use super::{AuthDocument, DocumentKind, MAX_BYTES};
    use crate::fetch::fetched;

    fn contents(kind: DocumentKind, document: &Value) -> Value {
        let text: &'static str = document.to_string().leak();
        let fetched = fetched("https://u:pw@h/a?secret=1", Response::new(text));
        let document = AuthDocument::new(kind, &fetched).unwrap();
        assert_eq!(document.url, "https://h/a");
        assert!(document.contents.len() < 2 * MAX_BYTES);
        serde_json::from_str(&document.contents).unwrap()
    }

    #[test]
    fn secrets_are_hidden() {
        let registration = json!({
            "client_id": "c", "client_secret": "s", "registration_access_token": "s",
            "registration_client_uri": "https://h/s", "scope": "a", "vendor": "s",
        });
        let expected = json!({
            "client_id": "c", "client_secret": "(hidden)", "registration_access_token": "(hidden)",
            "registration_client_uri": "(hidden)", "scope": "a", "vendor": "(hidden)",
        });
        assert_eq!(
            contents(DocumentKind::Registration, &registration),
            expected
        );
        let metadata = json!({
            "token_endpoint": "https://h/token", "client_secret": "s",
            "vendor": [{"id_token": "s", "a": 1}],
        });
        let expected = json!({
            "token_endpoint": "https://h/token", "client_secret": "(hidden)",
            "vendor": [{"id_token": "(hidden)", "a": 1}],
        });
        assert_eq!(contents(DocumentKind::Server, &metadata), expected);
    }

    #[test]
    fn large_documents_are_bounded() {
        let members = (0..1000).map(|number| (number.to_string(), json!("x".repeat(1000))));
        let document = Value::Object(members.collect());
        let contents = contents(DocumentKind::Resource, &document);
        let members = contents.as_object().unwrap();
        assert_eq!(members.len(), 128);
        assert!(members.values().any(|value| value == "(1002 bytes)"));
        let text = Response::new("[1]");
        let list = fetched("https://h", text);
        assert_eq!(AuthDocument::new(DocumentKind::Resource, &list), None);
    }

    #[test]
    fn debug_shows_no_contents() {
        let fetched = fetched("https://h", Response::new(r#"{"a":"canary"}"#));
        let document = AuthDocument::new(DocumentKind::Server, &fetched).unwrap();
        assert!(!format!("{document:?}").contains("canary"));
    }
}
