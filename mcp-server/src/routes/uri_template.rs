//! URI templates of RFC 6570 as patterns: from a URI to the variable values.
//!
//! | expression | matches |
//! |---|---|
//! | `{id}` | a part of one path segment |
//! | `{+path}` | several path segments; once per template |
//! | `{/a}{/b}` | whole path segments at the end of the path; each is optional with all after it |
//! | `{?a,b}` | the query, in any order; each is optional |
//!
//! Other expressions of RFC 6570 are rejected when the route is created.

mod matching;
mod parse;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use matching::Variables;
pub(super) use parse::{UriTemplate, check_uri};
