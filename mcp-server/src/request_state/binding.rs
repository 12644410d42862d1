//! The request that a state belongs to.

use hmac_sha256::Hash;
use mcp_core::{Call, Principal};
use mcp_types::RawObject;
use serde_json::Value;

/// A digest of who asks for what: the principal, the method, its parameters.
// spec: MRTR-08
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Binding([u8; 32]);

impl Binding {
    #[inline]
    pub(crate) fn of(call: &Call, principal: Option<&Principal>) -> Self {
        let mut digest = Hash::new();
        match principal {
            Some(who) => {
                feed(&mut digest, b'p', who.issuer.as_bytes());
                feed(&mut digest, b'p', who.subject.as_bytes());
            }
            None => feed(&mut digest, b'-', b""),
        }
        feed(&mut digest, b'm', call.method_name().as_bytes());
        feed(
            &mut digest,
            b'i',
            call.item().unwrap_or_default().as_bytes(),
        );
        let arguments = match call {
            Call::CallTool(params) => params.arguments.as_ref(),
            Call::GetPrompt(params) => params.arguments.as_ref(),
            _ => None,
        };
        match arguments.map(RawObject::parse) {
            None => feed_value(&mut digest, &Value::Object(Default::default())),
            Some(Ok(value)) => feed_value(&mut digest, &value),
            // Too deep to be read: such arguments fit no handler, and are bound as they stand.
            Some(Err(_)) => {
                let text = arguments.map(RawObject::as_str).unwrap_or_default();
                feed(&mut digest, b'r', text.as_bytes());
            }
        }
        Self(digest.finalize())
    }

    #[inline]
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// No two lists of pieces feed the same bytes.
#[inline]
fn feed(digest: &mut Hash, kind: u8, piece: &[u8]) {
    digest.update([kind]);
    digest.update((piece.len() as u64).to_be_bytes());
    digest.update(piece);
}

/// The order of members says nothing: what forwards a request may change it.
#[inline]
fn feed_value(digest: &mut Hash, value: &Value) {
    let count = |digest: &mut Hash, kind, count: usize| {
        feed(digest, kind, &(count as u64).to_be_bytes());
    };
    match value {
        Value::Null => feed(digest, b'n', b""),
        Value::Bool(yes) => feed(digest, b'b', &[u8::from(*yes)]),
        Value::Number(number) => feed(digest, b'd', number.to_string().as_bytes()),
        Value::String(text) => feed(digest, b's', text.as_bytes()),
        Value::Array(items) => {
            count(digest, b'a', items.len());
            items.iter().for_each(|item| feed_value(digest, item));
        }
        Value::Object(members) => {
            count(digest, b'o', members.len());
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            for (name, member) in sorted {
                feed(digest, b'k', name.as_bytes());
                feed_value(digest, member);
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
    fn every_part_counts_but_not_the_order_of_members() {
        let ada = Principal::new("https://a.example", "ada");
        let base = Binding::of(&tool("t", r#"{"a": 1, "b": [true, null]}"#), Some(&ada));
        let same = tool("t", r#"{"b":[true,null],"a":1}"#);
        let scoped = ada.clone().scopes(["more"]);
        assert_eq!(Binding::of(&same, Some(&scoped)), base);

        let arguments = RawObject::from_text(r#"{"a":1,"b":[true,null]}"#).unwrap();
        for call in [
            tool("u", r#"{"a":1,"b":[true,null]}"#),
            tool("t", r#"{"a":2,"b":[true,null]}"#),
            tool("t", r#"{"a":1,"b":[null,true]}"#),
            tool("t", r#"{"a":1,"b":[true],"c":null}"#),
            tool("t", r#"{"a":"1","b":[true,null]}"#),
            tool("t", "{}"),
            Call::GetPrompt(GetPromptParams::new("t", Some(arguments))),
            Call::ReadResource(ReadResourceParams::new("t")),
        ] {
            assert_ne!(Binding::of(&call, Some(&ada)), base, "{call:?}");
        }
        for other in [
            Principal::new("https://a.example", "bob"),
            Principal::new("https://b.example", "ada"),
            Principal::new("https://a.examplea", "da"),
        ] {
            assert_ne!(Binding::of(&same, Some(&other)), base, "{other:?}");
        }
        assert_ne!(Binding::of(&same, None), base);
        let none = Call::CallTool(CallToolParams::new("t", None));
        assert_eq!(
            Binding::of(&none, None),
            Binding::of(&tool("t", "{}"), None)
        );
    }

    #[test]
    fn arguments_of_any_depth_have_one() {
        let deep = |inner: &str| {
            let text = format!(r#"{{"a":{}{inner}{}}}"#, "[".repeat(5000), "]".repeat(5000));
            Binding::of(&tool("t", &text), None)
        };
        assert_eq!(deep("1"), deep("1"));
        assert_ne!(deep("1"), deep("2"));
    }
}
