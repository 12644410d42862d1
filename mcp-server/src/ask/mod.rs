//! Asking the client while a call runs: its user, its language model, its roots.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>
//!
//! | you look for | module |
//! |---|---|
//! | what a handler takes | here |
//! | a question as a future | `asking` |
//! | work that is done once | `once` |
//! | forms of Rust types | `elicit` |

mod answer;
mod asking;
mod elicit;
mod once;

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use mcp_core::Fault;
use mcp_types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams,
    ElicitResult, FormSchema, InputRequest, InputResponse, JsonObject, Root,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use answer::Answer;
pub use asking::{Asking, Questions};
pub(crate) use elicit::choice;
pub use elicit::{Elicit, ElicitChoice, ElicitField};

use crate::context::CallContext;
use crate::extract::FromCall;
use crate::rejection::Rejection;
use crate::round::{AskError, Round, compare};
use crate::spec::RouteSpec;
use crate::uri::is_uri;

/// What a language model is asked; see [`Ask::sample`].
pub type Sampling = CreateMessageParams;

/// Asks the client: its user by a form or a URL, its language model, its roots. Works on every
/// revision, in tools, resources and prompts.
///
/// In a session of the older revisions a question goes out while the handler waits. Since
/// 2026-07-28 it is the *reply* that asks: the handler is dropped at its first question without an
/// answer, and **runs again from its beginning** when the answer comes. The code is the same; what
/// it has to mind is that everything before a question may run more than once:
///
/// * Side effects before a question go into [`once`](Self::once).
/// * A question keeps its key and its words from one run to the next: what they are made of must
///   not change by itself, or comes out of `once`.
/// * Every question of a call has a key of its own.
///
/// Questions that do not depend on each other are asked in one round by [`all`](Self::all), or any
/// other way to await several futures.
///
/// A call whose client can be asked in no way is rejected before the handler runs; take
/// `Option<Ask>` where the handler can do without.
///
/// # Examples
///
/// ```
/// use mcp_server::{Answer, Ask, ToolError};
/// # use mcp_server::{Elicit, ElicitField};
/// # struct Confirm { name: String }
/// # impl Elicit for Confirm {
/// #     fn form() -> mcp_types::FormSchema {
/// #         mcp_types::FormSchema::new().required("name", String::schema())
/// #     }
/// #     fn from_answers(mut answers: mcp_types::JsonObject) -> Result<Self, mcp_types::FormError> {
/// #         let name = answers.remove("name").and_then(|name| name.as_str().map(str::to_owned));
/// #         Ok(Self { name: name.unwrap_or_default() })
/// #     }
/// # }
/// # async fn open_ticket() -> u32 { 7 }
///
/// // `#[derive(mcp::Elicit)] struct Confirm { name: String }`
///
/// async fn deploy(ask: Ask) -> Result<String, ToolError> {
///     let ticket = ask.once("ticket", || open_ticket()).await?;
///     match ask.form::<Confirm>("confirm", "Deploy to production?").await? {
///         Answer::Accept(confirm) if confirm.name == "production" => Ok("deployed".to_owned()),
///         Answer::Accept(_) => Err(ToolError::new("the name does not match")),
///         Answer::Decline | Answer::Cancel => Ok(format!("ticket {ticket} is closed")),
///     }
/// }
/// ```
// spec: MRTR-01, MRTR-06, MRTR-19
#[derive(Clone)]
pub struct Ask(Arc<Round>);

impl Ask {
    /// Asks the user to fill in a form. The answer fits the form, or it is an error: one that the
    /// client is told, so that it can send another one.
    ///
    /// Never ask for secrets by a form: use [`url`](Self::url).
    // spec: ELIC-04, ELIC-07, ELIC-11, ELIC-13
    pub fn form<T: Elicit>(
        &self,
        key: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Asking<Answer<T>> {
        let request = ElicitParams::form(message, T::form());
        self.asking(key, request, |asked, answer| {
            match filled_in(asked, answer)? {
                Answer::Accept(content) => match T::from_answers(content) {
                    Ok(value) => Ok(Answer::Accept(value)),
                    Err(error) => Err(error.to_string()),
                },
                Answer::Decline => Ok(Answer::Decline),
                Answer::Cancel => Ok(Answer::Cancel),
            }
        })
    }

    /// Asks the user to fill in a form that is made at run time.
    // spec: ELIC-04, ELIC-07, ELIC-11, ELIC-13
    pub fn raw_form(
        &self,
        key: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
        form: FormSchema,
    ) -> Asking<Answer<JsonObject>> {
        self.asking(key, ElicitParams::form(message, form), filled_in)
    }

    /// Asks the user to visit a URL, where the rest happens: for secrets, payments, consents. That
    /// the user accepts says only that the URL is visited.
    ///
    /// The URL holds nothing of the user and opens nothing by itself; who opens it has to be
    /// checked there.
    // spec: ELIC-08, ELIC-09, ELIC-15, ELIC-16
    pub fn url(
        &self,
        key: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Asking<Answer<()>> {
        let url = url.into();
        let request = match is_uri(&url) {
            true => Ok(ElicitParams::url(message, url).into()),
            false => Err(format!("{url:?} is no absolute URL")),
        };
        Asking::new(self.0.clone(), key.into(), request, |_, answer| {
            Ok(elicited(answer)?.map(|_| ()))
        })
    }

    /// Asks the client's language model. The user may change what is asked and what is answered.
    ///
    /// ```
    /// use mcp_server::{Ask, Sampling, ToolError};
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
        Asking::new(
            self.0.clone(),
            key.into(),
            request,
            |_, answer| match answer {
                InputResponse::CreateMessage(result) => Ok(*result),
                _ => Err(other_kind()),
            },
        )
    }

    /// Asks which folders and files the server may look at.
    // spec: ROOT-03
    pub fn roots(&self, key: impl Into<Cow<'static, str>>) -> Asking<Vec<Root>> {
        self.asking(key, InputRequest::ListRoots, |_, answer| {
            let InputResponse::ListRoots(list) = answer else {
                return Err(other_kind());
            };
            match list.roots.iter().find(|root| !root.is_file()) {
                Some(root) => Err(format!("the root {:?} is no `file://` URI", root.uri)),
                None => Ok(list.roots),
            }
        })
    }

    /// Asks several things in one round, and waits for all answers.
    ///
    /// ```
    /// use mcp_server::{Ask, ToolError};
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
    /// The first error of a question.
    pub async fn all<Q: Questions>(&self, questions: Q) -> Result<Q::Answers, AskError> {
        questions.answers().await
    }

    /// Does work once, however often the handler runs: its result travels, sealed, with the
    /// questions that follow, and a run that comes after one of them is given it back. The result
    /// has to read back from JSON as it was written.
    ///
    /// Work that has begun is finished before anything is asked. It cannot ask by itself.
    ///
    /// What fails belongs into [`try_once`](Self::try_once), which records successes alone.
    ///
    /// # Errors
    ///
    /// [`AskError`] when the result cannot be kept, or the key was used before in this call.
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
        once::run(&self.0, key.into(), work, Ok).await
    }

