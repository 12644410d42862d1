//! The extractor [`Ask`].

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::Fault;
use mcp_core::extension::{CustomRequest, Extension, from_params, to_object};
use mcp_types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitFormParams,
    ElicitParams, ElicitResult, ElicitUrlParams, FormSchema, InputRequest, InputResponse,
    JsonObject, Root, UrlError, shorten,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::answer::Answer;
use super::asking::{Asking, Decode};
use super::elicit::Elicit;
use super::once::run_once;
use super::questions::Questions;
use crate::call::{CallContext, RouteSpec};
use crate::extract::FromCall;
use crate::input_round::{AskError, InputRound, require_declared};
use crate::rejection::Rejection;
use crate::uri::is_uri;

/// A request to the client's language model; see [`Ask::sample`].
pub type Sampling = CreateMessageParams;

/// Asks the client: its user by a form or a URL, its language model, its roots. Works with every
/// protocol revision, in tools, resources and prompts. Since 2026-07-28 the handler **runs again from its
/// beginning** with each answer, so side effects before a question belong into [`once`](Self::once).
///
/// In a session of the older revisions the server sends a question while the handler waits. Since
/// 2026-07-28 the *reply* contains the question: the server drops the handler at its first question
/// without an answer and **runs it again from its beginning** when the client sends the answer. The
/// code is the same for both, but everything before a question may run more than once:
///
/// * Put side effects before a question into [`once`](Self::once).
/// * Ask the same questions with the same keys in every run. Compute values that change between runs
///   in `once`.
/// * Give every question of a call a key of its own.
///
/// [`all`](Self::all) asks independent questions in one round, and so does every other way to await
/// several futures concurrently.
///
/// A call is rejected before the handler runs if its client cannot be asked at all. Take
/// `Option<Ask>` to run without questions.
///
/// # Examples
///
/// ```
/// use mcp::prelude::*;
///
/// #[derive(Elicit)]
/// struct Confirm {
///     /// Type the environment's name
///     name: String,
/// }
///
/// # async fn open_ticket() -> u32 { 7 }
/// async fn deploy(ask: Ask) -> Result<String, ToolError> {
///     let ticket = ask.once("ticket", || open_ticket()).await?;
///     match ask.form::<Confirm>("confirm", "Deploy to production?").await? {
///         Answer::Accept(confirm) if confirm.name == "production" => Ok("deployed".to_owned()),
///         Answer::Accept(_) => Err(ToolError::new("the name does not match")),
///         Answer::Decline | Answer::Cancel => Ok(format!("ticket {ticket} is closed")),
///     }
/// }
/// ```
// spec: MRTR-19
#[derive(Debug, Clone)]
pub struct Ask(Arc<InputRound>);

