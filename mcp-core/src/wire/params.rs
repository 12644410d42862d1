//! Parameters of the calls that both eras share, read and written member by member: a new member of a request is read here.
//! They differ between revisions in single fields.

use std::sync::Arc;

use mcp_types::{
    CallToolParams, Cursor, GetPromptParams, JsonObject, Method, MethodKind, Page, ProtocolVersion,
    ReadResourceParams, Request, Sender,
};

use super::narrow::{fitting, narrowed};
use super::server_requests::params;
use super::splice_json;
use crate::message::{Call, Fault};

/// Decodes a call. `method` is the method of `request` by its name. Methods of the protocol that this revision does not
/// have, or that only servers send, are refused. Methods that the protocol does not have are passed on to the service.
// spec: BASE-20
pub(super) fn read(
    request: &Request<'_>,
    method: Option<Method>,
    version: ProtocolVersion,
) -> Result<Call, Fault> {
    let raw = &request.params;
    let page = || -> Result<Page, Fault> {
        let cursor = raw.optional::<Cursor>("cursor")?;
        Ok(cursor.map_or_else(Page::default, Page::from))
    };
    let other = || Call::Other {
        method: (&*request.method).into(),
        params: Some(raw.without_meta()),
    };
    let Some(method) = method else {
        return Ok(other());
    };
    if !method.spec().exists_in(version) {
        return Err(Fault::no_such_method(&*request.method));
    }
    Ok(match method {
        Method::ListTools => Call::ListTools(page()?),
        Method::ListResources => Call::ListResources(page()?),
        Method::ListResourceTemplates => Call::ListResourceTemplates(page()?),
        Method::ListPrompts => Call::ListPrompts(page()?),
        Method::CallTool => {
            let name = raw.required_text("name")?;
            let mut call = CallToolParams::new(name, raw.object("arguments")?);
            // A malformed value is ignored, as by servers without tasks.
            // spec: TASKL-01, TASKL-02
            if version.has_experimental_tasks() {
                call.task = raw.optional("task").unwrap_or_default();
            }
            Call::CallTool(call)
        }
        Method::ReadResource => {
            Call::ReadResource(ReadResourceParams::from(raw.required_text("uri")?))
        }
        Method::GetPrompt => {
            let name = raw.required_text("name")?;
            Call::GetPrompt(GetPromptParams::new(name, raw.object("arguments")?))
        }
        Method::Complete => Call::Complete(Arc::new(params(request)?)),
        // Methods of tasks and skills: the service knows if it supports them.
        _ if is_client_request(method) => other(),
        _ => return Err(Fault::no_such_method(&*request.method)),
    })
}

fn is_client_request(method: Method) -> bool {
    let spec = method.spec();
    spec.kind == MethodKind::Request && spec.sender != Sender::Server
}

/// Appends the parameters of a call to an open object, and closes it.
#[inline]
pub(super) fn write(out: &mut Vec<u8>, call: &Call, to: ProtocolVersion) {
    match call {
        Call::ListTools(page)
        | Call::ListResources(page)
        | Call::ListResourceTemplates(page)
        | Call::ListPrompts(page) => splice_json(out, page),
        Call::CallTool(params) => {
            let params = fitting(params, to, |params| params.task.is_none());
            splice_json(out, &*params);
        }
        Call::ReadResource(params) => splice_json(out, params),
        Call::GetPrompt(params) => splice_json(out, params),
        Call::Complete(params) => splice_json(out, &narrowed(&**params, to)),
        Call::Other { params, .. } | Call::Notification { params, .. } => match params {
            Some(params) => splice_json(out, params),
            None => splice_json(out, &JsonObject::new()),
        },
    }
}