    /// As [`once`](Self::once), for work that may fail: a failure is not recorded, so the next run
    /// tries again.
    ///
    /// ```
    /// use mcp_server::{Ask, ToolError};
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
    /// The error of the work, or [`AskError`] as in [`once`](Self::once).
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
        once::run(&self.0, key.into(), work, |result| result).await
    }

    /// Keeps a value for the next run, in place of what was kept before. It travels, sealed, with
    /// the questions that follow.
    ///
    /// # Errors
    ///
    /// [`AskError::Unkeepable`] when it is no JSON or too large.
    pub fn keep<T: Serialize>(&self, value: &T) -> Result<(), AskError> {
        self.0.keep(value)
    }

    /// What was kept last: in this run or in an earlier one.
    ///
    /// # Errors
    ///
    /// [`AskError::Unreadable`] when it was kept as another type.
    pub fn kept<T: DeserializeOwned>(&self) -> Result<Option<T>, AskError> {
        self.0.kept()
    }

    /// Makes sure that the client can be asked everything that the handler is going to ask: before
    /// side effects, because a question that it cannot be asked is an error only when it is asked.
    ///
    /// ```
    /// use mcp_server::{Ask, ToolError};
    /// use mcp_types::ClientCapabilities;
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
    /// [`AskError::MissingCapability`] with what the client does not declare.
    // spec: MRTR-05
    #[inline]
    pub fn require(&self, needed: &ClientCapabilities) -> Result<(), AskError> {
        compare(needed, self.capabilities())
    }

    /// What the client declares that it can be asked: for handlers that can do without an answer.
    // spec: MRTR-05
    #[inline]
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.0.facts().capabilities
    }

    fn asking<A>(
        &self,
        key: impl Into<Cow<'static, str>>,
        request: impl Into<InputRequest>,
        read: asking::Read<A>,
    ) -> Asking<A> {
        Asking::new(self.0.clone(), key.into(), Ok(request.into()), read)
    }
}

#[inline]
fn other_kind() -> String {
    "it answers another kind of question".to_owned()
}

/// What the user did; the content of accepted forms.
// spec: ELIC-09
#[inline]
fn elicited(answer: InputResponse) -> Result<Answer<Option<JsonObject>>, String> {
    let InputResponse::Elicit(ElicitResult {
        action, content, ..
    }) = answer
    else {
        return Err(other_kind());
    };
    match action {
        ElicitAction::Accept => Ok(Answer::Accept(content)),
        ElicitAction::Decline => Ok(Answer::Decline),
        ElicitAction::Cancel => Ok(Answer::Cancel),
        other => Err(format!(
            "`action` is {other:?}; it must be accept, decline or cancel"
        )),
    }
}

/// The answers to a form, complete and checked. `null` is no answer.
// spec: ELIC-07, ELIC-13
#[inline]
fn filled_in(asked: &InputRequest, answer: InputResponse) -> Result<Answer<JsonObject>, String> {
    let mut content = match elicited(answer)? {
        Answer::Accept(content) => content.unwrap_or_default(),
        Answer::Decline => return Ok(Answer::Decline),
        Answer::Cancel => return Ok(Answer::Cancel),
    };
    content.retain(|_, answer| !answer.is_null());
    if let InputRequest::Elicit(params) = asked
        && let ElicitParams::Form(form) = &**params
    {
        let form = &form.requested_schema;
        form.fill_defaults(&mut content);
        form.check(&content).map_err(|error| error.to_string())?;
    }
    Ok(Answer::Accept(content))
}

impl FromCall for Ask {
    #[inline]
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let round = call.round().cloned();
        round.map(|round| Self(round.round())).ok_or_else(|| {
            Rejection::Fault(Fault::Refused(Cow::Borrowed(
                "this call has to ask its client, which can be asked neither by a reply (protocol \
                 2026-07-28) nor in a session",
            )))
        })
    }

    #[inline]
    fn describe(spec: &mut RouteSpec) {
        spec.asks(Round::begin);
    }
}

impl fmt::Debug for Ask {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ask").field(&self.0).finish()
    }
}
