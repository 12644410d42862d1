//! Server cards: a description of a server that clients read before they connect. Experimental.
//!
//! Spec: <https://github.com/modelcontextprotocol/experimental-ext-server-card>

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{icon::Icon, meta::Meta, setters::setters};

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/v2/server-card.schema.json";

/// A description of a server: its name, and the addresses and headers with which to connect.
///
/// It is advice. Anybody can write anything into a card: base no decision about security on it, and compare
/// it with the server after connecting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerCard {
    /// The card's JSON Schema.
    #[serde(rename = "$schema")]
    pub schema: String,
    /// Name with a domain in reverse order, such as `com.example/docs`: 3 to 200 characters.
    pub name: String,
    /// One version of the server, not a range: up to 255 characters.
    pub version: String,
    /// Description: 1 to 100 characters.
    pub description: String,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Website.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// The source code's repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<CardRepository>,
    /// Icons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// The server's addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<CardRemote>,
    /// Additional metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ServerCard {
    /// Creates a card from a name such as `com.example/docs`, a version, and a description of up to 100
    /// characters.
    pub fn new(
        name: impl Into<String>,
        version: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            name: name.into(),
            version: version.into(),
            description: description.into(),
            title: None,
            website_url: None,
            repository: None,
            icons: Vec::new(),
            remotes: Vec::new(),
            meta: None,
        }
    }

    setters!(title, icon, meta);

    /// Adds an address of the server.
    #[must_use]
    pub fn remote(mut self, remote: CardRemote) -> Self {
        self.remotes.push(remote);
        self
    }

    /// Checks the required fields and their lengths.
    ///
    /// # Errors
    ///
    /// Returns an [`InvalidCard`] that names the field.
    pub fn check(&self) -> Result<(), InvalidCard> {
        let length = |text: &str| text.chars().count();
        if self.schema.is_empty() {
            return Err(InvalidCard("`$schema` is missing"));
        }
        if !is_valid_name(&self.name) || !(3..=200).contains(&length(&self.name)) {
            return Err(InvalidCard(
                "`name` must be like `com.example/docs`, of 3 to 200 characters",
            ));
        }
        let is_range = self.version.starts_with(['^', '~', '<', '>', '='])
            || self.version.contains([' ', '*', '|']);
        if is_range || !(1..=255).contains(&length(&self.version)) {
            return Err(InvalidCard(
                "`version` must be one version of up to 255 characters, not a range",
            ));
        }
        if !(1..=100).contains(&length(&self.description)) {
            return Err(InvalidCard("`description` must have 1 to 100 characters"));
        }
        if self.remotes.iter().any(|remote| remote.url.is_empty()) {
            return Err(InvalidCard("a `url` of `remotes` is empty"));
        }
        Ok(())
    }
}

fn is_valid_name(name: &str) -> bool {
    let is_part = |part: &str, also: &[char]| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || also.contains(&c);
        !part.is_empty() && part.chars().all(is_allowed)
    };
    let parts = name.split_once('/');
    parts.is_some_and(|(domain, name)| {
        is_part(domain, &['.', '-']) && is_part(name, &['.', '_', '-'])
    })
}

/// A server card that violates its schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server card is invalid: {0}")]
pub struct InvalidCard(&'static str);

/// Repository of the server's source code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CardRepository {
    /// The repository's URL.
    pub url: String,
    /// Hosting service, such as `github`.
    pub source: String,
    /// The server's folder in the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subfolder: Option<String>,
    /// The repository's id at the hosting service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// An address of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CardRemote {
    /// Transport: `streamable-http` or `sse`.
    #[serde(rename = "type")]
    pub transport: String,
    /// URL, possibly with variables such as `{tenant}`.
    pub url: String,
    /// Headers that the client sends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<CardHeader>,
    /// The URL's variables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, CardInput>,
    /// Revisions that the server supports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supported_protocol_versions: Vec<String>,
}

impl CardRemote {
    /// Creates an address with the transport Streamable HTTP.
    pub fn streamable_http(url: impl Into<String>) -> Self {
        Self {
            transport: "streamable-http".to_owned(),
            url: url.into(),
            headers: Vec::new(),
            variables: BTreeMap::new(),
            supported_protocol_versions: Vec::new(),
        }
    }
}

/// A value that the user or the host provides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CardInput {
    /// Description for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Requires a value. Default: `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_required: Option<bool>,
    /// Marks a secret. Default: `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_secret: Option<bool>,
    /// Format: `string`, `number`, `boolean` or `filepath`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Default value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Example for an empty field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// Fixed value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Allowed values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
}

impl CardInput {
    /// Creates an optional value with a description.
    pub fn new(description: impl Into<String>) -> Self {
        Self {
            description: Some(description.into()),
            ..Self::default()
        }
    }
}

/// A header of [`CardRemote`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CardHeader {
    /// The header's name.
    pub name: String,
    /// Description and value.
    #[serde(flatten)]
    pub input: CardInput,
    /// The value's variables.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, CardInput>,
}

impl CardHeader {
    /// Creates a header.
    pub fn new(name: impl Into<String>, input: CardInput) -> Self {
        Self {
            name: name.into(),
            input,
            variables: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{CardHeader, CardInput, CardRemote, ServerCard};

    #[test]
    fn card_is_read_and_written_without_loss() {
        let mut key = CardInput::new("A key");
        key.is_required = Some(true);
        key.is_secret = Some(true);
        let mut remote = CardRemote::streamable_http("https://{tenant}.example.com/mcp");
        remote.headers.push(CardHeader::new("X-Key", key));
        let tenant = CardInput::new("Tenant");
        remote.variables.insert("tenant".to_owned(), tenant);
        let card = ServerCard::new("com.example/docs", "1.0.0", "Documents")
            .title("Docs")
            .remote(remote);
        card.check().unwrap();
        let json = serde_json::to_value(&card).unwrap();
        assert_eq!(
            json["remotes"][0],
            json!({
                "type": "streamable-http",
                "url": "https://{tenant}.example.com/mcp",
                "headers": [{"name": "X-Key", "description": "A key", "isRequired": true, "isSecret": true}],
                "variables": {"tenant": {"description": "Tenant"}},
            })
        );
        assert_eq!(serde_json::from_value::<ServerCard>(json).unwrap(), card);
    }

    #[test]
    fn card_that_violates_its_schema_is_refused() {
        let long = "x".repeat(101);
        for (name, version, description, part) in [
            ("docs", "1", "d", "`name`"),
            ("a/b/c", "1", "d", "`name`"),
            ("com_example/docs", "1", "d", "`name`"),
            ("com.example/", "1", "d", "`name`"),
            ("a/b", "^1.0", "d", "`version`"),
            ("a/b", "1 - 2", "d", "`version`"),
            ("a/b", "", "d", "`version`"),
            ("a/b", "1", "", "`description`"),
            ("a/b", "1", &long, "`description`"),
        ] {
            let error = ServerCard::new(name, version, description)
                .check()
                .unwrap_err();
            assert!(error.to_string().contains(part), "{name}: {error}");
        }
        let empty = CardRemote::streamable_http("");
        let card = ServerCard::new("a/b", "1", "d").remote(empty);
        assert!(card.check().unwrap_err().to_string().contains("`remotes`"));
    }
}
