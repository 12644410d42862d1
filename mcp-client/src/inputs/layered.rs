//! Answers to the server's input requests: through the client's inbound layers, then by a handler.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use futures_util::future::try_join_all;
use mcp_core::{BoxFuture, Call, ClientContext, Exchange, Fault, Observation, Reply, ResultBody};
use mcp_types::{
    ClientCapabilities, InputRequest, InputRequests, InputResponse, ProtocolVersion, RawObject,
};
use parking_lot::Mutex;
use tracing::Instrument;

use super::error::{InputError, InputKind};
use super::handlers::Inputs;
use super::request::Asker;

impl Inputs {
    /// Answers all requests of a round concurrently. The first error cancels the other handlers.
    pub(crate) async fn answer_all(
        &self,
        requests: &InputRequests,
        asker: &Arc<Asker>,
        declared: &ClientCapabilities,
        version: ProtocolVersion,
        observe: impl Fn(&InputRequest) -> Option<Box<dyn Observation>>,
    ) -> Result<BTreeMap<String, InputResponse>, InputError> {
        let answers = requests.iter().map(async |(key, request)| {
            let answer = self.answer(request.clone(), asker.clone(), declared, version);
            let answer = match observe(request) {
                None => answer.await,
                Some(observation) => observed(observation, answer).await,
            };
            answer.map(|answer| (key.clone(), answer))
        });
        Ok(try_join_all(answers).await?.into_iter().collect())
    }

    /// Passes one request through the layers and answers it.
    pub(crate) async fn answer(
        &self,
        request: InputRequest,
        asker: Arc<Asker>,
        declared: &ClientCapabilities,
        version: ProtocolVersion,
    ) -> Result<InputResponse, InputError> {
        if self.layers.is_empty() {
            self.answer_directly(request, asker, declared).await
        } else {
            Box::pin(answer(self, request, asker, declared, version)).await
        }
    }
}

async fn observed(
    observation: Box<dyn Observation>,
    answer: impl Future<Output = Result<InputResponse, InputError>>,
) -> Result<InputResponse, InputError> {
    let answer = answer.instrument(observation.span()).await;
    match &answer {
        Ok(_) => observation.end(Ok(())),
        Err(error) => observation.end(Err(&Fault::internal(error.to_string()))),
    }
    answer
}

/// Runs the layers around the request's handler. Layers see the request as [`Call::Other`], and its
/// response as [`ResultBody::Other`].
async fn answer(
    inputs: &Inputs,
    request: InputRequest,
    asker: Arc<Asker>,
    declared: &ClientCapabilities,
    version: ProtocolVersion,
) -> Result<InputResponse, InputError> {
    let wants = InputKind::of(&request);
    let call = Call::Other {
        method: request.method().into(),
        params: request.params_to_raw().ok(),
    };
    let mut facts = ClientContext::new(version);
    facts.capabilities = declared.clone();
    let failure = Arc::new(Mutex::new(None));
    let (failed, handlers, declared) = (failure.clone(), inputs.clone(), declared.clone());
    let endpoint = move |exchange: Exchange| -> BoxFuture<'static, Reply> {
        Box::pin(async move {
            let request = match read_request(&exchange.call) {
                Ok(request) => request,
                Err(reason) => return Fault::bad_params(reason).into(),
            };
            let answer = handlers.answer_directly(request, asker, &declared).await;
            match answer {
                Ok(response) => match RawObject::from_value(&response) {
                    Ok(response) => ResultBody::Other(response).into(),
                    Err(error) => Fault::internal(error.to_string()).into(),
                },
                Err(error) => {
                    let fault = Fault::internal(error.to_string());
                    *failed.lock() = Some(error);
                    fault.into()
                }
            }
        })
    };
    let reply = inputs
        .layers
        .run(Exchange::new(call, Arc::new(facts)), endpoint);
    let fault = match reply.await {
        Reply::Complete {
            body: ResultBody::Other(response),
            ..
        } => match request.read(&response) {
            Ok(response) => return Ok(response),
            Err(error) => {
                Fault::internal(format!("a layer returned a malformed response: {error}"))
            }
        },
        Reply::Fault(fault) => match failure.lock().take() {
            Some(error) => return Err(error),
            None => fault,
        },
        _ => Fault::internal("a layer returned a reply that does not answer an input request"),
    };
    Err(InputError::Refused { wants, fault })
}

/// Reads the request that the layers passed on. They may have changed it.
fn read_request(call: &Call) -> Result<InputRequest, String> {
    let Call::Other { method, params } = call else {
        return Err("a layer passed on a call that is not an input request".to_owned());
    };
    InputRequest::from_parts(method, params.as_ref()).map_err(|error| error.to_string())
}
