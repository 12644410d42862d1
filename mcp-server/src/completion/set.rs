//! The completions of a server.

use mcp_types::CompletionReference;

use super::CompletionRoute;

#[derive(Debug)]
pub(crate) struct CompletionSet(Vec<CompletionRoute>);

impl CompletionSet {
    #[inline]
    pub(crate) fn new(routes: &[CompletionRoute]) -> Self {
        Self(routes.to_vec())
    }

    /// The handler that completes an argument.
    #[inline]
    pub(crate) fn get(
        &self,
        reference: &CompletionReference,
        argument: &str,
    ) -> Option<&CompletionRoute> {
        let mut routes = self.0.iter();
        routes.find(|route| route.reference() == reference && route.argument() == argument)
    }
}
