//! Rules for the claims of access tokens.

use serde_json::{Map, Value};

use super::super::verifier::{VerifiedToken, VerifyError};
use crate::metadata::server::is_same_issuer;

/// Settings for the token claims.
#[derive(Debug, Clone)]
pub(in crate::server) struct ClaimRules {
    /// Seconds that the clocks may differ for `nbf` and `iat`.
    pub(in crate::server) leeway: u64,
    /// The type of tokens must be `at+jwt`.
    pub(in crate::server) strict_type: bool,
    /// Claims with the scopes, in the order in which they are searched.
    pub(in crate::server) scope_claims: Vec<String>,
}

impl Default for ClaimRules {
    fn default() -> Self {
        Self {
            leeway: 30,
            strict_type: false,
            scope_claims: vec!["scope".to_owned(), "scp".to_owned()],
        }
    }
}

/// Checks the claims of a token whose signature is valid, except its audience and its expiry, which are
/// checked for every kind of token.
///
/// # Errors
///
/// Returns [`VerifyError::Invalid`] for the first claim that is wrong.
// spec: AUTH-S-04
pub(in crate::server) fn check(
    header_type: Option<&str>,
    claims: Map<String, Value>,
    issuer: &str,
    rules: &ClaimRules,
    now: u64,
) -> Result<VerifiedToken, VerifyError> {
    check_type(header_type, &claims, rules)?;
    let found = text(&claims, "iss")?.ok_or(VerifyError::Invalid("it has no issuer"))?;
    if !is_same_issuer(issuer, found) {
        return Err(VerifyError::Invalid("its issuer is another one"));
    }
    let token = from_claims(issuer, claims, rules)?;
    if token.expires_at.is_none() {
        return Err(VerifyError::Invalid("it has no expiry"));
    }
    let starts = [time(&token.claims, "nbf")?, time(&token.claims, "iat")?];
    if starts
        .into_iter()
        .flatten()
        .any(|start| start > now.saturating_add(rules.leeway))
    {
        return Err(VerifyError::Invalid("it is not valid yet"));
    }
    Ok(token)
}

/// Refuses tokens of other kinds by the same issuer: ID tokens, refresh tokens, logout tokens.
fn check_type(
    header_type: Option<&str>,
    claims: &Map<String, Value>,
    rules: &ClaimRules,
) -> Result<(), VerifyError> {
    let no_access_token = Err(VerifyError::Invalid("it is not an access token"));
    let is = |expected: &str| header_type.is_some_and(|typ| typ.eq_ignore_ascii_case(expected));
    let is_access_token = is("at+jwt") || is("application/at+jwt");
    let is_untyped = header_type.is_none() || is("JWT");
    if !is_access_token && (rules.strict_type || !is_untyped) {
        return no_access_token;
    }
    // Members of ID tokens.
    if ["nonce", "at_hash", "c_hash", "s_hash"]
        .iter()
        .any(|name| claims.contains_key(*name))
    {
        return no_access_token;
    }
    // Keycloak and Cognito name the kind in a claim.
    let kind = claims.get("typ").and_then(Value::as_str);
    let is_other_kind = kind.is_some_and(|kind| {
        !["Bearer", "DPoP", "JWT", "at+jwt"]
            .iter()
            .any(|known| kind.eq_ignore_ascii_case(known))
    });
    let is_other_use = claims
        .get("token_use")
        .is_some_and(|usage| usage != "access");
    if is_other_kind || is_other_use || claims.contains_key("events") {
        no_access_token
    } else {
        Ok(())
    }
}

/// Reads the claims that JSON Web Tokens and introspection responses have in common.
///
/// # Errors
///
/// Returns [`VerifyError::Invalid`] when a claim has the wrong type, or when no claim names the caller.
pub(in crate::server) fn from_claims(
    issuer: &str,
    claims: Map<String, Value>,
    rules: &ClaimRules,
) -> Result<VerifiedToken, VerifyError> {
    let client = match text(&claims, "client_id")? {
        Some(client) => Some(client),
        None => text(&claims, "azp")?,
    };
    let is_named = |name: &&str| !name.is_empty();
    let subject = match text(&claims, "sub")? {
        Some(subject) => Some(subject).filter(is_named).map(str::to_owned),
        // A client with the id of a user is not that user.
        None => client
            .filter(is_named)
            .map(|client| format!("client:{client}")),
    };
    let subject = subject.ok_or(VerifyError::Invalid("it names no subject"))?;
    let mut token = VerifiedToken::new(issuer, subject);
    token.client = client.map(str::to_owned);
    token.scopes = scopes(&claims, rules);
    token.audiences = audiences(&claims)?;
    token.expires_at = time(&claims, "exp")?;
    token.key_thumbprint = thumbprint(&claims)?;
    token.claims = claims;
    Ok(token)
}

fn text<'a>(claims: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, VerifyError> {
    match claims.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(VerifyError::Invalid("a claim that must be a string is not")),
    }
}

/// Reads a time: a number of seconds, never a string.
fn time(claims: &Map<String, Value>, name: &str) -> Result<Option<u64>, VerifyError> {
    let invalid = VerifyError::Invalid("a time is not a number of seconds");
    match claims.get(name) {
        None => Ok(None),
        Some(Value::Number(number)) => {
            let seconds = number.as_u64().or_else(|| {
                let seconds = number.as_f64().filter(|seconds| *seconds >= 0.0)?;
                Some(seconds as u64)
            });
            seconds.map(Some).ok_or(invalid)
        }
        Some(_) => Err(invalid),
    }
}

