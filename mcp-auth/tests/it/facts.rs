//! Facts about a provider, from a file of `tests/providers`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

/// The month in which the sources were read.
pub(crate) const READ: &str = "2026-11";

/// The facts that decide how a provider answers. A missing member is the rule of the specification.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Facts {
    pub(crate) provider: String,
    /// The facts that stand in each public source, as it was read in [`READ`].
    pub(crate) read: BTreeMap<String, Vec<String>>,
    /// Facts without a source.
    #[serde(default)]
    pub(crate) unverified: Vec<String>,
    /// The issuer's path.
    #[serde(default)]
    pub(crate) issuer_path: String,
    /// The issuer in the document ends in a slash.
    #[serde(default)]
    pub(crate) issuer_slash: bool,
    /// The metadata is at the place of OpenID Connect: after the issuer's path.
    #[serde(default)]
    pub(crate) openid: bool,
    /// The login page and the token endpoint are at another site than the issuer.
    #[serde(default)]
    pub(crate) elsewhere: bool,
    /// The metadata does not announce PKCE.
    #[serde(default)]
    pub(crate) hides_pkce: bool,
    /// The announced authentication methods.
    #[serde(default)]
    pub(crate) auth_methods: Option<Vec<String>>,
    /// The token endpoint wants the client id in the form, whatever the method.
    #[serde(default)]
    pub(crate) id_in_form: bool,
    #[serde(default)]
    pub(crate) registration: Registration,
    /// Members of the response to a registration.
    #[serde(default)]
    pub(crate) registered: Map<String, Value>,
    /// A client that the user has registered has a secret.
    #[serde(default)]
    pub(crate) secret: bool,
    /// A redirect URI must be registered with its port.
    #[serde(default)]
    pub(crate) exact_redirect: bool,
    /// Redirects by http go to `localhost` only.
    #[serde(default)]
    pub(crate) localhost: bool,
    /// The parameter `resource` is refused.
    #[serde(default)]
    pub(crate) refuses_resource: bool,
    #[serde(default)]
    pub(crate) scopes_supported: Vec<String>,
    /// Scopes in a response are separated by commas.
    #[serde(default)]
    pub(crate) commas: bool,
    /// Redirects have the parameter `iss`.
    #[serde(default)]
    pub(crate) iss: bool,
    /// The token endpoint refuses a client id in the form beside other authentication.
    #[serde(default)]
    pub(crate) one_method: bool,
    #[serde(default)]
    pub(crate) token_type: Option<String>,
    #[serde(default)]
    pub(crate) refresh: Refresh,
    /// The answer to a refresh token that has ended.
    #[serde(default)]
    pub(crate) refusal: Refusal,
    /// The error code of the token endpoint for a client that it does not know.
    #[serde(default)]
    pub(crate) unknown_client: Option<String>,
}

/// Registrations of clients by themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Registration {
    #[default]
    Open,
    /// There is an endpoint, which refuses unknown programs.
    Refused,
    None,
}

/// Refresh tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Refresh {
    /// A refresh token is used once.
    #[default]
    Rotates,
    /// A response has no new one.
    Keeps,
    /// A response has a new one, and the old one can be used.
    Renews,
    None,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) code: String,
}

impl Default for Refusal {
    fn default() -> Self {
        Self {
            status: 400,
            code: "invalid_grant".to_owned(),
        }
    }
}

impl Facts {
    /// Reads all files, in the order of their names.
    pub(crate) fn all() -> Vec<Self> {
        let read = Self::files().into_iter().map(|(path, file)| {
            serde_json::from_value(file)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        });
        read.collect()
    }

    /// Reads the members of all files, in the order of their names.
    pub(crate) fn files() -> Vec<(PathBuf, Value)> {
        // The command's tests have this module, too.
        let mut around = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let files =
            around.find_map(|folder| folder.join("mcp-auth/tests/providers").read_dir().ok());
        let files = files.unwrap();
        let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        paths.sort();
        let read = paths.into_iter().map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path, serde_json::from_str(&text).unwrap())
        });
        read.collect()
    }

    /// Returns whether a public source has the fact.
    pub(crate) fn is_read(&self, fact: &str) -> bool {
        self.read.values().flatten().any(|known| known == fact)
    }

    /// Three that differ in registration, redirects, scopes, refreshes and errors.
    pub(crate) fn three() -> Vec<Self> {
        let mut all = Self::all();
        let names = ["GitHub", "MCP Python SDK", "Microsoft Entra ID"];
        all.retain(|facts| names.contains(&facts.provider.as_str()));
        assert_eq!(all.len(), 3);
        all
    }

    pub(crate) fn registers(&self) -> bool {
        self.registration == Registration::Open
    }

    /// The path of the metadata.
    pub(crate) fn metadata_path(&self) -> String {
        if self.openid {
            format!("{}/.well-known/openid-configuration", self.issuer_path)
        } else {
            format!(
                "/.well-known/oauth-authorization-server{}",
                self.issuer_path
            )
        }
    }

    /// The redirect URI of a registered client, without a port for those whose port may differ.
    pub(crate) fn redirect_uri(&self, port: u16) -> String {
        let host = if self.localhost {
            "localhost"
        } else {
            "127.0.0.1"
        };
        format!("http://{host}:{port}/callback")
    }
}
