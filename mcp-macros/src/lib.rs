//! Macros that generate Model Context Protocol routes from functions.
//!
//! The macros generate ordinary Rust code. [`macro@server`] makes a type a server, with the functions
//! marked with `#[tool]`, `#[resource]`, `#[prompt]` or `#[completion]`. [`derive@Output`] makes a type a
//! tool result. [`derive@Elicit`] makes a type a form for users. The marked functions do not change,
//! so other code and tests can call them directly.
//!
//! Use the macros through the crate `mcp`. Generated code calls `::mcp::__private`; the option
//! `crate = …` sets another path to the library.
//!
//! # Modules
//!
//! A module uses only modules above it in this table.
//!
//! | module | content |
//! |---|---|
//! | `errors` | collection of compile errors |
//! | `docs` | doc comments |
//! | `options` | options of an attribute, the path of the library |
//! | `variables` | variables of a URI template |
//! | `task` | `task = "after 1s"` |
//! | `cache` | `cache = "5m public"` |
//! | `extras` | `icon = …`, `meta = …` |
//! | `route` | `#[tool(…)]`, `#[resource(…)]`, … and their options |
//! | `param` | one parameter, `#[arg(…)]` |
//! | `method` | one marked function and its signature |
//! | `block` | the `impl` block and the code that is generated for it |
//! | `function` | a marked function outside such a block |
//! | `rename`, then `foreign` | attributes of serde and schemars |
//! | `output`, `elicit` | the derives |

mod block;
mod cache;
mod docs;
mod elicit;
mod errors;
mod extras;
mod foreign;
mod function;
mod method;
mod options;
mod output;
mod param;
mod rename;
mod route;
mod task;
mod variables;

use proc_macro::TokenStream;

