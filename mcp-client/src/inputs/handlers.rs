//! The handlers of a client, and how they are run.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::try_join_all;
use mcp_core::BoxFuture;
use mcp_core::mrtr::InputRound;
use mcp_types::{
    ClientCapabilities, CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult,
    InputRequest, InputResponse, ListRootsResult, Root,
};
use parking_lot::RwLock;

use super::request::finish_form;
use super::visits::Visits;
use super::{Asker, Cause, ElicitRequest, InputError, InputKind, SampleRequest, UrlRequest};

/// What a handler may return: the answer, or a result with it.
pub trait IntoInput<T> {
    /// The answer, or why there is none.
    ///
    /// # Errors
    ///
    /// What the handler returned as its error.
    fn into_input(self) -> Result<T, Box<dyn std::error::Error + Send + Sync>>;
}

impl IntoInput<Self> for ElicitResult {
    fn into_input(self) -> Result<Self, Cause> {
        Ok(self)
    }
}

impl IntoInput<Self> for CreateMessageResult {
    fn into_input(self) -> Result<Self, Cause> {
        Ok(self)
    }
}

impl<T, E: Into<Cause>> IntoInput<T> for Result<T, E> {
    fn into_input(self) -> Result<T, Cause> {
        self.map_err(Into::into)
    }
}

/// A function of the user, its types erased once.
type Handler<Q, A> = Arc<dyn Fn(Q) -> BoxFuture<'static, Result<A, Cause>> + Send + Sync>;

fn erase<Q, A, F, Fut>(handler: F) -> Handler<Q, A>
where
    Q: Send + 'static,
    A: 'static,
    F: Fn(Q) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoInput<A>> + Send + 'static,
{
    Arc::new(move |request| Box::pin(handler(request).map(IntoInput::into_input)))
}

/// What the client answers, and how.
#[derive(Clone, Default)]
pub(crate) struct Inputs {
    form: Option<Handler<ElicitRequest, ElicitResult>>,
    url: Option<Handler<UrlRequest, ElicitResult>>,
    sample: Option<Handler<SampleRequest, CreateMessageResult>>,
    roots: Option<Arc<RwLock<Vec<Root>>>>,
    pub(crate) visits: Visits,
}

impl Inputs {
    /// The same handlers for another client, whose roots and visits are its own.
    pub(crate) fn of_one_client(&self) -> Self {
        let roots = self.roots.as_ref().map(|roots| {
            let roots = roots.read();
            Arc::new(RwLock::new(roots.clone()))
        });
        Self {
            roots,
            visits: Visits::default(),
            ..self.clone()
        }
    }

    pub(crate) fn on_form<F, Fut>(&mut self, handler: F)
    where
        F: Fn(ElicitRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoInput<ElicitResult>> + Send + 'static,
    {
        self.form = Some(erase(handler));
    }

    pub(crate) fn on_url<F, Fut>(&mut self, handler: F)
    where
        F: Fn(UrlRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoInput<ElicitResult>> + Send + 'static,
    {
        self.url = Some(erase(handler));
    }

    pub(crate) fn on_sample<F, Fut>(&mut self, handler: F)
    where
        F: Fn(SampleRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoInput<CreateMessageResult>> + Send + 'static,
    {
        self.sample = Some(erase(handler));
    }

    pub(crate) fn set_roots(&mut self, roots: Vec<Root>) {
        self.roots = Some(Arc::new(RwLock::new(roots)));
    }

    /// The roots, where there are some.
    pub(crate) fn roots(&self) -> Option<&RwLock<Vec<Root>>> {
        self.roots.as_deref()
    }

    /// Adds what the handlers can do to what was declared by hand.
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

    /// Answers everything that is asked in a round, all at once. The first failure ends the
    /// handlers that still run.
    pub(crate) async fn answer_all(
        &self,
        round: &InputRound,
        asker: &Arc<Asker>,
        declared: &ClientCapabilities,
    ) -> Result<BTreeMap<String, InputResponse>, InputError> {
        let answers = round.requests().iter().map(async |(key, request)| {
            let answer = self.answer(request.clone(), asker.clone(), declared).await;
            answer.map(|answer| (key.clone(), answer))
        });
        Ok(try_join_all(answers).await?.into_iter().collect())
    }

    /// Answers one request.
    pub(crate) async fn answer(
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
                let asked = params.clone();
                let request = ElicitRequest { params, asker };
                let mut answer = run(self.form.as_ref(), wants, request).await?;
                finish_form(&asked, &mut answer)?;
                Ok(answer)
            }
            ElicitParams::Url(params) => {
                let visit = self.visits.of(&params);
                let request = UrlRequest {
                    params,
                    asker,
                    visit,
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
        let roots = roots.read();
        Ok(ListRootsResult::new(roots.iter().cloned()))
    }
}

/// A root that is none, by its URI.
// spec: ROOT-03
pub(crate) fn stray_root(roots: &[Root]) -> Option<String> {
    let stray = roots.iter().find(|root| !root.is_file())?;
    Some(stray.uri.clone())
}

fn check_sampling(
    params: &CreateMessageParams,
    declared: &ClientCapabilities,
) -> Result<(), InputError> {
    if params.needs_tools() && !declared.allows_sampling_tools() {
        return Err(InputError::NoSamplingTools);
    }
    Ok(params.check_messages()?)
}

/// Runs a handler; neither its error nor its panic goes further than the call that needs it.
async fn run<Q, A>(
    handler: Option<&Handler<Q, A>>,
    wants: InputKind,
    request: Q,
) -> Result<A, InputError> {
    let Some(handler) = handler else {
        return Err(InputError::NoHandler { wants });
    };
    // Inside of the block, so that a panic before the handler's first await is caught as well.
    let answer = async { handler(request).await };
    match AssertUnwindSafe(answer).catch_unwind().await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(cause)) => Err(match cause.downcast::<InputError>() {
            // What `ElicitRequest::accept` says needs no frame.
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
            .finish()
    }
}
