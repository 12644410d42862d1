//! Lines that the log of a tool set has already: definitions are made for each request to a model.

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

use mcp_types::escape_line;

/// Tools left out of one list of definitions that are logged one by one.
const MAX_LOGGED: usize = 20;

#[derive(Default)]
pub(crate) struct Logged {
    /// The names of listed tools that were left out.
    left_out: BTreeSet<String>,
    /// The number of tools beyond those that the provider accepts.
    beyond: usize,
    /// The servers of the last list that failed.
    failing: BTreeSet<Arc<str>>,
}

impl Logged {
    /// Logs the tools that are left out, each of them once while it is listed, and how many are `beyond` the largest number.
    pub(crate) fn warn_of_left_out(
        &mut self,
        listed: BTreeSet<&str>,
        (beyond, max): (usize, usize),
        mut left_out: Vec<(&str, String)>,
    ) {
        if mem::replace(&mut self.beyond, beyond) != beyond && beyond > 0 {
            tracing::warn!(
                left_out = beyond,
                max,
                "the provider accepts fewer tools; use `deferred`"
            );
        }
        self.keep_new(listed, &mut left_out);
        for (name, reason) in left_out.iter().take(MAX_LOGGED) {
            let reason = escape_line(reason).into_owned();
            tracing::warn!(name, reason, "a tool is left out");
        }
        let further = left_out.len().saturating_sub(MAX_LOGGED);
        if further > 0 {
            tracing::warn!(further, "further tools are left out");
        }
    }

    /// Keeps the tools that were not left out before, or were not `listed` meanwhile.
    fn keep_new(&mut self, listed: BTreeSet<&str>, left_out: &mut Vec<(&str, String)>) {
        self.left_out.retain(|name| listed.contains(&**name));
        left_out.retain(|(name, _)| self.left_out.insert((*name).to_owned()));
    }

    /// Logs the servers whose tools are left out, unless those of the last list were.
    pub(crate) fn warn_of_failures(&mut self, failures: &[(Arc<str>, mcp_client::Error)]) {
        let failing = failures.iter().map(|(server, _)| server.clone());
        let known = mem::replace(&mut self.failing, failing.collect());
        for (server, error) in failures {
            if !known.contains(server) {
                let error = escape_line(&error.to_string()).into_owned();
                tracing::warn!(server = %mcp_types::escaped(&server), error, "the tools of a server are left out");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Logged;

    #[test]
    fn tool_that_is_left_out_is_logged_once_while_it_is_listed() {
        let mut logged = Logged::default();
        let mut counts = Vec::new();
        for listed in [&["a", "b"][..], &["a", "b"], &["b"], &["a", "b", "c"]] {
            let reason = |name: &&'static str| (*name, "too large".to_owned());
            let mut left_out: Vec<_> = listed.iter().map(reason).collect();
            logged.keep_new(listed.iter().copied().collect(), &mut left_out);
            counts.push(left_out.len());
            assert_eq!(logged.left_out.len(), listed.len());
        }
        assert_eq!(counts, [2, 0, 0, 2]);
    }
}
