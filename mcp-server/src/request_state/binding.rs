//! The request that a state belongs to.

use hmac_sha256::Hash;
use mcp_core::{Call, Principal, ServerIdentity};
use mcp_types::RawObject;
use serde_json::Value;

/// The members of parameters that carry the input of a repeated request.
pub(crate) const INPUT_MEMBERS: [&str; 2] = ["inputResponses", "requestState"];

/// A digest of the principal, the method and its parameters. A state is valid only for a request with
/// the same binding.
// spec: MRTR-08
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Binding([u8; 32]);

impl Binding {
    pub(crate) fn new(call: &Call, principal: Option<&Principal>) -> Self {
        // spec: ELIC-16
        let mut digest = of_principal(principal);
        update(&mut digest, b'm', call.method_name().as_bytes());
        let item = call.item().unwrap_or_default();
        update(&mut digest, b'i', item.as_bytes());
        let arguments = match call {
            Call::CallTool(params) => params.arguments.as_ref(),
            Call::GetPrompt(params) => params.arguments.as_ref(),
            Call::Other { params, .. } => params.as_ref(),
            _ => None,
        };
        match arguments.map(RawObject::parse) {
            None => update_value(&mut digest, &Value::Object(Default::default())),
            Some(Ok(mut value)) => {
                if let (Call::Other { .. }, Value::Object(members)) = (call, &mut value) {
                    members.retain(|name, _| !INPUT_MEMBERS.contains(&&**name));
                }
                update_value(&mut digest, &value);
            }
            // Arguments that are nested too deeply to be parsed are bound by their bytes.
            Some(Err(_)) => {
                let json = arguments.map(RawObject::as_str).unwrap_or_default();
                update(&mut digest, b'r', json.as_bytes());
            }
        }
        Self(digest.finalize())
    }

    /// Returns the binding to the same request at one endpoint.
    pub(crate) fn at_endpoint(self, endpoint: ServerIdentity) -> Self {
        let mut digest = Hash::new();
        update(&mut digest, b'b', &self.0);
        update(&mut digest, b'e', endpoint.to_string().as_bytes());
        Self(digest.finalize())
    }

    /// Binds a token to a purpose instead of a request.
    pub(crate) fn of_token(purpose: &str, principal: Option<&Principal>) -> Self {
        let mut digest = of_principal(principal);
        update(&mut digest, b't', purpose.as_bytes());
        Self(digest.finalize())
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Starts a digest with the principal.
fn of_principal(principal: Option<&Principal>) -> Hash {
    let mut digest = Hash::new();
    match principal {
        Some(principal) => {
            update(&mut digest, b'p', principal.issuer.as_bytes());
            update(&mut digest, b'p', principal.subject.as_bytes());
            if let Some(client) = &principal.client {
                update(&mut digest, b'c', client.as_bytes());
            }
        }
        None => update(&mut digest, b'-', b""),
    }
    digest
}

/// Adds a field with its tag and its length, so that two different lists of fields never produce the
/// same bytes.
pub(super) fn update(digest: &mut Hash, tag: u8, field: &[u8]) {
    digest.update([tag]);
    digest.update((field.len() as u64).to_be_bytes());
    digest.update(field);
}

/// Adds a JSON value. Members are sorted by name, because a proxy may reorder them.
fn update_value(digest: &mut Hash, value: &Value) {
    let update_count = |digest: &mut Hash, tag, count: usize| {
        update(digest, tag, &(count as u64).to_be_bytes());
    };
    match value {
        Value::Null => update(digest, b'n', b""),
        Value::Bool(boolean) => update(digest, b'b', &[u8::from(*boolean)]),
        Value::Number(number) => update(digest, b'd', number.to_string().as_bytes()),
        Value::String(string) => update(digest, b's', string.as_bytes()),
        Value::Array(items) => {
            update_count(digest, b'a', items.len());
            items.iter().for_each(|item| update_value(digest, item));
        }
        Value::Object(members) => {
            update_count(digest, b'o', members.len());
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            for (name, member) in sorted {
                update(digest, b'k', name.as_bytes());
                update_value(digest, member);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use mcp_core::{Call, Principal};
    use mcp_types::{CallToolParams, GetPromptParams, RawObject, ReadResourceParams};

    use super::Binding;

    fn tool(name: &str, arguments: &str) -> Call {
        let arguments = RawObject::from_text(arguments).unwrap();
        Call::CallTool(CallToolParams::new(name, Some(arguments)))
    }

    #[test]
    fn binding_changes_with_every_part_except_member_order() {
        let ada = Principal::new("https://a.example", "ada");
        let base = Binding::new(&tool("t", r#"{"a": 1, "b": [true, null]}"#), Some(&ada));
        let same = tool("t", r#"{"b":[true,null],"a":1}"#);
        let scoped = ada.clone().scopes(["more"]);
        assert_eq!(Binding::new(&same, Some(&scoped)), base);

        let arguments = RawObject::from_text(r#"{"a":1,"b":[true,null]}"#).unwrap();
        for call in [
            tool("u", r#"{"a":1,"b":[true,null]}"#),
            tool("t", r#"{"a":2,"b":[true,null]}"#),
            tool("t", r#"{"a":1,"b":[null,true]}"#),
            tool("t", r#"{"a":1,"b":[true],"c":null}"#),
            tool("t", r#"{"a":"1","b":[true,null]}"#),
            tool("t", "{}"),
            Call::GetPrompt(GetPromptParams::new("t", Some(arguments))),
            Call::ReadResource(ReadResourceParams::from("t")),
        ] {
            assert_ne!(Binding::new(&call, Some(&ada)), base, "{call:?}");
        }
        for other in [
            Principal::new("https://a.example", "bob"),
            Principal::new("https://b.example", "ada"),
            Principal::new("https://a.examplea", "da"),
            ada.clone().client("other"),
        ] {
            assert_ne!(Binding::new(&same, Some(&other)), base, "{other:?}");
        }
        assert_ne!(Binding::new(&same, None), base);
        let none = Call::CallTool(CallToolParams::new("t", None));
        assert_eq!(
            Binding::new(&none, None),
            Binding::new(&tool("t", "{}"), None)
        );
    }

    #[test]
    fn deeply_nested_arguments_are_bound_by_their_bytes() {
        let deep = |inner: &str| {
            let json = format!(r#"{{"a":{}{inner}{}}}"#, "[".repeat(5000), "]".repeat(5000));
            Binding::new(&tool("t", &json), None)
        };
        assert_eq!(deep("1"), deep("1"));
        assert_ne!(deep("1"), deep("2"));
    }
}
