//! The end of a login.

use crate::client::event::AuthEvent;
use crate::client::login::Login;
use crate::client::record::StoredCredentials;
use crate::error::AuthError;
use crate::fetch::TokenForm;

impl Login {
    /// Revokes the tokens at the authorization server if it offers that, and forgets them. Also forgets the
    /// client's registration there: the authorization server may have purged it.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Store`] when the tokens may still be stored.
    pub(crate) async fn log_out(&self) -> Result<(), AuthError> {
        let record = match self.token.load_full() {
            Some(token) => Some(token.record.clone()),
            None => self.stored().await?,
        };
        self.forget_tokens().await?;
        let issuer = match &record {
            Some(record) => Some(record.issuer.clone()),
            None if self.oauth.registers() => self.named_issuer().await,
            None => None,
        };
        if let Some(issuer) = issuer {
            self.records.remove_registration(&issuer).await?;
        }
        self.emit(AuthEvent::LoggedOut);
        let Some(record) = record else {
            return Ok(());
        };
        if let Err(error) = self.revoke(&record).await {
            tracing::warn!(error = %mcp_types::escaped(&error), "the tokens are not revoked");
        }
        Ok(())
    }

    async fn revoke(&self, record: &StoredCredentials) -> Result<(), AuthError> {
        let Some(context) = self.context_of(record).await? else {
            return Ok(());
        };
        let Some(url) = &context.server.revocation_endpoint else {
            return Ok(());
        };
        let mut form = TokenForm::default();
        match &record.refresh_token {
            Some(refresh) => {
                form.set("token", refresh.clone());
                form.set("token_type_hint", "refresh_token");
            }
            None => {
                form.set("token", record.access_token.clone());
                form.set("token_type_hint", "access_token");
            }
        }
        self.client_of(record, &context)
            .authenticate(&context.server, &mut form)?;
        let fetched = self.fetcher.post_form(url, &form).await?;
        if fetched.status.is_success() {
            Ok(())
        } else {
            Err(fetched.unexpected())
        }
    }
}
