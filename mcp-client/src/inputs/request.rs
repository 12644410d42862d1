//! Arguments of input handlers.

use std::sync::Arc;

use mcp_types::{
    CreateMessageParams, ElicitFormParams, ElicitResult, ElicitUrlParams, FormSchema,
    Implementation, JsonObject, RawObject, RawObjectError,
};
use serde::Serialize;
use url::Url;

use super::error::InputError;
use super::url_elicitations::UrlElicitation;

/// The origin of an input request. A program that shows requests to a user must show it, too.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Asker {
    /// The server as errors show it: a URL, or a program's name.
    pub server: String,
    /// The identity that the server claims. It is not verified.
    pub info: Option<Implementation>,
    /// The method of the call that requires the input. `None` in a legacy session, where the call is
    /// unknown.
    pub method: Option<String>,
    /// The tool, prompt or resource of that call.
    pub item: Option<String>,
}

/// A form elicitation: the server asks the user to fill in a form.
///
/// # Examples
///
/// ```
/// use mcp::prelude::*;
/// use serde_json::json;
///
/// let builder = Client::builder().on_elicit(|form: ElicitRequest| async move {
///     println!("{} asks: {}", form.asker.server, form.message());
///     form.accept(json!({"name": "Ada"}))
/// });
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ElicitRequest {
    /// The request parameters.
    pub params: ElicitFormParams,
    /// The request's origin.
    pub asker: Arc<Asker>,
}

impl ElicitRequest {
    /// Returns the message for the user.
    pub fn message(&self) -> &str {
        &self.params.message
    }

    /// Returns the form fields.
    pub fn schema(&self) -> &FormSchema {
        &self.params.requested_schema
    }

    /// Accepts the form with the user's answers. Missing fields receive their defaults.
    ///
    /// # Errors
    ///
    /// Returns [`InputError::InvalidForm`] with the first field that does not match the form, so that the
    /// program can ask the user again. Returns [`InputError::NotSendable`] when the answers do not
    /// serialize to a JSON object.
    // spec: ELIC-07, ELIC-13
    pub fn accept(&self, answers: impl Serialize) -> Result<ElicitResult, InputError> {
        let answers = match RawObject::from_value(&answers) {
            Err(RawObjectError::NotAnObject("null")) => Ok(JsonObject::new()),
            Err(error) => Err(error.to_string()),
            Ok(raw) => raw.parse().map_err(|error| error.to_string()),
        };
        let mut result = ElicitResult::accept(answers.map_err(InputError::NotSendable)?);
        finish_form(&self.params, &mut result)?;
        Ok(result)
    }
}

/// Fills in an accepted form's defaults and validates it. Removes the content of other answers.
// spec: ELIC-07, ELIC-09, ELIC-13
pub(super) fn finish_form(
    params: &ElicitFormParams,
    result: &mut ElicitResult,
) -> Result<(), InputError> {
    if !result.is_accepted() {
        result.content = None;
        return Ok(());
    }
    let content = result.content.get_or_insert_default();
    params.requested_schema.fill_defaults(content);
    Ok(params.requested_schema.check(content)?)
}

/// A URL elicitation: the server asks the user to visit a URL.
///
/// The program must show the whole URL, ask for consent, and open it in a browser that neither the
/// program nor a language model can observe. It must not fetch the URL itself. Accepting means that
/// the user consents.
///
/// Servers of 2025-11-25 may refuse a call until the user has visited a URL. The handler then
/// receives the same request. The client repeats the call after the visit is
/// [completed](Self::completed), or after 5 minutes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UrlRequest {
    /// The request parameters.
    pub params: ElicitUrlParams,
    pub(super) url: Url,
    /// The request's origin.
    pub asker: Arc<Asker>,
    pub(super) elicitation: Arc<UrlElicitation>,
}

impl UrlRequest {
    /// Returns the message for the user.
    pub fn message(&self) -> &str {
        &self.params.message
    }

    /// Returns the URL. Its scheme is `https`, or `http` with a host of this machine; the client
    /// refuses other URLs before it runs the handler. Pass it to a browser as one argument, never as
    /// part of a command line of a shell.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Waits until the user has finished at the URL. Only servers of 2025-11-25 may report this, so
    /// also wait for a confirmation of the user, or use a timeout.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// # async fn agrees(_: &UrlRequest) -> bool { true }
    /// # async fn says_done() {}
    /// let builder = Client::builder().on_elicit_url(|visit: UrlRequest| async move {
    ///     if !agrees(&visit).await {
    ///         return ElicitResult::decline();
    ///     }
    ///     tokio::select! {
    ///         () = visit.completed() => {}
    ///         () = says_done() => visit.complete(),
    ///     }
    ///     ElicitResult::accept_url()
    /// });
    /// ```
    pub async fn completed(&self) {
        self.elicitation.closed().await;
    }

    /// Marks the visit as completed without a report of the server. A waiting call is then repeated.
    pub fn complete(&self) {
        self.elicitation.close(());
    }
}

/// A sampling request: the server asks the client's language model.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SampleRequest {
    /// The request parameters.
    pub params: CreateMessageParams,
    /// The request's origin.
    pub asker: Arc<Asker>,
}
