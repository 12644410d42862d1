//! [`Snapshot`]: the features of a server as one JSON document.

use std::str::FromStr;

use crate::client::Client;
use crate::error::Error;
use serde_json::json;
use serde_json::{Map, Value};

/// The lists of a snapshot, with the field that identifies an item.
pub(crate) const LISTS: [(&str, &str); 4] = [
    ("prompts", "name"),
    ("resourceTemplates", "uriTemplate"),
    ("resources", "uri"),
    ("tools", "name"),
];

/// The tools, prompts, resources, templates and capabilities of a server, as one client sees them.
///
/// The JSON is stable: object keys are sorted, and the items of each list are sorted by name or URI.
/// Two snapshots of an unchanged server are equal byte by byte, so the file can be under version
/// control. The items have the form of the protocol.
///
/// # Examples
///
/// ```
/// use mcp::catalog::{Impact, Snapshot};
///
/// let old: Snapshot = r#"{"tools": [{"name": "add", "inputSchema": {"type": "object"}}]}"#.parse()?;
/// let new: Snapshot = r#"{"tools": []}"#.parse()?;
/// let diff = old.diff(&new);
/// assert_eq!(diff.impact(), Some(Impact::Breaking));
/// assert_eq!(diff.differences()[0].path, "/tools/add");
/// # Ok::<(), mcp::catalog::SnapshotError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot(pub(super) Value);

/// The reason why JSON is not a snapshot.
#[derive(Debug, thiserror::Error)]
#[error("the snapshot is {0}; write it with `mcp snapshot`")]
pub struct SnapshotError(String);

impl Snapshot {
    /// Lists all features of a server. A list whose method the server does not know is empty.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::catalog::Snapshot;
    /// use mcp::prelude::*;
    ///
    /// # async fn example() -> mcp::Result<()> {
    /// let client = Client::connect("http://127.0.0.1:8000/mcp").await?;
    /// println!("{}", Snapshot::capture(&client).await?.to_json());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error when a list request fails.
    pub async fn capture(client: &Client) -> Result<Self, Error> {
        let has = client.capabilities().await?;
        let mut lists = json!({ "capabilities": has });
        if has.tools.is_some() {
            lists["tools"] = json!(known(client.list_tools().await)?);
        }
        if has.prompts.is_some() {
            lists["prompts"] = json!(known(client.list_prompts().await)?);
        }
        if has.resources.is_some() {
            lists["resources"] = json!(known(client.list_resources().await)?);
            let templates = known(client.list_resource_templates().await)?;
            lists["resourceTemplates"] = json!(templates);
        }
        Ok(Self(canonical(lists)))
    }

    /// Reads a snapshot from JSON: that of [`to_json`](Self::to_json), or of `mcp list --json`. Missing
    /// lists are empty; missing capabilities are not compared.
    ///
    /// # Errors
    ///
    /// Returns a [`SnapshotError`] with the JSON pointer when a list or an item has another type.
    pub fn from_value(value: Value) -> Result<Self, SnapshotError> {
        let malformed = |path: String, expected: &str| {
            let reason = format!("malformed at {path}: expected {expected}");
            Err(SnapshotError(reason))
        };
        let Some(document) = value.as_object() else {
            return malformed("/".to_owned(), "an object");
        };
        for (list, key) in LISTS {
            let items = match document.get(list) {
                None => continue,
                Some(Value::Array(items)) => items,
                Some(_) => return malformed(format!("/{list}"), "an array"),
            };
            for (index, item) in items.iter().enumerate() {
                if item.get(key).and_then(Value::as_str).is_none() {
                    return malformed(format!("/{list}/{index}/{key}"), "a string");
                }
            }
        }
        if document
            .get("capabilities")
            .is_some_and(|value| !value.is_object())
        {
            return malformed("/capabilities".to_owned(), "an object");
        }
        Ok(Self(canonical(value)))
    }

    /// Returns the snapshot as a JSON value.
    pub fn as_value(&self) -> &Value {
        &self.0
    }

    /// Returns the snapshot as indented JSON with a line feed at the end.
    pub fn to_json(&self) -> String {
        format!("{:#}\n", self.0)
    }

    /// Returns the items of a list by name or URI.
    pub(crate) fn items(&self, list: &str, key: &str) -> Vec<(&str, &Map<String, Value>)> {
        let items = self.0.get(list).and_then(Value::as_array);
        let items = items.into_iter().flatten().filter_map(Value::as_object);
        let named = items.filter_map(|item| Some((item.get(key)?.as_str()?, item)));
        named.collect()
    }

    /// Returns the capabilities, if the snapshot has them.
    pub(crate) fn capabilities(&self) -> Option<&Value> {
        self.0.get("capabilities")
    }
}

impl FromStr for Snapshot {
    type Err = SnapshotError;

    fn from_str(text: &str) -> Result<Self, SnapshotError> {
        let value = serde_json::from_str(text);
        Self::from_value(value.map_err(|error| SnapshotError(format!("not JSON: {error}")))?)
    }
}

/// Returns an empty list if the server does not know the method.
fn known<T>(list: Result<Vec<T>, Error>) -> Result<Vec<T>, Error> {
    match list {
        Err(error) if error.is_unknown_method() => Ok(Vec::new()),
        list => list,
    }
}

/// Sorts object keys and list items.
fn canonical(mut value: Value) -> Value {
    value.sort_all_objects();
    for (list, key) in LISTS {
        if let Some(Value::Array(items)) = value.get_mut(list) {
            items.sort_by(|a, b| {
                let name = |item: &Value| item.get(key).map(ToString::to_string);
                name(a).cmp(&name(b))
            });
        }
    }
    value
}