/// Makes the type of an `impl` block a server. `#[tool]` marks the functions that are its tools.
/// [`macro@resource`], [`macro@prompt`] and [`macro@completion`] mark its resources, prompts and
/// completions.
///
/// ```
/// struct Calculator;
///
/// /// Arithmetic.
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
/// The type and an `Arc` of it implement `IntoServer`. The type must be `Send + Sync`, because calls
/// run concurrently.
///
/// # Options
///
/// | option | meaning | default |
/// |---|---|---|
/// | `name = "…"` | the server's name | the crate's name |
/// | `version = "…"` | the server's version | the crate's version |
/// | `title = "…"` | the display name | none |
/// | `instructions = "…"` | instructions for language models | none |
/// | `icon = …` | the icon: a URI as a string, an `Icon`, or an array of these | none |
/// | `website = "…"` | the URL of a website about the server | none |
/// | `routes = name` | only a function with this name, see [further blocks](#further-blocks) | none |
/// | `crate = path` | the path to the library | `::mcp` |
///
/// The block's doc comment is the server's description.
///
/// # Tools
///
/// `#[tool]` has the options `name = "…"` (default: the function's name), `title = "…"`,
/// `description = "…"` (default: the doc comment), and the hints `read_only`, `destructive`,
/// `idempotent` and `open_world`, which also accept `= false`. `app = "ui://…"` links it to a user
/// interface, and `app_only` hides it from language models. Every route has these options:
///
/// | option | meaning |
/// |---|---|
/// | `icon = …` | the icon: a URI as a string, an `Icon`, or an array of these |
/// | `meta = [("com.example/team", "search")]` | members of `_meta` |
/// | `layer = …` | a layer around the calls, for example `TimeoutLayer::new(LIMIT)` or `from_fn(check)` |
/// | `blocking` | the function, which is not `async`, runs on a thread for blocking work: use it when the function reads files, waits or computes for more than some milliseconds. The server needs the feature `http` or `stdio`. The function runs to its end, also when the client cancels the call |
/// | `visible_to = …` | a function of the `Caller`; for callers that it does not accept the item does not exist (not for completions) |
/// | `scopes("files:write")` | scopes that the token of the caller needs, see `ToolRoute::scopes`; not for completions |
///
/// A tool may be `async`. It takes `&self`, `self: Arc<Self>`, `self: &Arc<Self>` or no receiver, and
/// returns a type that implements `IntoToolResult`. It cannot be generic.
///
/// # Parameters
///
/// If the type of a parameter is an extractor (`FromCall`: `State`, `Progress`, `Log`, `Headers`, …),
/// the server fills the parameter from the call. Every other parameter is an argument that the client
/// sends. The type of an argument must be `Deserialize` and `JsonSchema`, clients may omit an `Option`,
/// and the doc comment is the description. `Args<T>` receives all arguments as one struct. `#[arg(…)]`
/// sets further options:
///
/// | option | meaning |
/// |---|---|
/// | `name = "…"` | the name, instead of the parameter's |
/// | `title = "…"` | the display name |
/// | `description = "…"` | the description, instead of the doc comment |
/// | `default`, `default = value` | the value if the client omits the argument; published in the schema |
/// | `range = 1..=100` | the range of a number, published and checked; also `0..`, `..5` |
/// | `length = 1..=40` | the number of characters in a string, or elements in a list; published and checked |
/// | `pattern = "^[a-z]+$"` | the regular expression that a string matches; published and checked |
/// | `header = "Region"` | clients copy the argument into the header `Mcp-Param-Region`; not for secrets |
///
/// ```
/// use mcp::prelude::*;
///
/// # #[derive(serde::Serialize, schemars::JsonSchema)]
/// # struct Article { name: String }
/// # #[derive(Clone)]
/// # struct Db;
/// # impl Db {
/// #     async fn search(&self, _: &[String], _: u32) -> std::io::Result<Vec<Article>> {
/// #         Ok(Vec::new())
/// #     }
/// # }
/// struct Shop;
///
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
///
/// # Further blocks
///
/// With `routes = name` the type does not become a server. The macro adds the function
/// `pub(crate) fn name(self: Arc<Self>) -> Routes`, or `pub(crate) fn name() -> Routes` if no function of
/// the block takes `self`. It returns the marked functions as routes. Use it for a second `impl` block,
/// for another type, or in a library. The compiler warns when the function is unused: its routes are
/// then not part of any server. `routes` combines only with `crate`.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Instant;
///
/// use mcp::prelude::*;
///
/// # struct Calculator;
/// # #[mcp::server]
/// # impl Calculator {}
/// struct Clock {
///     started: Instant,
/// }
///
/// #[mcp::server(routes = tools)]
/// impl Clock {
///     /// Seconds since the start.
///     #[tool]
///     fn now(&self) -> u64 {
///         self.started.elapsed().as_secs()
///     }
/// }
///
/// let clock = Clock { started: Instant::now() };
/// let server = Server::of(Calculator).merge(Arc::new(clock).tools());
/// ```
#[proc_macro_attribute]
pub fn server(options: TokenStream, item: TokenStream) -> TokenStream {
    block::expand(options.into(), item.into()).into()
}

/// Makes a function a tool: a free function, or one in an `impl` block that has
/// [`#[mcp::server]`](macro@server), which describes the options and the parameters.
///
/// ```
/// use std::time::Instant;
///
/// use mcp::prelude::*;
/// use mcp::routes;
///
/// /// Add two numbers.
/// #[mcp::tool(read_only)]
/// fn add(a: f64, b: f64) -> f64 {
///     a + b
/// }
///
/// /// Seconds since the start of the server.
/// #[mcp::tool]
/// async fn uptime(State(started): State<Instant>) -> u64 {
///     started.elapsed().as_secs()
/// }
///
/// let server = Server::new("calculator", "1.0.0").tool(add).tool(uptime).state(Instant::now());
/// let same = Server::new("calculator", "1.0.0").merge(routes![add, uptime]).state(Instant::now());
/// assert_eq!(add(1.0, 2.0), 3.0);
/// ```
///
/// The name of a free function becomes a value that converts into a route, and that is called like the
/// function. The call of an `async` function boxes its future. In the function's module, no local
/// variable and no parameter of another function may have this name; the compiler reports it. A free
/// function has the additional option `crate = path`, the path to the library.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(route::RouteKind::Tool, options.into(), item.into()).into()
}

