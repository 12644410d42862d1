//! Macros that generate Model Context Protocol routes from functions.
//!
//! The generated code is code that a program could contain by hand: [`macro@tools`] adds a function
//! that returns the functions marked with `#[tool]`, `#[resource]`, `#[prompt]` or `#[completion]` as
//! `Routes`. [`macro@server`] also makes the type a server. [`derive@Output`] makes a type the result
//! of a tool, [`derive@Elicit`] a form. The marked functions stay unchanged, so they can be called and
//! tested as before.
//!
//! Use the macros through the crate `mcp`. Generated code calls `::mcp::__private`; the option
//! `crate = …` sets another path of the library.
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
//! | `cache` | `cache = "5m public"` |
//! | `extras` | `icon = …`, `meta = …` |
//! | `route` | `#[tool(…)]`, `#[resource(…)]`, … and the listed item |
//! | `param` | one parameter, `#[arg(…)]` |
//! | `method` | one function, its signature |
//! | `block` | the `impl` block and the functions that are added to it |
//! | `outside` | `#[tool]` outside of such a block |
//! | `output`, `elicit` | the derives |

mod block;
mod cache;
mod docs;
mod elicit;
mod errors;
mod extras;
mod method;
mod options;
mod output;
mod outside;
mod param;
mod route;
mod variables;

use proc_macro::TokenStream;

use block::BlockKind;

/// Makes the type of an `impl` block a server. Its tools are the functions marked with `#[tool]`;
/// [`macro@resource`], [`macro@prompt`] and [`macro@completion`] mark its resources, prompts and
/// completions.
///
/// ```ignore
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
/// | `name = "…"` | the server's name | the crate's |
/// | `version = "…"` | the server's version | the crate's |
/// | `title = "…"` | the name for users | none |
/// | `instructions = "…"` | instructions for language models | none |
/// | `icon = …` | the icon: a URI as a string, an `Icon`, or an array of these | none |
/// | `website = "…"` | the URL of a website about the server | none |
/// | `routes = name` | the name of the added function, see [`macro@tools`] | `tools` |
/// | `crate = path` | the path of the library | `::mcp` |
///
/// The doc comment of the block is the server's description.
///
/// # Tools
///
/// `#[tool]` has the options `name = "…"` (default: the function's name), `title = "…"`,
/// `description = "…"` (default: the doc comment), and the hints `read_only`, `destructive`,
/// `idempotent` and `open_world`, each also with `= false`. Every route has these options:
///
/// | option | meaning |
/// |---|---|
/// | `icon = …` | the icon: a URI as a string, an `Icon`, or an array of these |
/// | `meta = [("com.example/team", "search")]` | members of `_meta` |
/// | `layer = …` | a layer around the calls: `TimeoutLayer::new(LIMIT)`, `from_fn(check)` |
///
/// A tool may be `async`. It takes `&self`, `self: Arc<Self>`, `self: &Arc<Self>` or no receiver, and
/// returns a type that implements `IntoToolResult`. It cannot be generic.
///
/// # Parameters
///
/// A parameter whose type is an extractor (`FromCall`: `State`, `Progress`, `Log`, `Headers`, …) is
/// taken from the call. Every other parameter is an argument that the client sends: its type must
/// be `Deserialize` and `JsonSchema`, clients may omit an `Option`, and the doc comment is its
/// description. `Args<T>` takes all arguments as one struct. `#[arg(…)]` sets further options:
///
/// | option | meaning |
/// |---|---|
/// | `name = "…"` | the name, instead of the parameter's |
/// | `title = "…"` | the name for users |
/// | `description = "…"` | the description, instead of the doc comment |
/// | `default`, `default = value` | the value if the client omits the argument; published in the schema |
/// | `range = 1..=100` | the range of a number, published and checked; also `0..`, `..5` |
/// | `header = "Region"` | the argument is mirrored in the HTTP header `Mcp-Param-Region`; not for secrets |
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
    block::expand(BlockKind::Server, options.into(), item.into()).into()
}

/// Adds a function that returns the functions marked with `#[tool]`, `#[resource]`, `#[prompt]` or
/// `#[completion]` as routes: for a second `impl` block, for another type, for a library.
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
/// The function is `pub(crate) fn tools(self: Arc<Self>) -> Routes`, or
/// `pub(crate) fn tools() -> Routes` if no function of the block takes `self`. `routes = name` sets
/// another name, which the second block of a type needs. The compiler warns when the function is
/// unused, because then the tools are in no server.
///
/// Everything else is as in [`macro@server`].
#[proc_macro_attribute]
pub fn tools(options: TokenStream, item: TokenStream) -> TokenStream {
    block::expand(BlockKind::Tools, options.into(), item.into()).into()
}

/// Marks a tool in an `impl` block that has [`#[mcp::server]`](macro@server) or
/// [`#[mcp::tools]`](macro@tools). [`macro@server`] describes the options. Anywhere else the attribute
/// is an error.
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
    outside::expand(route::RouteKind::Tool, item.into()).into()
}

