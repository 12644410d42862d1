//! What handlers are given.

use std::sync::Arc;

use mcp_types::{
    CreateMessageParams, ElicitFormParams, ElicitResult, ElicitUrlParams, FormSchema,
    Implementation, JsonObject, RawObject, RawObjectError,
};
use serde::Serialize;

use super::InputError;
use super::visits::Visit;

/// Who asks. A program that shows questions to a user has to say so.
// spec: ELIC-12
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Asker {
    /// The server as errors name it: a URL, a command line.
    pub server: String,
    /// Who it says it is. No proof of anything.
    pub info: Option<Implementation>,
    /// The method of the call that needs the answer, where that is known: a session does not tell.
    pub method: Option<String>,
    /// The tool, prompt or resource of that call.
    pub item: Option<String>,
}

/// A server asks the user to fill in a form.
///
/// # Examples
///
/// ```
/// use mcp_client::{Client, ElicitRequest};
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
    /// What is asked.
    pub params: ElicitFormParams,
    /// Who asks.
    pub asker: Arc<Asker>,
}

impl ElicitRequest {
    /// What the user reads.
    pub fn message(&self) -> &str {
        &self.params.message
    }

    /// The fields.
    pub fn schema(&self) -> &FormSchema {
        &self.params.requested_schema
    }

    /// The user agrees. Fields that are not among the answers get their defaults.
    ///
    /// # Errors
    ///
    /// [`InputError::Unfit`] names the first field that does not fit, so that the user can be
    /// asked again.
    // spec: ELIC-07, ELIC-13
    pub fn accept(&self, answers: impl Serialize) -> Result<ElicitResult, InputError> {
        let answers = match RawObject::from_value(&answers) {
            Err(RawObjectError::NotAnObject("null")) => Ok(JsonObject::new()),
            Err(error) => Err(error.to_string()),
            Ok(raw) => raw.parse().map_err(|error| error.to_string()),
        };
        let mut result = ElicitResult::accept(answers.map_err(InputError::Unsendable)?);
        finish_form(&self.params, &mut result)?;
        Ok(result)
    }
}

/// Fills in the defaults of an accepted form and checks it; other answers have no content.
// spec: ELIC-07, ELIC-09, ELIC-13
pub(super) fn finish_form(
    asked: &ElicitFormParams,
    result: &mut ElicitResult,
) -> Result<(), InputError> {
    if !result.is_accepted() {
        result.content = None;
        return Ok(());
    }
    let content = result.content.get_or_insert_default();
    asked.requested_schema.fill_defaults(content);
    Ok(asked.requested_schema.check(content)?)
}

/// A server asks the user to visit a URL.
///
/// The program shows the whole URL, asks for consent, and opens it where neither it nor a language
/// model sees what happens there. It never fetches the URL itself. To accept means that the user
/// agrees.
///
/// Servers of 2025-11-25 may refuse a call until the user has visited a URL. Then the handler is
/// asked like this as well, and the call is made again by itself once the visit is
/// [over](Self::completed), or after 5 minutes.
// spec: ELIC-12, ELIC-14
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UrlRequest {
    /// What is asked.
    pub params: ElicitUrlParams,
    /// Who asks.
    pub asker: Arc<Asker>,
    pub(super) visit: Arc<Visit>,
}

impl UrlRequest {
    /// What the user reads.
    pub fn message(&self) -> &str {
        &self.params.message
    }

    /// Where to go.
    pub fn url(&self) -> &str {
        &self.params.url
    }

    /// Waits until the user has done what there is to do at the URL. Servers of 2025-11-25 may tell
    /// so, and no others: wait for the user's own word as well, or for a time.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp_client::{Client, UrlRequest};
    /// use mcp_types::ElicitResult;
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
        self.visit.completed().await;
    }

    /// Tells that the visit is over, without a word of the server: a call that waits for it is made
    /// again.
    pub fn complete(&self) {
        self.visit.complete();
    }
}

/// A server asks the language model.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SampleRequest {
    /// What is asked.
    pub params: CreateMessageParams,
    /// Who asks.
    pub asker: Arc<Asker>,
}
