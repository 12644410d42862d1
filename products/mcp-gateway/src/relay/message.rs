//! Headers and errors of relayed messages.

use bytes::Bytes;
use mcp_core::{ChannelError, Fault, MirroredHeaders, OutgoingRequest, modern, with_causes};
use mcp_types::{Method, ParseError, ProtocolVersion, RawJson, Request, RequestId};
use serde_json::json;

/// Returns the revision of a request. `session` is the revision of the legacy session, if there is one.
pub(super) fn version_of(
    request: &Request<'_>,
    session: Option<ProtocolVersion>,
) -> Result<ProtocolVersion, Fault> {
    let modern = modern::request_version(request)?;
    Ok(modern.or(session).unwrap_or(ProtocolVersion::LATEST_LEGACY))
}

/// Returns the values of a request that HTTP repeats in headers.
pub(super) fn mirrored(request: &Request<'_>, version: ProtocolVersion) -> MirroredHeaders {
    let name_param = Method::from_name(&request.method).and_then(|method| method.spec().name_param);
    let name = name_param.and_then(|param| request.params.text(param).ok().flatten());
    MirroredHeaders::new(version, &request.method, name.as_deref())
}

/// Builds the relay's own `tools/list` request, with the `_meta` of a client request.
pub(super) fn list_tools(
    id: RequestId,
    version: ProtocolVersion,
    meta: RawJson<'_>,
    cursor: Option<&str>,
) -> Option<OutgoingRequest> {
    let method = Method::ListTools.as_str();
    let mut params =
        json!({ "_meta": serde_json::from_str::<serde_json::Value>(meta.as_str()).ok()? });
    if let Some(cursor) = cursor {
        params["cursor"] = cursor.into();
    }
    let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let mirrored = MirroredHeaders::new(version, method, None);
    Some(OutgoingRequest::new(id, body.to_string(), mirrored))
}

/// Encodes an error response.
pub(super) fn error(
    fault: &Fault,
    id: Option<&RequestId>,
    version: Option<ProtocolVersion>,
) -> Bytes {
    fault
        .encode(id, version.unwrap_or(ProtocolVersion::LATEST))
        .into()
}

/// Encodes the error response to a message that is not valid JSON-RPC.
pub(super) fn parse_error(error: &ParseError) -> Bytes {
    self::error(&error.clone().into(), error.id(), None)
}

/// Describes why the server did not answer.
pub(super) fn describe(error: &ChannelError) -> Fault {
    let causes = with_causes(error);
    Fault::internal(format!("the server did not answer the relay: {causes}"))
}