/// Marks a resource or a URI template in an `impl` block that has [`#[mcp::server]`](macro@server) or
/// [`#[mcp::tools]`](macro@tools).
///
/// ```ignore
/// #[mcp::server]
/// impl Users {
///     /// Instructions.
///     #[resource("users://help", mime = "text/plain", cache = "1h public")]
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
/// A URI with `{…}` is a template of RFC 6570 (`{id}`, `{+path}`, `{/a}`, `{?a,b}`). The parameter
/// with the name of a variable receives its value, decoded into the parameter's type: numbers,
/// `bool`, enums, strings. A value that does not match is a protocol error that names the variable.
/// Every other parameter is an extractor. `Args<T>` takes all variables as one struct.
///
/// | option | meaning | default |
/// |---|---|---|
/// | `name = "…"` | the name for programs | the function's |
/// | `title = "…"` | the name for users | none |
/// | `description = "…"` | the description | the doc comment |
/// | `mime = "…"` | the MIME type | that of the result type: `application/json` for `Json<T>` |
/// | `annotations = …` | `Annotations` | none |
/// | `icon = …`, `meta = …`, `layer = …` | as in [`#[tool]`](macro@server) | none |
/// | `cache = "5m public"` | how long clients may cache it and whether shared caches may; or a `CacheHint` | no caching |
///
/// The function returns a type that implements `IntoContents`: text, bytes, `Json<T>`, an `Option` or
/// a `Result` of these.
#[proc_macro_attribute]
pub fn resource(_: TokenStream, item: TokenStream) -> TokenStream {
    outside::expand(route::RouteKind::Resource, item.into()).into()
}

/// Marks a prompt in an `impl` block that has [`#[mcp::server]`](macro@server) or
/// [`#[mcp::tools]`](macro@tools).
///
/// ```ignore
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
/// Parameters are as in [`#[tool]`](macro@server), with `#[arg(…)]` except `header`. Clients send all
/// arguments as strings; numbers, `bool`s and enums are parsed.
///
/// Options: `name = "…"`, `title = "…"`, `description = "…"`, and `icon = …`, `meta = …`,
/// `layer = …` as in [`#[tool]`](macro@server).
///
/// The function returns a type that implements `IntoPrompt`: text, messages, a `Result` of these.
#[proc_macro_attribute]
pub fn prompt(_: TokenStream, item: TokenStream) -> TokenStream {
    outside::expand(route::RouteKind::Prompt, item.into()).into()
}

/// Marks a completion of an argument of a prompt or of a variable of a URI template, in an `impl`
/// block that has [`#[mcp::server]`](macro@server) or [`#[mcp::tools]`](macro@tools).
///
/// ```ignore
/// #[mcp::tools]
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
pub fn completion(_: TokenStream, item: TokenStream) -> TokenStream {
    outside::expand(route::RouteKind::Completion, item.into()).into()
}

/// Makes a type that is `Serialize` and `JsonSchema` a result of tools: structured content with an
/// output schema, and the same JSON as text. Use `Json<T>` for types of other crates.
///
/// ```ignore
/// #[derive(serde::Serialize, schemars::JsonSchema, mcp::Output)]
/// struct Sum {
///     /// the sum
///     total: f64,
/// }
/// ```
///
/// `#[output(crate = path)]` sets the path of the library; the default is `::mcp`.
#[proc_macro_derive(Output, attributes(output))]
pub fn derive_output(input: TokenStream) -> TokenStream {
    output::expand(input.into()).into()
}

/// Makes a struct a form for users, and an enum without fields a choice in a form.
///
/// ```ignore
/// #[derive(mcp::Elicit)]
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
/// #[derive(mcp::Elicit)]
/// enum Table {
///     /// At the window
///     Window,
///     #[elicit(name = "garden", title = "In the garden")]
///     Garden,
/// }
///
/// let booking = ask.form::<Booking>("booking", "A table for you?").await?;
/// ```
///
/// A field is a `String`, a number, a `bool`, an enum with this derive, a `Vec` of such an enum, or
/// an `Option` of one of these, which the user may leave empty. The doc comment of a field is its
/// description; that of an enum's value is its title.
///
/// | option of a field | meaning |
/// |---|---|
/// | `name = "…"` | the name, instead of the field's |
/// | `title = "…"` | the name for users |
/// | `description = "…"` | the description, instead of the doc comment |
/// | `default = value` | the initial value, also if the client omits the field |
/// | `range = 1..=12` | the range of a number; also `0..`, `..=5` |
/// | `length = 1..=40` | the number of characters of a text, or of items of a list |
/// | `format = "email"` | the format of a text: `email`, `uri`, `date`, `date-time` |
///
/// A value of an enum has the options `name = "…"` and `title = "…"`. `#[elicit(crate = path)]` on
/// the type sets the path of the library; the default is `::mcp`.
#[proc_macro_derive(Elicit, attributes(elicit))]
pub fn derive_elicit(input: TokenStream) -> TokenStream {
    elicit::expand(input.into()).into()
}
