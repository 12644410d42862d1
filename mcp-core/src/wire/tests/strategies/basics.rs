//! Strings, numbers, ids, and the ranges of values.

use mcp_types::{JsonObject, Meta, ProgressToken, RawObject, RequestId, Role};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A range of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Range {
    /// Values that the two newest revisions have in common.
    Shared,
    /// All values of the types.
    All,
}

impl Range {
    /// Generates a value that one of the two newest revisions does not have.
    pub(super) fn apart<T: std::fmt::Debug + Clone + 'static>(
        self,
        value: impl Strategy<Value = T> + 'static,
    ) -> BoxedStrategy<Option<T>> {
        match self {
            Self::Shared => Just(None).boxed(),
            Self::All => of(value).boxed(),
        }
    }
}

pub(super) fn text() -> BoxedStrategy<String> {
    prop_oneof!["[a-z]{1,6}", Just("\"é\\\n\u{1F980}\u{2028}".to_owned())].boxed()
}

pub(super) fn uri() -> BoxedStrategy<String> {
    "[a-z]{1,5}"
        .prop_map(|name| format!("file:///{name}"))
        .boxed()
}

pub(super) fn value() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(0.5)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec(("[a-z]{1,3}", inner), 0..3)
                .prop_map(|members| members.into_iter().collect::<JsonObject>().into()),
        ]
    })
    .boxed()
}

pub(super) fn object() -> BoxedStrategy<JsonObject> {
    vec(("[a-z]{1,3}", value()), 0..3)
        .prop_map(|members| members.into_iter().collect())
        .boxed()
}

pub(super) fn raw_object() -> BoxedStrategy<RawObject> {
    object()
        .prop_map(|value| RawObject::from_value(&value).unwrap())
        .boxed()
}

pub(super) fn meta() -> BoxedStrategy<Option<Meta>> {
    of(value().prop_map(|value| Meta::default().with("com.example/x", value))).boxed()
}

/// Generates a `_meta` that only sessions have.
pub(super) fn session_meta(range: Range) -> BoxedStrategy<Option<Meta>> {
    range.apart(value().prop_map(|value| Meta::default().with("com.example/x", value)))
}

/// A number that JSON and `f64` represent exactly.
pub(super) fn number() -> BoxedStrategy<f64> {
    (0_u32..8000)
        .prop_map(|eighths| f64::from(eighths) / 8.0)
        .boxed()
}

pub(super) fn share() -> BoxedStrategy<f64> {
    (0_u32..=8)
        .prop_map(|eighths| f64::from(eighths) / 8.0)
        .boxed()
}

pub(crate) fn id() -> BoxedStrategy<RequestId> {
    prop_oneof![
        any::<i64>().prop_map(RequestId::from),
        text().prop_map(RequestId::from)
    ]
    .boxed()
}

pub(crate) fn token() -> BoxedStrategy<ProgressToken> {
    id().prop_map(ProgressToken::from).boxed()
}

pub(super) fn role() -> BoxedStrategy<Role> {
    prop_oneof![Just(Role::User), Just(Role::Assistant)].boxed()
}
