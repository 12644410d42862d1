//! [`Records`]: what a store keeps for one MCP server: tokens, registrations, bindings of client ids.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;

use crate::client::oauth::{Grant, OAuth};
use crate::client::record::StoredCredentials;
use crate::client::store::{CredentialStore, StoreKey, StoreLock};
use crate::error::AuthError;
use crate::metadata::resource;
use crate::oauth_client::ClientRecord;
use crate::secret::Secret;

/// The store's records for one MCP server.
pub(crate) struct Records {
    store: Arc<dyn CredentialStore>,
    /// The MCP server's identifier.
    server: String,
    /// The user. A user has one login at a server, whichever client it is for.
    account: String,
    /// The user at registrations, which differ for logins on another device.
    registrant: String,
}

impl Records {
    pub(crate) fn new(oauth: &OAuth, server: &Url) -> Self {
        let kind = match oauth.grant {
            Grant::Device(_) => " (device)",
            _ => "",
        };
        Self {
            store: Arc::clone(&oauth.store),
            server: resource::canonical(server),
            registrant: format!("{}{kind}", oauth.account),
            account: oauth.account.clone(),
        }
    }

    fn tokens_key(&self) -> StoreKey {
        StoreKey::tokens(&self.server, &self.account)
    }

    fn registration_key(&self, issuer: &str) -> StoreKey {
        StoreKey::registration(issuer, &self.registrant)
    }

    /// The key of the issuer that a given client id belongs to.
    fn binding_key(&self, client_id: &str) -> StoreKey {
        StoreKey::registration(&self.server, client_id)
    }

    /// Loads a record. A damaged one counts as none.
    async fn load<T: DeserializeOwned>(&self, key: &StoreKey) -> Result<Option<T>, AuthError> {
        let stored = self.store.load(key).await?;
        Ok(stored.and_then(|stored| serde_json::from_str(stored.expose()).ok()))
    }

    async fn save(&self, key: &StoreKey, record: &impl Serialize) -> Result<(), AuthError> {
        let failed = |error: serde_json::Error| AuthError::Store(error.to_string());
        let text = serde_json::to_string(record).map_err(failed)?;
        self.store.save(key, &Secret::new(text)).await
    }

    /// Loads the tokens. A damaged record counts as none.
    pub(crate) async fn tokens(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let stored = self.store.load(&self.tokens_key()).await?;
        Ok(stored.and_then(|stored| StoredCredentials::try_from(&stored).ok()))
    }

    /// Saves tokens.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Store`] when they are not saved.
    pub(crate) async fn save_tokens(&self, record: &StoredCredentials) -> Result<(), AuthError> {
        self.save(&self.tokens_key(), record).await
    }

    pub(crate) async fn remove_tokens(&self) -> Result<(), AuthError> {
        self.store.remove(&self.tokens_key()).await
    }

    /// Waits until no other process refreshes these tokens.
    pub(crate) async fn lock(&self, limit: std::time::Duration) -> Result<StoreLock, AuthError> {
        self.store.lock(&self.tokens_key(), limit).await
    }

    /// Loads the registration at an authorization server.
    // spec: AUTH-C-08, AUTH-C-15
    pub(crate) async fn registration(
        &self,
        issuer: &str,
    ) -> Result<Option<ClientRecord>, AuthError> {
        self.load(&self.registration_key(issuer)).await
    }

    /// Saves a registration. Without it the client is registered again later, so a failure is only logged.
    pub(crate) async fn save_registration(&self, issuer: &str, record: &ClientRecord) {
        let key = self.registration_key(issuer);
        if let Err(error) = self.save(&key, record).await {
            tracing::warn!(error = %mcp_types::escaped(&error), "the registration is not stored");
        }
    }

    pub(crate) async fn remove_registration(&self, issuer: &str) -> Result<(), AuthError> {
        self.store.remove(&self.registration_key(issuer)).await
    }

    /// Loads the issuer that a given client id belongs to.
    pub(crate) async fn binding(&self, client_id: &str) -> Result<Option<String>, AuthError> {
        self.load(&self.binding_key(client_id)).await
    }

    /// Saves the issuer that has accepted a given client id.
    pub(crate) async fn bind(&self, client_id: &str, issuer: &str) -> Result<(), AuthError> {
        self.save(&self.binding_key(client_id), &issuer).await
    }
}
