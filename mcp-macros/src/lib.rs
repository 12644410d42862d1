//! Macros that write Model Context Protocol routes.
//!
//! They write what a program could write by hand: [`macro@tools`] adds a function that makes a
//! `Routes` value out of the functions marked with `#[tool]`, [`macro@server`] also makes the type
//! a server, [`derive@Output`] makes a type a tool's result. The functions themselves stay as they
//! are and can be called and tested as before.
//!
//! Use them through the crate `mcp`; what is emitted names its items by `::mcp::…`, or by another
//! path given as `crate = …`.
//!
//! | you look for | module |
//! |---|---|
//! | the `impl` block, what is added to it | `block` |
//! | one function, its route | `tool` |
//! | one parameter, `#[arg(…)]` | `param` |
//! | the derive | `output` |
//! | what stands in an attribute's parentheses | `options` |

mod block;
mod docs;
mod errors;
mod options;
mod output;
mod outside;
mod param;
mod tool;

use proc_macro::TokenStream;

use block::Kind;

/// Makes the type of an `impl` block a server whose tools are the functions marked with `#[tool]`.
///
/// ```ignore
/// struct Calculator;
///
/// /// Arithmetic for people who cannot be bothered.
/// #[mcp::server]
/// impl Calculator {
///     /// Add two numbers.
///     #[tool(read_only)]
///     async fn add(&self, /** first addend */ a: f64, b: f64) -> f64 {
///         a + b
///     }
/// }
///
/// let server = mcp::Server::of(Calculator);
/// ```
///
/// The type implements `IntoServer`, and so does an `Arc` of it. It must be `Send + Sync`: calls
/// run at the same time.
///
/// # Options
///
/// | option | meaning | without it |
/// |---|---|---|
/// | `name = "…"` | the server's name | the crate's |
/// | `version = "…"` | the server's version | the crate's |
/// | `title = "…"` | its name for people | none |
/// | `instructions = "…"` | how to use it, for a language model | none |
/// | `routes = name` | the name of the function that is added, see [`macro@tools`] | `tools` |
/// | `crate = path` | where the library is found | `::mcp` |
///
/// The doc comment of the block is the server's description.
///
/// # Tools
///
/// `#[tool]` takes `name = "…"` (else the function's), `title = "…"`, `description = "…"` (else the
/// doc comment), and the hints `read_only`, `destructive`, `idempotent`, `open_world`, each also
/// with `= false`.
///
/// A tool is `async` or not, takes `&self`, `self: Arc<Self>`, `self: &Arc<Self>` or none of them,
/// and returns whatever becomes a result (`IntoToolResult`). It cannot be generic.
///
/// # Parameters
///
/// A parameter whose type is an extractor (`FromCall`: `State`, `Progress`, `Log`, `Headers`, …) is
/// found in the call. Every other one is an argument of the tool, sent by the client: its type must
/// be `Deserialize` and `JsonSchema`, an `Option` may be left out, and its doc comment is its
/// description. Or take all arguments in one struct, as `Args<T>`. What goes beyond a type stands
/// in `#[arg(…)]`:
///
/// | option | meaning |
/// |---|---|
/// | `name = "…"` | another name than the parameter's |
/// | `description = "…"` | instead of the doc comment |
/// | `default`, `default = value` | its value when it is left out; published in the schema |
/// | `range = 1..=100` | a number's range: published and checked; also `0..`, `..5` |
/// | `header = "Region"` | repeated in the HTTP header `Mcp-Param-Region`; never for secrets |
///
/// ```ignore
/// #[mcp::server(name = "shop", instructions = "Search before you order.")]
/// impl Shop {
///     /// Find articles.
///     #[tool(title = "Search", read_only)]
///     async fn search(
///         &self,
///         /// words that all must occur
///         words: Vec<String>,
///         /// how many to show
///         #[arg(default = 10, range = 1..=100)]
///         limit: u32,
///         State(db): State<Db>,
///         progress: Progress,
///     ) -> Result<Json<Vec<Article>>, ToolError> {
///         progress.report(0.0, 1.0, "searching").await;
///         Ok(Json(db.search(&words, limit).await?))
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn server(options: TokenStream, item: TokenStream) -> TokenStream {
    block::expand(Kind::Server, options.into(), item.into()).into()
}

/// Adds a function that makes routes of the functions marked with `#[tool]`: for a second `impl`
/// block, for tools of another type, for tools of a library.
///
/// ```ignore
/// struct Clock {
///     started: Instant,
/// }
///
/// #[mcp::tools]
/// impl Clock {
///     /// Seconds since the start.
///     #[tool]
///     fn now(&self) -> u64 {
///         self.started.elapsed().as_secs()
///     }
/// }
///
/// let server = Server::of(Calculator).merge(Arc::new(clock).tools());
/// ```
///
/// What is added is `pub(crate) fn tools(self: Arc<Self>) -> Routes`, or
/// `pub(crate) fn tools() -> Routes` where no tool of the block takes `self`. `routes = name` gives
/// it another name, which the second block of one type needs. Nobody calls it? Then the compiler
/// warns of unused code: the tools are in no server.
///
/// Everything else is as for [`macro@server`].
#[proc_macro_attribute]
pub fn tools(options: TokenStream, item: TokenStream) -> TokenStream {
    block::expand(Kind::Tools, options.into(), item.into()).into()
}

/// Marks a tool inside of an `impl` block that has [`#[mcp::server]`](macro@server) or
/// [`#[mcp::tools]`](macro@tools), which say what it takes. Anywhere else it is a mistake.
///
/// ```ignore
/// #[mcp::tools]
/// impl Clock {
///     /// Seconds since the start.
///     #[tool(read_only)]
///     fn now(&self) -> u64 {
///         self.started.elapsed().as_secs()
///     }
/// }
/// ```
#[proc_macro_attribute]
pub fn tool(_: TokenStream, item: TokenStream) -> TokenStream {
    outside::expand(item.into()).into()
}

/// Makes a type that is `Serialize` and `JsonSchema` a tool's result: structured content with an
/// output schema, and the same as text. `Json<T>` does so for types of others.
///
/// ```ignore
/// #[derive(serde::Serialize, schemars::JsonSchema, mcp::Output)]
/// struct Sum {
///     /// the sum
///     total: f64,
/// }
/// ```
///
/// `#[output(crate = path)]` says where the library is found; `::mcp` without it.
#[proc_macro_derive(Output, attributes(output))]
pub fn derive_output(input: TokenStream) -> TokenStream {
    output::expand(input.into()).into()
}
