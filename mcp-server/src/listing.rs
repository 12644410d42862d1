//! Lists: routes by name, and one page for now, written once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

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

/// Routes by their names, and what is listed of them, in the order of registration. Of two routes
/// with one name the first one is kept; `check` of the server has told the author.
pub(crate) fn index<R: Clone, T: Clone>(
    routes: &[R],
    item: fn(&R) -> &T,
    name: fn(&T) -> &str,
) -> (HashMap<Box<str>, R>, Vec<T>) {
    let mut by_name = HashMap::with_capacity(routes.len());
    let mut listed = Vec::with_capacity(routes.len());
    for route in routes {
        let item = item(route);
        if let Entry::Vacant(slot) = by_name.entry(name(item).into()) {
            listed.push(item.clone());
            slot.insert(route.clone());
        }
    }
    (by_name, listed)
}
