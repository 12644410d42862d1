//! Input handlers of a client.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt;
use mcp_core::tower::Layers;
use mcp_core::{BoxFuture, catch_panic};
use mcp_types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult,
    InputRequest, InputRequests, InputResponse, JsonObject, ListRootsResult, RawObject, Root,
};
use parking_lot::RwLock;

use super::error::{BoxError, InputError, InputKind};
use super::request::{Asker, ElicitRequest, SampleRequest, UrlRequest, finish_form};
use super::url_elicitations::UrlElicitations;

/// A return value of a handler: the answer `T`, or a `Result` of it.
pub trait IntoInput<T>: sealed::Convert<T> {}

impl<T> IntoInput<T> for T {}

impl<T, E: Into<BoxError>> IntoInput<T> for Result<T, E> {}

pub(crate) mod sealed {
    use super::BoxError;

    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait Convert<T> {
        /// Converts the value to a result.
        fn into_input(self) -> Result<T, BoxError>;
    }
}

impl<T> sealed::Convert<T> for T {
    fn into_input(self) -> Result<T, BoxError> {
        Ok(self)
    }
}

impl<T, E: Into<BoxError>> sealed::Convert<T> for Result<T, E> {
    fn into_input(self) -> Result<T, BoxError> {
        self.map_err(Into::into)
    }
}

/// A boxed handler.
pub(crate) type Handler<Q, A> =
    Arc<dyn Fn(Q) -> BoxFuture<'static, Result<A, BoxError>> + Send + Sync>;

/// The handler of an extension's request: from its parameters to its result.
pub(crate) type CustomInput = Handler<(Option<RawObject>, Arc<Asker>), JsonObject>;

pub(crate) fn boxed<Q, A, F, Fut>(handler: F) -> Handler<Q, A>
where
    Q: Send + 'static,
    A: 'static,
    F: Fn(Q) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoInput<A>> + Send + 'static,
{
    Arc::new(move |request| Box::pin(handler(request).map(sealed::Convert::into_input)))
}

/// The handlers and roots of a client.
#[derive(Clone, Default)]
pub(crate) struct Inputs {
    pub(crate) form: Option<Handler<ElicitRequest, ElicitResult>>,
    pub(crate) url: Option<Handler<UrlRequest, ElicitResult>>,
    pub(crate) sample: Option<Handler<SampleRequest, CreateMessageResult>>,
    /// The roots, unless the client declares none.
    pub(crate) roots: Option<Arc<RwLock<Vec<Root>>>>,
    /// The handlers of extensions' requests.
    pub(crate) custom: HashMap<&'static str, CustomInput>,
    /// Layers around the server's requests.
    pub(crate) layers: Layers,
    pub(crate) url_elicitations: UrlElicitations,
}

impl Inputs {
    /// Returns the same handlers with separate roots and URL elicitations for a new client.
    pub(crate) fn for_new_client(&self) -> Self {
        let roots = self.roots.as_ref().map(|roots| {
            let roots = roots.read();
            Arc::new(RwLock::new(roots.clone()))
        });
        Self {
            roots,
            url_elicitations: UrlElicitations::default(),
            ..self.clone()
        }
    }

    /// Adds the capabilities of the handlers to the declared ones.
    // spec: ELIC-01, SAMP-01, ROOT-01
    pub(crate) fn declare(&self, mut declared: ClientCapabilities) -> ClientCapabilities {
        if self.form.is_some() {
            declared = declared.with_elicitation();
        }
        if self.url.is_some() {
            declared = declared.with_url_elicitation();
        }
        if self.sample.is_some() {
            declared = declared.with_sampling();
        }
        if self.roots.is_some() {
            declared = declared.with_roots_changes();
        }
        declared
    }