fn audiences(claims: &Map<String, Value>) -> Result<Vec<String>, VerifyError> {
    let invalid = VerifyError::Invalid("its audience is neither a string nor a list of strings");
    match claims.get("aud") {
        None => Ok(Vec::new()),
        Some(Value::String(audience)) => Ok(vec![audience.clone()]),
        Some(Value::Array(list)) => {
            let list = list.iter().map(|one| one.as_str().map(str::to_owned));
            list.collect::<Option<_>>().ok_or(invalid)
        }
        Some(_) => Err(invalid),
    }
}

fn scopes(claims: &Map<String, Value>, rules: &ClaimRules) -> Vec<String> {
    let words = |text: &str| {
        text.split(' ')
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let mut lists = rules
        .scope_claims
        .iter()
        .filter_map(|name| match claims.get(name)? {
            Value::String(text) => Some(words(text)),
            Value::Array(list) => Some(
                list.iter()
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect(),
            ),
            _ => None,
        });
    lists.next().unwrap_or_default()
}

/// Reads the key to which a token is bound.
///
/// # Errors
///
/// Returns [`VerifyError::Invalid`] for a binding that this crate cannot check, such as to a certificate.
fn thumbprint(claims: &Map<String, Value>) -> Result<Option<String>, VerifyError> {
    let Some(confirmation) = claims.get("cnf") else {
        return Ok(None);
    };
    let members = confirmation.as_object();
    let thumbprint = members
        .filter(|members| members.len() == 1)
        .and_then(|members| members.get("jkt"));
    match thumbprint {
        Some(Value::String(thumbprint)) => Ok(Some(thumbprint.clone())),
        _ => Err(VerifyError::Invalid(
            "it is bound in a way that is not supported",
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ClaimRules, check};

    const NOW: u64 = 1_800_000_000;
    const ISSUER: &str = "https://login.example";

    fn accepts(typ: Option<&str>, change: Value) -> Result<(), String> {
        let mut claims = json!({
            "iss": ISSUER, "sub": "ada", "aud": "https://mcp.example/mcp", "exp": NOW + 60,
        });
        for (name, value) in change.as_object().unwrap() {
            if value.is_null() {
                drop(claims.as_object_mut().unwrap().remove(name))
            } else {
                claims[name] = value.clone()
            }
        }
        let claims = claims.as_object().unwrap().clone();
        let checked = check(typ, claims, ISSUER, &ClaimRules::default(), NOW);
        checked.map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn access_tokens_from_common_servers_are_accepted() {
        for (typ, change) in [
            (None, json!({})),
            (Some("JWT"), json!({"typ": "Bearer", "azp": "agent"})),
            (
                Some("at+jwt"),
                json!({"aud": ["https://mcp.example/mcp", "x"], "client_id": "a"}),
            ),
            (
                Some("application/at+jwt"),
                json!({"iat": NOW + 20, "nbf": NOW + 20}),
            ),
            (
                Some("jwt"),
                json!({"sub": null, "client_id": "machine", "token_use": "access"}),
            ),
            (
                None,
                json!({"exp": (NOW + 1) as f64 + 0.5, "cnf": {"jkt": "abc"}}),
            ),
        ] {
            assert_eq!(accepts(typ, change.clone()), Ok(()), "{change}");
        }
    }

    #[test]
    fn largest_clock_skew_accepts_every_start() {
        let claims = json!({"iss": ISSUER, "sub": "ada", "exp": NOW + 60, "nbf": NOW + 50});
        let rules = ClaimRules {
            leeway: u64::MAX,
            ..ClaimRules::default()
        };
        let claims = claims.as_object().unwrap().clone();
        assert!(check(None, claims, ISSUER, &rules, NOW).is_ok());
    }

    #[test]
    fn client_without_subject_gets_a_subject_from_its_id() {
        let claims = json!({"client_id": "ada"});
        let claims = claims.as_object().unwrap().clone();
        let token = super::from_claims(ISSUER, claims, &ClaimRules::default()).unwrap();
        assert_eq!(token.subject, "client:ada");
        assert_eq!(token.client.as_deref(), Some("ada"));
    }

    #[test]
    fn every_wrong_claim_is_refused() {
        for (typ, change) in [
            (None, json!({"iss": null})),
            (None, json!({"iss": "https://other.example"})),
            (None, json!({"iss": "https://LOGIN.example"})),
            (None, json!({"iss": [ISSUER]})),
            (None, json!({"sub": null})),
            (None, json!({"sub": ""})),
            (None, json!({"sub": 7})),
            (None, json!({"exp": null})),
            (None, json!({"exp": (NOW + 60).to_string()})),
            (None, json!({"exp": -1})),
            (None, json!({"nbf": NOW + 60})),
            (None, json!({"nbf": (NOW - 60).to_string()})),
            (None, json!({"iat": NOW + 60})),
            (None, json!({"aud": 7})),
            (None, json!({"aud": ["https://mcp.example/mcp", 7]})),
            (None, json!({"aud": {"0": "https://mcp.example/mcp"}})),
            (None, json!({"nonce": "n"})),
            (None, json!({"at_hash": "h"})),
            (None, json!({"typ": "ID"})),
            (None, json!({"typ": "Refresh"})),
            (None, json!({"token_use": "id"})),
            (None, json!({"events": {}})),
            (None, json!({"cnf": {"x5t#S256": "abc"}})),
            (None, json!({"cnf": {"jkt": "abc", "x5t#S256": "abc"}})),
            (None, json!({"cnf": "abc"})),
            (Some("id_token+jwt"), json!({})),
            (Some("logout+jwt"), json!({})),
            (Some("dpop+jwt"), json!({})),
        ] {
            assert!(accepts(typ, change.clone()).is_err(), "{typ:?} {change}");
        }
    }
}