impl Ask {
    /// Asks the user to fill in a form. The answer matches the form; for any other answer the client
    /// receives an error, so that it can send a valid one.
    ///
    /// Never ask for secrets by a form: use [`url`](Self::url).
    // spec: ELIC-07, ELIC-13
    pub fn form<T: Elicit>(
        &self,
        key: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Asking<Answer<T>> {
        let request = ElicitParams::from(ElicitFormParams::new(message, T::form()));
        self.question(key, request, |request, response| {
            let answer = decode_form(request, response)?.try_map(T::from_answers);
            answer.map_err(|error| error.to_string())
        })
    }

    /// Asks the user to fill in a form that is built at run time.
    // spec: ELIC-07, ELIC-13
    pub fn raw_form(
        &self,
        key: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
        form: FormSchema,
    ) -> Asking<Answer<JsonObject>> {
        self.question(
            key,
            ElicitParams::from(ElicitFormParams::new(message, form)),
            decode_form,
        )
    }

    /// Asks the user to visit a URL and to continue there: for secrets, payments and consent. The
    /// answer [`Accept`](Answer::Accept) says only that the user visits the URL.
    ///
    /// The URL has the scheme `https`, or `http` with a loopback host; another one is an error that is
    /// not sent. It must not contain data of the user and must not grant access by itself;
    /// authenticate its visitor.
    // spec: ELIC-08, ELIC-09, ELIC-15
    pub fn url(
        &self,
        key: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Asking<Answer<()>> {
        let params = ElicitUrlParams::new(message, url);
        let request = match params.check_own_url() {
            Ok(_) if is_uri(&params.url) => Ok(ElicitParams::from(params).into()),
            Err(error @ UrlError::Scheme { .. }) => Err(format!("{:?}: {error}", params.url)),
            _ => Err(format!("{:?} is not an absolute URL", params.url)),
        };
        self.checked_question(key, request, |_, response| {
            decode_action(response)?.try_map(|_| Ok(()))
        })
    }

    /// Sends `notifications/elicitation/complete` for the question `key` of [`url`](Self::url): the user has finished
    /// there, so that the client can close the page. Call it in the same call, after the answer; after the call, use
    /// [`Broadcaster::elicitation_complete`](crate::Broadcaster::elicitation_complete). Returns false if nothing was
    /// sent: only sessions of 2025-11-25 have the notification.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// # async fn paid() {}
    /// async fn pay(ask: Ask) -> Result<&'static str, ToolError> {
    ///     match ask.url("pay", "Pay 9 EUR", "https://pay.example.com/7").await? {
    ///         Answer::Accept(()) => {
    ///             paid().await;
    ///             ask.elicitation_complete("pay");
    ///             Ok("paid")
    ///         }
    ///         Answer::Decline | Answer::Cancel => Ok("not paid"),
    ///     }
    /// }
    /// ```
    pub fn elicitation_complete(&self, key: &str) -> bool {
        self.0.send_elicitation_complete(key)
    }

    /// Returns the elicitation `key`'s id: that of a question of [`url`](Self::url), before or after it is asked,
    /// or one for [`ElicitUrlParams::elicitation_id`] of a call that is refused until the user has visited a URL. Store
    /// it to report the end of the visit after the call with
    /// [`Broadcaster::elicitation_complete`](crate::Broadcaster::elicitation_complete), on any node
    /// of the server. Each handler run has new ids, and for clients of 2026-07-28 the id reports
    /// nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use std::sync::Mutex;
    ///
    /// use mcp::core::Fault;
    /// use mcp::extension::Broadcaster;
    /// use mcp::prelude::*;
    /// use mcp::types::ElicitUrlParams;
    ///
    /// /// Elicitation ids by order.
    /// #[derive(Default)]
    /// struct Payments(Mutex<HashMap<u32, String>>);
    ///
    /// impl Payments {
    ///     /// Refuses the call until the order is paid.
    ///     fn require(&self, order: u32, ask: &Ask) -> ToolError {
    ///         let id = ask.elicitation_id("pay");
    ///         self.0.lock().unwrap().insert(order, id.clone());
    ///         let url = format!("https://pay.example.com/{order}");
    ///         let pay = ElicitUrlParams::new("Pay 9 EUR", url).elicitation_id(id);
    ///         ToolError::fault(Fault::UrlElicitationRequired { elicitations: vec![pay] })
    ///     }
    ///
    ///     /// The payment provider calls this when the user has paid.
    ///     fn paid(&self, order: u32, clients: &Broadcaster) {
    ///         if let Some(id) = self.0.lock().unwrap().remove(&order) {
    ///             clients.elicitation_complete(&id);
    ///         }
    ///     }
    /// }
    /// ```
    pub fn elicitation_id(&self, key: &str) -> String {
        self.0.elicitation_id(key).unwrap_or_default()
    }

    /// Asks the client's language model. The user may change the request and the response.
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// async fn notes(ask: Ask) -> Result<String, ToolError> {
    ///     let notes = Sampling::user("Write release notes.")
    ///         .max_tokens(200)
    ///         .system_prompt("You are brief.");
    ///     Ok(ask.sample("notes", notes).await?.content.text())
    /// }
    /// ```
    // spec: SAMP-02, SAMP-08, SAMP-09
    pub fn sample(
        &self,
        key: impl Into<Cow<'static, str>>,
        sampling: Sampling,
    ) -> Asking<CreateMessageResult> {
        let request = match sampling.check_messages() {
            Ok(()) => Ok(sampling.into()),
            Err(error) => Err(error.to_string()),
        };
        self.checked_question(key, request, |_, response| match response {
            InputResponse::CreateMessage(result) => Ok(*result),
            _ => Err(wrong_kind()),
        })
    }

    /// Asks for the files and folders that the server may access.
    pub fn roots(&self, key: impl Into<Cow<'static, str>>) -> Asking<Vec<Root>> {
        self.question(key, InputRequest::ListRoots, |_, response| {
            let InputResponse::ListRoots(list) = response else {
                return Err(wrong_kind());
            };
            match list.roots.iter().find(|root| !root.is_file()) {
                Some(root) => Err(format!("the root {:?} is not a `file://` URI", root.uri)),
                None => Ok(list.roots),
            }
        })
    }

    /// Sends an extension request to the client: in a session as a request of its own, and in
    /// 2026-07-28 as an input request in the call's reply.
    ///
    /// A client that does not declare the extension of the request is not asked; the error is
    /// [`AskError::MissingCapability`].
    pub fn request<R: CustomRequest>(
        &self,
        key: impl Into<Cow<'static, str>>,
        params: &R::Params,
    ) -> Asking<R::Result> {
        let id = <R::Extension as Extension>::ID;
        let decode: Decode<R::Result> = |_, response| {
            let InputResponse::Other(members) = response else {
                return Err(wrong_kind());
            };
            let result = to_object(&members).map_err(|error| error.to_string())?;
            from_params(Some(result.as_str())).map_err(|error| error.to_string())
        };
        if self.capabilities().has_extension(id) {
            return self.checked_question(key, custom_request::<R>(params), decode);
        }
        let required = ClientCapabilities::default().with_extension(id, &()).into();
        let error = AskError::MissingCapability { required };
        Asking::new(self.0.clone(), key.into(), Err(error), decode)
    }

    /// Passes a request for input of another server on, and returns the response of the client as it is.
    /// For gateways and proxies, whose own handlers do not read the response; the example `forward` is one.
    ///
    /// The client has to declare the capability that the request needs, as for questions of this
    /// server. The content of a form is not checked: the other server does it.
    ///
    /// ```
    /// use mcp::prelude::*;
    /// use mcp::types::{InputRequest, InputResponse};
    ///
    /// async fn relay(ask: Ask, request: InputRequest) -> Result<InputResponse, ToolError> {
    ///     Ok(ask.forward("question", request).await?)
    /// }
    /// ```
    pub fn forward(
        &self,
        key: impl Into<Cow<'static, str>>,
        request: InputRequest,
    ) -> Asking<InputResponse> {
        self.question(key, request, |_, response| Ok(response))
    }

    /// Asks several questions in one round and waits for all answers.
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// async fn survey(ask: Ask) -> Result<String, ToolError> {
    ///     let login = ask.url("login", "Sign in", "https://example.com/login");
    ///     let (roots, login) = ask.all((ask.roots("roots"), login)).await?;
    ///     Ok(format!("{} roots, signed in: {}", roots.len(), login.is_accepted()))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the first error of a question.
    pub async fn all<Q: Questions>(&self, questions: Q) -> Result<Q::Answers, AskError> {
        questions.answers().await
    }

    /// Does work once per call, although the handler may run several times. The result travels,
    /// sealed, with the questions that follow, and later runs return the recorded result. It has to
    /// survive a round trip through JSON.
    ///
    /// Work that has started is finished before any question is sent. The work cannot ask questions
    /// itself.
    ///
    /// Use [`try_once`](Self::try_once) for work that can fail; it records successful results only.
    ///
    /// # Errors
    ///
    /// Returns [`AskError`] when the result cannot be stored, or when the key was used before in this
    /// run.
    pub async fn once<T, F, Fut>(
        &self,
        key: impl Into<Cow<'static, str>>,
        work: F,
    ) -> Result<T, AskError>
    where
        T: Serialize + DeserializeOwned,
        F: FnOnce() -> Fut,
        Fut: Future<Output = T>,
    {
        run_once(&self.0, key.into(), work, Ok).await
    }

    /// Does work that can fail once per call; see [`once`](Self::once). A failure is not recorded, so
    /// the next run repeats the work.
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// # async fn charge(_: u32) -> Result<String, std::io::Error> { Ok(String::new()) }
    /// async fn order(ask: Ask) -> Result<String, ToolError> {
    ///     let receipt = ask.try_once("charge", || async { Ok::<_, ToolError>(charge(5).await?) });
    ///     let receipt = receipt.await?;
    ///     let bag = ask.url("bag", "Choose a bag", "https://example.com/bags").await?;
    ///     Ok(format!("{receipt}, with a bag: {}", bag.is_accepted()))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the work's error, or [`AskError`] as [`once`](Self::once) does.
    pub async fn try_once<T, E, F, Fut>(
        &self,
        key: impl Into<Cow<'static, str>>,
        work: F,
    ) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<AskError>,
        F: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
    {
        run_once(&self.0, key.into(), work, |result| result).await
    }

    /// Stores a value for the next run and replaces the previous one. The value travels, sealed, with
    /// the questions that follow.
    ///
    /// # Errors
    ///
    /// Returns [`AskError::NotSerializable`] when the value is not JSON or too large.
    pub fn keep<T: Serialize>(&self, value: &T) -> Result<(), AskError> {
        self.0.keep(value)
    }

    /// Returns the value that [`keep`](Self::keep) stored last, in this run or an earlier one.
    ///
    /// # Errors
    ///
    /// Returns [`AskError::Malformed`] when the value has another type.
    pub fn kept<T: DeserializeOwned>(&self) -> Result<Option<T>, AskError> {
        self.0.kept()
    }

    /// Returns the time for which a request state of this call is valid: the
    /// [lifetime](crate::StateKeys::lifetime) of the keys. A handler that counts the uses of states forgets them
    /// after this time.
    pub fn state_lifetime(&self) -> Duration {
        self.0.state_lifetime()
    }

    /// Checks that the client declares all capabilities that the handler is going to use. Call it
    /// before side effects: without it, a missing capability is an error only at the question that
    /// needs it.
    ///
    /// ```
    /// use mcp::types::ClientCapabilities;
    /// use mcp::prelude::*;
    ///
    /// # async fn reserve() -> u32 { 7 }
    /// async fn order(ask: Ask) -> Result<u32, ToolError> {
    ///     ask.require(&ClientCapabilities::default().with_elicitation().with_sampling())?;
    ///     let number = ask.once("number", || reserve()).await?;
    ///     // …
    /// #   Ok(number)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`AskError::MissingCapability`] with the missing capabilities.
    pub fn require(&self, needed: &ClientCapabilities) -> Result<(), AskError> {
        require_declared(needed, self.capabilities())
    }

    /// Capabilities that the client declares, for handlers with optional questions.
    fn capabilities(&self) -> &ClientCapabilities {
        &self.0.facts().capabilities
    }

    fn question<A>(
        &self,
        key: impl Into<Cow<'static, str>>,
        request: impl Into<InputRequest>,
        decode: Decode<A>,
    ) -> Asking<A> {
        self.checked_question(key, Ok(request.into()), decode)
    }

    /// Returns the question, or the reason why it is not sent.
    fn checked_question<A>(
        &self,
        key: impl Into<Cow<'static, str>>,
        request: Result<InputRequest, String>,
        decode: Decode<A>,
    ) -> Asking<A> {
        let key = key.into();
        let request = request.map_err(|reason| AskError::InvalidQuestion {
            key: key.clone(),
            reason,
        });
        Asking::new(self.0.clone(), key, request, decode)
    }
}

impl FromCall for Ask {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        call.input_round().cloned().map(Self).ok_or_else(|| {
            Rejection::Fault(Fault::Refused(Cow::Borrowed(
                "this call has to ask its client, which can be asked neither by a reply (protocol \
                 2026-07-28) nor in a session",
            )))
        })
    }

    fn describe(spec: &mut RouteSpec) {
        spec.needs.input_round = true;
    }
}

fn custom_request<R: CustomRequest>(params: &R::Params) -> Result<InputRequest, String> {
    let params = to_object(params).map_err(|error| error.to_string())?;
    Ok(InputRequest::Other {
        method: R::METHOD.to_owned(),
        params: Some(params.parse().map_err(|error| error.to_string())?),
    })
}

/// Limit on the characters of an unknown action in a message.
const MAX_ACTION: usize = 64;

fn wrong_kind() -> String {
    "it answers another kind of question".to_owned()
}

/// Decodes the user's action; [`Answer::Accept`] contains a form's content.
// spec: ELIC-09
fn decode_action(response: InputResponse) -> Result<Answer<Option<JsonObject>>, String> {
    let InputResponse::Elicit(ElicitResult {
        action, content, ..
    }) = response
    else {
        return Err(wrong_kind());
    };
    match action {
        ElicitAction::Accept => Ok(Answer::Accept(content)),
        // spec: ELIC-18
        ElicitAction::Decline => Ok(Answer::Decline),
        ElicitAction::Cancel => Ok(Answer::Cancel),
        // The word of a draft before 2025-06-18, which some clients still send.
        other if other.as_str() == "reject" => Ok(Answer::Decline),
        other => {
            let action = shorten(other.as_str(), MAX_ACTION);
            Err(format!(
                "`action` must be accept, decline or cancel, got {action:?}"
            ))
        }
    }
}

/// Decodes the answers to a form, adds defaults and checks them. `null` counts as no answer.
// spec: ELIC-07, ELIC-13
fn decode_form(
    request: &InputRequest,
    response: InputResponse,
) -> Result<Answer<JsonObject>, String> {
    decode_action(response)?.try_map(|content| {
        let mut content = content.unwrap_or_default();
        content.retain(|_, answer| !answer.is_null());
        if let InputRequest::Elicit(params) = request
            && let ElicitParams::Form(form) = &**params
        {
            let schema = &form.requested_schema;
            schema.remove_blanks(&mut content);
            schema.fill_defaults(&mut content);
            schema.check(&content).map_err(|error| error.to_string())?;
        }
        Ok(content)
    })
}
