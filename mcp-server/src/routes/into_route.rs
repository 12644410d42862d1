//! [`IntoRoute`].

/// A value that becomes a route of the type `R`: the route itself, or a function with `#[tool]`, `#[resource]`,
/// `#[prompt]` or `#[completion]`.
///
/// Every type with `Into<R>` implements it; do not implement it by hand.
///
/// # Examples
///
/// ```
/// use mcp::prelude::*;
///
/// #[tool]
/// fn add(a: f64, b: f64) -> f64 {
///     a + b
/// }
///
/// let server = Server::new("desk", "1.0.0")
///     .tool(add)
///     .tool(Tool::new("name").handler(|| "desk"));
/// server.check()?;
/// # Ok::<(), mcp::SetupError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `{R}`",
    label = "not a route of this kind",
    note = "a function becomes a route with `#[mcp::tool]`, `#[mcp::resource]`, `#[mcp::prompt]` or `#[mcp::completion]` on it",
    note = "without macros: `Tool::new(name).handler(function)`, `Resource::new(uri).read(function)`, `Prompt::new(name).handler(function)`",
    note = "a `#[mcp::resource]` with variables in its URI is added by `template`, one without by `resource`"
)]
pub trait IntoRoute<R> {
    /// Converts the value into the route.
    fn into_route(self) -> R;
}

// The compiler's message would be about `From`.
#[diagnostic::do_not_recommend]
impl<R, T: Into<R>> IntoRoute<R> for T {
    fn into_route(self) -> R {
        self.into()
    }
}
