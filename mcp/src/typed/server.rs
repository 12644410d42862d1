//! [`CatalogServer`].

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use mcp_server::{
    CallContext, FromCall as _, Handler, IntoContents, IntoPrompt, IntoToolResult, PromptError,
    PromptExt as _, PromptHandler, RawArgs, ReadHandler, Rejection, ResourceError,
    ResourceExt as _, RouteSpec, Server, ToolError, ToolExt as _,
};
use mcp_types::{
    CallToolResult, GetPromptResult, Prompt, ReadResourceResult, Resource, ResourceTemplate, Tool,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Builds a server from a catalog and an implementation of a generated trait. The catalog's
/// definitions are listed as they are.
///
/// Handlers get the implementation, the typed arguments and the call's context.
pub struct CatalogServer<T> {
    server: Server,
    catalog: Value,
    implementation: Arc<T>,
}

/// Defines the methods that add a route.
macro_rules! routes {
    ($($(#[$doc:meta])* $method:ident: $list:literal, $key:literal, $definition:ident::new, $create:ident, $add:ident, $output:ty, $error:ty;)*) => {
        impl<T: Send + Sync + 'static> CatalogServer<T> {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $method<A, F, Fut>(mut self, key: &str, handler: F) -> Self
                where
                    A: DeserializeOwned + Send + 'static,
                    F: Fn(Arc<T>, A, CallContext) -> Fut + Clone + Send + Sync + 'static,
                    Fut: Future<Output = Result<$output, $error>> + Send + 'static,
                {
                    let definition = self.definition($list, $key, key);
                    let definition: $definition =
                        definition.unwrap_or_else(|| $definition::new(key));
                    let handler = self.handler(handler);
                    self.server = self.server.$add(definition.$create(handler));
                    self
                }
            )*
        }
    };
}

routes! {
    /// Adds a tool without typed results.
    tool: "tools", "name", Tool::new, handler, tool, CallToolResult, ToolError;
    /// Adds a prompt.
    prompt: "prompts", "name", Prompt::new, handler, prompt, GetPromptResult, PromptError;
    /// Adds a resource by its URI.
    resource: "resources", "uri", Resource::new, read, resource, ReadResourceResult, ResourceError;
    /// Adds a URI template.
    template: "resourceTemplates", "uriTemplate", ResourceTemplate::new, read, template, ReadResourceResult, ResourceError;
}

impl<T: Send + Sync + 'static> CatalogServer<T> {
    /// Creates a server without routes. The catalog is the JSON of a snapshot.
    pub fn new(
        name: impl Into<String>,
        version: impl Into<String>,
        catalog: &str,
        implementation: T,
    ) -> Self {
        Self {
            server: Server::new(name, version),
            catalog: serde_json::from_str(catalog).unwrap_or_default(),
            implementation: Arc::new(implementation),
        }
    }

    /// Adds a tool whose result is structured content.
    #[must_use]
    pub fn typed_tool<A, O, F, Fut>(self, name: &str, handler: F) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        O: Serialize + Send + 'static,
        F: Fn(Arc<T>, A, CallContext) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<O, ToolError>> + Send + 'static,
    {
        self.tool(name, move |implementation, arguments: A, call| {
            let output = handler(implementation, arguments, call);
            async move { Ok(CallToolResult::from_json(&output.await?)?) }
        })
    }

    /// Returns the server.
    pub fn finish(self) -> Server {
        self.server
    }

    /// Finds the definition of an item in the catalog.
    fn definition<D: DeserializeOwned>(&self, list: &str, key: &str, name: &str) -> Option<D> {
        let items = self.catalog.get(list)?.as_array()?;
        let item = items
            .iter()
            .find(|item| item.get(key).and_then(Value::as_str) == Some(name))?;
        serde_json::from_value(item.clone()).ok()
    }

    fn handler<A, F>(&self, function: F) -> CatalogHandler<T, A, F> {
        CatalogHandler {
            implementation: Arc::clone(&self.implementation),
            function,
            arguments: PhantomData,
        }
    }
}

impl<T> fmt::Debug for CatalogServer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogServer").finish_non_exhaustive()
    }
}

/// A function with the whole call context.
struct CatalogHandler<T, A, F> {
    implementation: Arc<T>,
    function: F,
    arguments: PhantomData<fn() -> A>,
}

impl<T, A, F: Clone> Clone for CatalogHandler<T, A, F> {
    fn clone(&self) -> Self {
        Self {
            implementation: Arc::clone(&self.implementation),
            function: self.function.clone(),
            arguments: PhantomData,
        }
    }
}

/// Marker of [`CatalogServer`] handlers.
enum WithContext {}

/// Implements the handler traits.
macro_rules! handlers {
    ($($handler:ident -> $result:ident;)*) => {
        $(
            impl<T, A, F, Fut> $handler<WithContext> for CatalogHandler<T, A, F>
            where
                T: Send + Sync + 'static,
                A: DeserializeOwned + Send + 'static,
                F: Fn(Arc<T>, A, CallContext) -> Fut + Clone + Send + Sync + 'static,
                Fut: Future<Output: $result> + Send,
            {
                type Output = Fut::Output;

                fn describe(_: &mut RouteSpec) {}

                async fn call(&self, mut call: CallContext) -> Result<Self::Output, Rejection> {
                    let arguments = RawArgs::from_call(&mut call)?.parse()?;
                    let implementation = Arc::clone(&self.implementation);
                    Ok((self.function)(implementation, arguments, call).await)
                }
            }
        )*
    };
}

handlers! {
    Handler -> IntoToolResult;
    PromptHandler -> IntoPrompt;
    ReadHandler -> IntoContents;
}
