//! The calls that all revisions share, read and written. Their parameters differ in single members
//! alone.

use std::sync::Arc;

use mcp_types::{
    CallToolParams, Cursor, GetPromptParams, JsonObject, Method, MethodKind, Page, ProtocolVersion,
    ReadResourceParams, Request, Sender,
};

use super::asks::whole;
use super::narrow::{fitting, narrowed};
use super::splice_json;
use crate::{Call, Fault};

/// Reads a call. Methods that the protocol has, but not in this revision or not for servers, are
/// unknown; methods that it does not have at all are for the service to know.
// spec: BASE-20
pub(super) fn read(request: &Request<'_>, version: ProtocolVersion) -> Result<Call, Fault> {
    let params = &request.params;
    let page = || -> Result<Page, Fault> {
        let cursor = params.optional_value::<Cursor>("cursor")?;
        Ok(cursor.map_or_else(Page::first, Page::at))
    };
    let other = || Call::Other {
        method: (&*request.method).into(),
        params: Some(params.without_meta()),
    };
    let Some(method) = Method::from_name(&request.method) else {
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
            let name = params.required_text("name")?;
            let mut call = CallToolParams::new(name, params.object("arguments")?);
            // Ignored by those who run no tasks, whatever it is.
            // spec: TASKL-01, TASKL-02
            if version.has_experimental_tasks() {
                call.task = params.optional_value("task").unwrap_or_default();
            }
            Call::CallTool(call)
        }
        Method::ReadResource => {
            Call::ReadResource(ReadResourceParams::new(params.required_text("uri")?))
        }
        Method::GetPrompt => {
            let name = params.required_text("name")?;
            Call::GetPrompt(GetPromptParams::new(name, params.object("arguments")?))
        }
        Method::Complete => Call::Complete(Arc::new(whole(request)?)),
        // The table knows the methods of tasks and skills; whether there are any, the service knows.
        _ if is_asked_by_clients(method) => other(),
        _ => return Err(Fault::no_such_method(&*request.method)),
    })
}

fn is_asked_by_clients(method: Method) -> bool {
    let spec = method.spec();
    spec.kind == MethodKind::Request && spec.sender != Sender::Server
}

/// Writes the parameters of a call behind an open object, and closes it.
#[inline]
pub(super) fn write_params(out: &mut Vec<u8>, call: &Call, to: ProtocolVersion) {
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
        Call::Other {
            params: Some(params),
            ..
        } => splice_json(out, params),
        Call::Other { params: None, .. } => splice_json(out, &JsonObject::new()),
    }
}