    /// Answers one request.
    pub(super) async fn answer_directly(
        &self,
        request: InputRequest,
        asker: Arc<Asker>,
        declared: &ClientCapabilities,
    ) -> Result<InputResponse, InputError> {
        let wants = InputKind::of(&request);
        match request {
            InputRequest::Elicit(params) => {
                let answer = self.elicit(*params, asker, wants).await?;
                Ok(answer.into())
            }
            InputRequest::CreateMessage(params) => {
                check_sampling(&params, declared)?;
                let params = *params;
                let request = SampleRequest { params, asker };
                let answer = run(self.sample.as_ref(), wants, request).await?;
                Ok(answer.into())
            }
            InputRequest::ListRoots => self.list_roots().map(Into::into),
            InputRequest::Other { method, params } => {
                let handler = self.custom.get(&*method);
                let params = params
                    .as_ref()
                    .and_then(|params| RawObject::from_value(params).ok());
                let answer = run(handler, wants, (params, asker)).await?;
                Ok(InputResponse::Other(answer))
            }
            _ => Err(InputError::NoHandler { wants }),
        }
    }

    async fn elicit(
        &self,
        params: ElicitParams,
        asker: Arc<Asker>,
        wants: InputKind,
    ) -> Result<ElicitResult, InputError> {
        match params {
            ElicitParams::Form(params) => {
                let form = params.clone();
                let request = ElicitRequest { params, asker };
                let mut answer = run(self.form.as_ref(), wants, request).await?;
                finish_form(&form, &mut answer)?;
                Ok(answer)
            }
            ElicitParams::Url(params) => {
                let url = params.checked_url()?;
                let id = params.elicitation_id.as_deref();
                let elicitation = self.url_elicitations.get_or_insert(id);
                let request = UrlRequest {
                    params,
                    url,
                    asker,
                    elicitation,
                };
                let mut answer = run(self.url.as_ref(), wants, request).await?;
                // spec: ELIC-09
                answer.content = None;
                Ok(answer)
            }
            _ => Err(InputError::NoHandler { wants }),
        }
    }

    fn list_roots(&self) -> Result<ListRootsResult, InputError> {
        let roots = self.roots.as_ref().ok_or(InputError::NoHandler {
            wants: InputKind::Roots,
        })?;
        Ok(ListRootsResult::from(roots.read().clone()))
    }
}

/// Returns the URI of the first root that is not a `file://` URI.
// spec: ROOT-03
pub(crate) fn first_invalid_root(roots: &[Root]) -> Option<String> {
    let invalid = roots.iter().find(|root| !root.is_file())?;
    Some(invalid.uri.clone())
}

/// Checks the URLs of a round before the first handler runs. A browser or the operating system would
/// run code or programs for other schemes than `https` and `http`.
///
/// # Errors
///
/// Returns [`InputError::UnsafeUrl`] for the first URL that must not be opened.
// spec: ELIC-14
pub(crate) fn check_urls(requests: &InputRequests) -> Result<(), InputError> {
    for request in requests.values() {
        if let InputRequest::Elicit(params) = request
            && let ElicitParams::Url(params) = &**params
        {
            params.checked_url()?;
        }
    }
    Ok(())
}

fn check_sampling(
    params: &CreateMessageParams,
    declared: &ClientCapabilities,
) -> Result<(), InputError> {
    // spec: SAMP-03
    if params.needs_tools() && !declared.allows_sampling_tools() {
        return Err(InputError::NoSamplingTools);
    }
    // spec: SAMP-08
    Ok(params.check_messages()?)
}

/// Runs a handler. Its error or panic fails only the call that requires the input.
async fn run<Q, A>(
    handler: Option<&Handler<Q, A>>,
    wants: InputKind,
    request: Q,
) -> Result<A, InputError> {
    let Some(handler) = handler else {
        return Err(InputError::NoHandler { wants });
    };
    // The handler is called inside the block, so that a panic before its first await is caught.
    let answer = async { handler(request).await };
    match catch_panic(answer).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(cause)) => Err(match cause.downcast::<InputError>() {
            // An error of `ElicitRequest::accept` is returned unchanged.
            Ok(error) => *error,
            Err(source) => InputError::Failed { wants, source },
        }),
        Err(_) => Err(InputError::Panicked { wants }),
    }
}

impl fmt::Debug for Inputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inputs")
            .field("form", &self.form.is_some())
            .field("url", &self.url.is_some())
            .field("sample", &self.sample.is_some())
            .field("roots", &self.roots)
            .field("custom", &self.custom.keys())
            .finish()
    }
}
