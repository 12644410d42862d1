//! Ids of elicitations with a URL, unique for all sessions of all servers.

use mcp_core::Fault;

/// Length of the random part in bytes.
const ID_BYTES: usize = 16;

/// Returns a new id. `topic` is that of the session whose client is asked: the id begins with it, so that the session
/// is found when the user has finished. Without randomness the wire sets an id.
// spec: ELIC-08
pub(crate) fn random(topic: Option<&str>) -> Option<String> {
    let mut bytes = [0; ID_BYTES];
    getrandom::fill(&mut bytes).ok()?;
    let topic = topic.unwrap_or_default();
    Some(format!("{topic}{:032x}", u128::from_be_bytes(bytes)))
}

/// Returns a fault whose elicitations have ids. Those of the handler stay.
// spec: ELIC-08, ERR-13
pub(crate) fn with_ids(mut fault: Fault) -> Fault {
    if let Fault::UrlElicitationRequired { elicitations } = &mut fault {
        for elicitation in elicitations {
            elicitation.elicitation_id = elicitation.elicitation_id.take().or_else(|| random(None));
        }
    }
    fault
}
