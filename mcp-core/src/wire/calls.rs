//! The calls that all revisions share, read and written. Their parameters differ in single members
//! alone.

use mcp_types::{
    CallToolParams, CompleteParams, Cursor, GetPromptParams, JsonObject, Method, Page,
    ProtocolVersion, ReadResourceParams, Request,
};

use super::splice_json;
use crate::{Call, Fault};

/// Reads a call. Methods that the protocol has, but not in this revision or not for servers, are
/// unknown; methods that it does not have at all are for the service to know.
// spec: BASE-20
pub(super) fn read(request: &Request<'_>, version: ProtocolVersion) -> Result<Call, Fault> {
    let params = &request.params;
    let page = || -> Result<Page, Fault> {
        let cursor = params.optional::<Cursor>("cursor")?;
        Ok(cursor.map_or_else(Page::first, Page::at))
    };
    let Some(method) = Method::from_name(&request.method) else {
        let method = (&*request.method).into();
        return Ok(Call::Other {
            method,
            params: Some(params.without_meta()),
        });
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
            let name: String = params.required("name")?;
            Call::CallTool(CallToolParams::new(name, params.object("arguments")?))
        }
        Method::ReadResource => {
            Call::ReadResource(ReadResourceParams::new(params.required::<String>("uri")?))
        }
        Method::GetPrompt => {
            let name: String = params.required("name")?;
            Call::GetPrompt(GetPromptParams::new(name, params.object("arguments")?))
        }
        Method::Complete => Call::Complete(complete(request)?),
        _ => return Err(Fault::no_such_method(&*request.method)),
    })
}

fn complete(request: &Request<'_>) -> Result<CompleteParams, Fault> {
    let params = request.params.without_meta();
    params
        .parse()
        .map_err(|error| Fault::bad_params(format!("`params`: {error}")))
}

/// Writes the parameters of a call behind an open object that has members already, and closes it.
pub(super) fn write_params(out: &mut Vec<u8>, call: &Call) {
    match call {
        Call::ListTools(page)
        | Call::ListResources(page)
        | Call::ListResourceTemplates(page)
        | Call::ListPrompts(page) => splice_json(out, page),
        Call::CallTool(params) => splice_json(out, params),
        Call::ReadResource(params) => splice_json(out, params),
        Call::GetPrompt(params) => splice_json(out, params),
        Call::Complete(params) => splice_json(out, params),
        Call::Other {
            params: Some(params),
            ..
        } => splice_json(out, params),
        Call::Other { params: None, .. } => splice_json(out, &JsonObject::new()),
    }
}
