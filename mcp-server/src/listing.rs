//! Lists: one page for now, written once.

use mcp_core::{Fault, Reply, ResultBody};
use mcp_types::{CacheHint, Page};

/// A whole list as an answer: always the same text, in the order of registration.
// spec: TOOL-03, TOOL-04, PAG-05, CACHE-01
pub(crate) fn listed(page: &Page, body: ResultBody, cache: Option<CacheHint>) -> Reply {
    match page.cursor {
        None => Reply::Complete { body, cache },
        Some(_) => {
            Fault::bad_params("`params.cursor`: unknown cursor; start again without one").into()
        }
    }
}