/// Makes a function a resource or a URI template: a free function (see [`macro@tool`]), or one in an `impl` block that has
/// [`#[mcp::server]`](macro@server).
///
/// ```
/// use mcp::prelude::*;
///
/// # #[derive(serde::Serialize, schemars::JsonSchema)]
/// # struct Profile {}
/// # struct Users;
/// # impl Users { async fn find(&self, _: u64) -> Option<Profile> { None } }
/// #[mcp::server]
/// impl Users {
///     /// Instructions.
///     #[resource("users://help", mime_type = "text/plain", cache = "1h public")]
///     fn help(&self) -> &'static str {
///         "Ask for a user by number."
///     }
///
///     /// The profile of a user.
///     #[resource("users://{id}/profile")]
///     async fn profile(&self, id: u64) -> Result<Json<Profile>, NotFound> {
///         self.find(id).await.map(Json).ok_or(NotFound)
///     }
/// }
/// ```
///
/// A URI with `{…}` is a URI template of RFC 6570 (`{id}`, `{+path}`, `{/a}`, `{?a,b}`). A parameter
/// that has the same name as a variable receives the variable's value, decoded into the type of
/// the parameter: a number, `bool`, enum or string. If decoding fails, the client receives a protocol
/// error that names the variable. Every other parameter is an extractor. `Args<T>` receives all
/// variables as one struct.
///
/// | option | meaning | default |
/// |---|---|---|
/// | `name = "…"` | the name for programs | the name of the function |
/// | `title = "…"` | the display name | none |
/// | `description = "…"` | the description | the doc comment |
/// | `mime_type = "…"` | the MIME type | from the result type, such as `application/json` for `Json<T>` |
/// | `annotations = …` | `Annotations` | none |
/// | `icon = …`, `meta = …`, `layer = …`, `blocking`, `scopes(…)` | as in [`#[tool]`](macro@server) | none |
/// | `cache = "5m public"` | maximum age, `public` or `private`; or a `CacheHint` | no caching |
/// | `encoded_slashes("…")` | variables that take an encoded slash, see `TemplateRoute::encoded_slashes` | none |
/// | `list = list_notes` | the function that lists a template's resources: a method of the block, or another function of extractors; see `TemplateRoute::list` | none |
///
/// The function returns a type that implements `IntoContents`: a string, bytes, `Json<T>`, or an
/// `Option` or a `Result` of these.
#[proc_macro_attribute]
pub fn resource(options: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(route::RouteKind::Resource, options.into(), item.into()).into()
}

/// Makes a function a prompt: a free function (see [`macro@tool`]), or one in an `impl` block that has
/// [`#[mcp::server]`](macro@server).
///
/// ```
/// use mcp::prelude::*;
///
/// # #[derive(serde::Deserialize, schemars::JsonSchema)]
/// # enum Language { English, French }
/// # struct Reviews;
/// #[mcp::server]
/// impl Reviews {
///     /// Review a file.
///     #[prompt(title = "Review")]
///     async fn review(
///         &self,
///         /// path below the root
///         file: String,
///         language: Option<Language>,
///     ) -> Vec<PromptMessage> {
///         vec![user(format!("Review {file}."))]
///     }
/// }
/// ```
///
/// Parameters work as in [`#[tool]`](macro@server), with all options of `#[arg(…)]` except `header`.
/// Clients send all arguments as strings; numbers, `bool`s and enums are parsed.
///
/// Options: `name = "…"`, `title = "…"`, `description = "…"`, and `icon = …`, `meta = …`,
/// `layer = …`, `blocking` and `scopes(…)` as in [`#[tool]`](macro@server).
///
/// The function returns a type that implements `IntoPrompt`: a string, messages, or a `Result` of
/// these.
#[proc_macro_attribute]
pub fn prompt(options: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(route::RouteKind::Prompt, options.into(), item.into()).into()
}

