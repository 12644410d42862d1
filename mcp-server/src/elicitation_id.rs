//! Ids of elicitations with a URL, unique for all sessions of all servers.

use mcp_core::Fault;
use mcp_types::{ElicitParams, InputRequest};

/// Length of the random part in bytes.
const ID_BYTES: usize = 16;

/// Returns a request whose elicitation with a URL has a new id, and the id. An id that a gateway passes on is unique for
/// another server only.
// spec: ELIC-08
pub(crate) fn with_id(mut request: InputRequest) -> (InputRequest, Option<String>) {
    let mut id = None;
    if let InputRequest::Elicit(params) = &mut request
        && let ElicitParams::Url(url) = &mut **params
    {
        id = random();
        url.elicitation_id.clone_from(&id);
    }
    (request, id)
}

/// Returns a fault whose elicitations have ids. Those of the handler stay.
// spec: ELIC-08, ERR-13
pub(crate) fn with_ids(mut fault: Fault) -> Fault {
    if let Fault::UrlElicitationRequired { elicitations } = &mut fault {
        for elicitation in elicitations {
            elicitation.elicitation_id = elicitation.elicitation_id.take().or_else(random);
        }
    }
    fault
}

/// Returns a random id. Without randomness the wire sets an id.
fn random() -> Option<String> {
    let mut bytes = [0; ID_BYTES];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_be_bytes(bytes)))
}
