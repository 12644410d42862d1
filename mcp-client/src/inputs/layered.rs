//! A request of the server that passes through the inbound layers of the client.

use std::sync::Arc;

use mcp_core::{BoxFuture, Call, ClientFacts, Exchange, Fault, Reply, ResultBody};
use mcp_types::{ClientCapabilities, InputRequest, InputResponse, ProtocolVersion, RawObject};
use parking_lot::Mutex;
use serde::Serialize;

use super::error::{InputError, InputKind};
use super::handlers::Inputs;
use super::request::Asker;

/// Runs the layers, then the handler of the request. Layers see the request as
/// [`Call::Other`], and its response as [`ResultBody::Other`].
pub(super) async fn answer(
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
    let facts = ClientFacts::new(version).capabilities(declared.clone());
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
            Err(error) => Fault::internal(format!("the response of a layer is malformed: {error}")),
        },
        Reply::Fault(fault) => match failure.lock().take() {
            Some(error) => return Err(error),
            None => fault,
        },
        _ => Fault::internal("a layer returned a reply of another kind"),
    };
    Err(InputError::Refused { wants, fault })
}

/// Reads a request as a layer has left it.
fn read_request(call: &Call) -> Result<InputRequest, String> {
    #[derive(Serialize)]
    struct Members<'a> {
        method: &'a str,
        params: Option<&'a RawObject>,
    }

    let Call::Other { method, params } = call else {
        return Err("a layer passed on a message of another kind".to_owned());
    };
    let members = Members {
        method,
        params: params.as_ref(),
    };
    let json = serde_json::to_string(&members).map_err(|error| error.to_string())?;
    serde_json::from_str(&json).map_err(|error| error.to_string())
}