/// Makes a function complete a prompt's argument or a URI template's variable: a free function (see
/// [`macro@tool`]), or one in an `impl` block that has [`#[mcp::server]`](macro@server).
///
/// ```
/// # struct Index;
/// # impl Index { async fn starting_with(&self, _: &str) -> Vec<String> { Vec::new() } }
/// # struct Reviews { index: Index, ids: Vec<String> }
/// #[mcp::server]
/// impl Reviews {
///     #[completion(prompt = "review", argument = "file")]
///     async fn files(&self, prefix: &str) -> Vec<String> {
///         self.index.starting_with(prefix).await
///     }
///
///     #[completion(template = "users://{id}/profile", argument = "id")]
///     fn ids(&self, prefix: &str) -> Vec<String> {
///         self.ids.iter().filter(|id| id.starts_with(prefix)).cloned().collect()
///     }
/// }
/// ```
///
/// A parameter of type `&str` or `String` receives the text that the user has typed. Every other
/// parameter is an extractor, such as `Args<T>` for the arguments that already have values. Arguments
/// whose type is an enum need no completion: the server suggests the values of the enum.
#[proc_macro_attribute]
pub fn completion(options: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(route::RouteKind::Completion, options.into(), item.into()).into()
}

/// Makes a type a tool result: structured content with an output schema, and the same JSON as
/// text. The type must implement `Serialize` and `JsonSchema`. Use `Json<T>` for types of other crates.
///
/// ```
/// #[derive(serde::Serialize, schemars::JsonSchema, mcp::Output)]
/// struct Sum {
///     /// the sum
///     total: f64,
/// }
/// ```
///
/// `#[output(crate = path)]` sets the path to the library; the default is `::mcp`.
#[proc_macro_derive(Output, attributes(output))]
pub fn derive_output(input: TokenStream) -> TokenStream {
    output::expand(input.into()).into()
}

/// Makes a struct a form that the client shows to its user, or an enum without fields a choice in such
/// a form.
///
/// ```
/// use mcp::prelude::*;
///
/// #[derive(Elicit)]
/// struct Booking {
///     /// Name on the reservation
///     #[elicit(title = "Name", length = 1..=40)]
///     name: String,
///     #[elicit(range = 1..=12, default = 2)]
///     guests: u8,
///     #[elicit(format = "email")]
///     mail: Option<String>,
///     table: Option<Table>,
/// }
///
/// #[derive(Elicit)]
/// enum Table {
///     /// At the window
///     Window,
///     #[elicit(name = "garden", title = "In the garden")]
///     Garden,
/// }
///
/// # async fn example(ask: Ask) -> Result<(), ToolError> {
/// let booking = ask.form::<Booking>("booking", "A table for you?").await?;
/// # Ok(())
/// # }
/// ```
///
/// A field is a `String`, a number, a `bool`, an enum with this derive, or a `Vec` of such an enum.
/// The user may leave an `Option` empty. A field's doc comment is its description. An enum
/// variant's doc comment is the choice's title.
///
/// | option of a field | meaning |
/// |---|---|
/// | `name = "…"` | the name, instead of the field's |
/// | `title = "…"` | the display name |
/// | `description = "…"` | the description, instead of the doc comment |
/// | `default = value` | the initial value in the form, and the value if the client omits the field |
/// | `range = 1..=12` | the range of a number; also `0..`, `..=5` |
/// | `length = 1..=40` | the number of characters in a string, or items in a list |
/// | `format = "email"` | a string's format: `email`, `uri`, `date`, `date-time` |
///
/// The attributes of serde and schemars apply as well: `rename`, `rename_all`, `default`, `skip`, `range`,
/// `length`, `email`, `url`, `title` and `description`. One that a form cannot express is an error.
/// `#[elicit(…)]` takes precedence.
///
/// An enum variant has the options `name = "…"` and `title = "…"`. `#[elicit(crate = path)]` on the
/// type sets the path to the library; the default is `::mcp`.
#[proc_macro_derive(Elicit, attributes(elicit, schemars, serde))]
pub fn derive_elicit(input: TokenStream) -> TokenStream {
    elicit::expand(input.into()).into()
}
