//! Requests of extensions, by the names of their methods.

use mcp_core::{Call, ResultBody};
use mcp_types::RawObject;
use serde::Serialize;

use super::with_arguments;
use crate::{Client, PreparedCall};

impl Client {
    /// Makes a request of an extension, by its method. The parameters are anything that serializes
    /// to a JSON object, or `()` for none; the result is read with [`RawObject::parse`].
    ///
    /// The types of the extensions that this crate knows are in [`mcp_types::ext`]. Whether the
    /// server has an extension tell its [capabilities](Self::server_capabilities); which ones this
    /// client has, [`ClientBuilder::capabilities`](crate::ClientBuilder::capabilities).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp_types::ext::skills::ListSkillsResult;
    ///
    /// # async fn example(client: mcp_client::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let found: ListSkillsResult = client.request("skills/list", ()).await?.parse()?;
    /// for skill in found.skills {
    ///     println!("{}", skill.uri);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn request<'a>(
        &self,
        method: impl Into<Box<str>>,
        params: impl Serialize,
    ) -> PreparedCall<'a, RawObject> {
        let method = method.into();
        let call = |params| Call::Other { method, params };
        with_arguments(self, &params, call, |body| match body {
            ResultBody::Other(result) => Some(result),
            _ => None,
        })
    }
}
