//! [`Keywords`]: the keywords of a schema, or of several that apply to the same value.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ops::Bound;
use std::slice;

use serde_json::{Number, Value};

use crate::schema::Node;
use crate::types::{Type, types};

/// The keywords of a [`Node`], or of the [`Parts`](crate::Parts) that apply to the same value.
///
/// A keyword with a value of a wrong type counts as absent. Where several schemas have a keyword, [`get`](Self::get) returns the
/// first one; [`properties`](Self::properties) and [`required`](Self::required) are those of all.
pub trait Keywords<'s> {
    /// Returns the schemas. Not empty.
    fn nodes(&self) -> &[Node<'s>];

    /// Iterates over the values of a keyword in all schemas, for keywords that narrow each other, such as `type` and `enum`.
    fn all<'a>(&'a self, keyword: &'a str) -> impl Iterator<Item = &'s Value> + 'a
    where
        's: 'a,
    {
        let nodes = self.nodes().iter();
        nodes.filter_map(move |node| node.object()?.get(keyword))
    }

    /// Returns the value of a keyword.
    fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.all(keyword).next()
    }

    /// Returns the text of a keyword such as `description` or `pattern`.
    fn text(&self, keyword: &str) -> Option<&'s str> {
        self.get(keyword)?.as_str()
    }

    /// Returns true if a keyword is `true`.
    fn flag(&self, keyword: &str) -> bool {
        self.get(keyword) == Some(&Value::Bool(true))
    }

    /// Returns the number of a keyword such as `minLength` or `maxItems`. `3.0` is 3, and larger numbers are the largest one.
    fn count(&self, keyword: &str) -> Option<u64> {
        let number = self.get(keyword)?.as_number()?;
        let whole = |float: &f64| *float >= 0.0 && float.fract() == 0.0;
        let float = || number.as_f64().filter(whole);
        number
            .as_u64()
            .or_else(|| float().map(|float| float as u64))
    }

    /// Returns the values that `enum` or `const` lists.
    fn listed(&self) -> Option<&'s [Value]> {
        match self.get("enum") {
            Some(Value::Array(values)) if !values.is_empty() => Some(values),
            _ => self.get("const").map(slice::from_ref),
        }
    }

    /// Returns the types that `type` names, with `null` if the schema is `nullable` as in OpenAPI 3.0. Empty: any
    /// type, or none for a schema that [is false](Node::is_false).
    fn types(&self) -> Vec<Type> {
        let types = self.get("type").map(types).unwrap_or_default();
        with_null(self.flag("nullable"), types)
    }

    /// Returns the types that the schema is meant for: those that it names, else that of its keywords, else those of its listed
    /// values. Empty: any type. Keywords such as `minimum` or `required` name no type.
    fn kinds(&self) -> Vec<Type> {
        let has = |keywords: &[&str]| keywords.iter().any(|keyword| self.get(keyword).is_some());
        let types = self.types();
        if !types.is_empty() {
            return types;
        }
        with_null(
            self.flag("nullable"),
            if has(&["properties", "additionalProperties", "patternProperties"]) {
                vec![Type::Object]
            } else if has(&["items", "prefixItems"]) {
                vec![Type::Array]
            } else {
                let listed = self.listed().into_iter().flatten();
                let mut kinds: Vec<_> = listed.map(Type::of).collect();
                kinds.sort_unstable();
                kinds.dedup();
                kinds
            },
        )
    }

    /// Returns true if `null` is the only value.
    fn is_null(&self) -> bool {
        let is_null = |listed: &[Value]| listed.iter().all(Value::is_null);
        self.types() == [Type::Null] || self.listed().is_some_and(is_null)
    }

    /// Returns the lower and the upper bound of a number. Draft 4 says with a flag that `minimum` is exclusive.
    fn range(&self) -> (Bound<&'s Number>, Bound<&'s Number>) {
        let bound = |inclusive: &str, exclusive: &str, narrower| {
            let own = self.get(inclusive).and_then(Value::as_number);
            match (own, self.get(exclusive)) {
                (Some(own), Some(Value::Bool(true))) => Bound::Excluded(own),
                (Some(own), Some(Value::Number(other))) if compare(own, other) == narrower => {
                    Bound::Included(own)
                }
                (_, Some(Value::Number(other))) => Bound::Excluded(other),
                (own, _) => own.map_or(Bound::Unbounded, Bound::Included),
            }
        };
        (
            bound("minimum", "exclusiveMinimum", Some(Ordering::Greater)),
            bound("maximum", "exclusiveMaximum", Some(Ordering::Less)),
        )
    }

    /// Returns the schema of a keyword such as `items` or `additionalProperties`.
    fn subschema(&self, keyword: &str) -> Option<Node<'s>> {
        self.nodes().first()?.find(self.get(keyword)?)
    }

    /// Returns the schemas of a keyword such as `anyOf` or `prefixItems`.
    fn list(&self, keyword: &str) -> Vec<Node<'s>> {
        let node = self.nodes().first();
        let list = self.get(keyword).and_then(Value::as_array);
        let schemas = list.into_iter().flatten();
        schemas.filter_map(|schema| node?.find(schema)).collect()
    }

    /// Returns the schemas of `anyOf` and `oneOf`.
    fn alternatives(&self) -> Vec<Node<'s>> {
        let lists = ["anyOf", "oneOf"].into_iter();
        lists.flat_map(|keyword| self.list(keyword)).collect()
    }

    /// Returns the named properties, each once.
    fn properties(&self) -> Vec<(&'s str, Node<'s>)> {
        let maps = self.nodes().iter();
        let maps = maps.filter_map(|node| Some((node, node.object()?.get("properties")?)));
        let all = maps.flat_map(|(node, map)| {
            let members = map.as_object().into_iter().flatten();
            members.filter_map(|(name, value)| Some((name.as_str(), node.find(value)?)))
        });
        let mut known = HashSet::new();
        all.filter(|(name, _)| known.insert(*name)).collect()
    }

    /// Returns the property with a name.
    fn property(&self, name: &str) -> Option<Node<'s>> {
        let mut nodes = self.nodes().iter();
        nodes.find_map(|node| node.find(node.object()?.get("properties")?.get(name)?))
    }

    /// Returns the names of required properties.
    fn required(&self) -> Vec<&'s str> {
        let lists = self.all("required").filter_map(Value::as_array);
        lists.flatten().filter_map(Value::as_str).collect()
    }

    /// Returns the schema of an array's element: that of its place, else that of all others. Drafts before 2020-12 have a list of
    /// `items`, and `additionalItems`.
    fn element(&self, index: usize) -> Option<Node<'s>> {
        let (places, others) = match self.get("items") {
            Some(places @ Value::Array(_)) => (Some(places), "additionalItems"),
            _ => (self.get("prefixItems"), "items"),
        };
        match places.and_then(|places| places.get(index)) {
            Some(place) => self.nodes().first()?.find(place),
            None => self.subschema(others),
        }
    }
}

impl<'s> Keywords<'s> for Node<'s> {
    fn nodes(&self) -> &[Self] {
        slice::from_ref(self)
    }
}

/// Adds `null` to the types of a schema that names some and is nullable.
fn with_null(is_nullable: bool, mut types: Vec<Type>) -> Vec<Type> {
    if is_nullable && !types.is_empty() && !types.contains(&Type::Null) {
        types.push(Type::Null);
    }
    types
}

/// Compares two numbers of JSON: integers exactly, others as floats.
pub fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}
