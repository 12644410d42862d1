//! Macros that write Model Context Protocol routes.
//!
//! They write what a program could write by hand: [`macro@tools`] adds a function that makes a
//! `Routes` value out of the functions marked with `#[tool]`, `#[resource]`, `#[prompt]` or
//! `#[completion]`, [`macro@server`] also makes the type a server, [`derive@Output`] makes a type a tool's result, [`derive@Elicit`]
//! a form. The functions themselves stay as they
//! are and can be called and tested as before.
//!
//! Use them through the crate `mcp`; what is emitted names its items by `::mcp::…`, or by another
//! path given as `crate = …`.
//!
//! | you look for | module |
//! |---|---|
//! | the `impl` block, what is added to it | `block` |
//! | one function, its signature | `method` |
//! | `#[tool(…)]`, `#[resource(…)]`, … and what is listed | `route` |
//! | one parameter, `#[arg(…)]` | `param` |
//! | the variables of a URI template | `variables` |
//! | `cache = "5m public"` | `cache` |
//! | `icon = …`, `meta = …` | `extras` |
//! | the derives | `output`, `elicit` |
//! | what stands in an attribute's parentheses | `options` |

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

use block::Kind;

/// Makes the type of an `impl` block a server whose tools are the functions marked with `#[tool]`,
/// and likewise its resources ([`macro@resource`]), prompts ([`macro@prompt`]) and completions
/// ([`macro@completion`]).
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
/// | `icon = …` | its picture: the URI as text, an `Icon`, or an array of these | none |
/// | `website = "…"` | where people read about it | none |
/// | `routes = name` | the name of the function that is added, see [`macro@tools`] | `tools` |
/// | `crate = path` | where the library is found | `::mcp` |
///
/// The doc comment of the block is the server's description.
///
/// # Tools
///
/// `#[tool]` takes `name = "…"` (else the function's), `title = "…"`, `description = "…"` (else the
/// doc comment), and the hints `read_only`, `destructive`, `idempotent`, `open_world`, each also
/// with `= false`; and as every route
///
/// | option | meaning |
/// |---|---|
/// | `icon = …` | its picture: the URI as text, an `Icon`, or an array of these |
/// | `meta = [("com.example/team", "search")]` | what its `_meta` says |
/// | `layer = …` | a layer around its calls: `TimeoutLayer::new(LIMIT)`, `from_fn(check)` |
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
/// | `title = "…"` | its name for people |
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

/// Adds a function that makes routes of the functions marked with `#[tool]`, `#[resource]`,
/// `#[prompt]` or `#[completion]`: for a second `impl` block, for another type, for a library.
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
    outside::expand(route::Kind::Tool, item.into()).into()
}

/// Marks a resource, or a family of resources, inside of an `impl` block that has
/// [`#[mcp::server]`](macro@server) or [`#[mcp::tools]`](macro@tools).
///
/// ```ignore
/// #[mcp::server]
/// impl Users {
///     /// How to ask.
///     #[resource("users://help", mime = "text/plain", cache = "1h public")]
///     fn help(&self) -> &'static str {
///         "Ask for a user by number."
///     }
///
///     /// One user's profile.
///     #[resource("users://{id}/profile")]
///     async fn profile(&self, id: u64) -> Result<Json<Profile>, NotFound> {
///         self.find(id).await.map(Json).ok_or(NotFound)
///     }
/// }
/// ```
///
/// A URI with `{…}` is a template of RFC 6570 (`{id}`, `{+path}`, `{/a}`, `{?a,b}`). Each of its
/// variables goes to the parameter of its name, read as the parameter's type: numbers, `bool`,
/// enums, strings; a value that does not fit is an error of the protocol that names it. Every other
/// parameter is an extractor. `Args<T>` takes all variables at once.
///
/// | option | meaning | without it |
/// |---|---|---|
/// | `name = "…"` | name for programs | the function's |
/// | `title = "…"` | name for people | none |
/// | `description = "…"` | what it is | the doc comment |
/// | `mime = "…"` | the MIME type | that of the result: `application/json` of `Json<T>` |
/// | `annotations = …` | `Annotations` | none |
/// | `icon = …`, `meta = …`, `layer = …` | as for [`#[tool]`](macro@server) | none |
/// | `cache = "5m public"` | how long clients may keep it, and for whom; or a `CacheHint` | not at all |
///
/// The result is whatever becomes contents (`IntoContents`): text, bytes, `Json<T>`, an `Option` or
/// a `Result` of these.
#[proc_macro_attribute]
pub fn resource(_: TokenStream, item: TokenStream) -> TokenStream {
    outside::expand(route::Kind::Resource, item.into()).into()
}

/// Marks a prompt inside of an `impl` block that has [`#[mcp::server]`](macro@server) or
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
/// Parameters are as for [`#[tool]`](macro@server), with `#[arg(…)]` but for `header`. Clients send
/// all of them as strings; numbers, `bool` and enums are read from them.
///
/// Options: `name = "…"`, `title = "…"`, `description = "…"`, and `icon = …`, `meta = …`,
/// `layer = …` as for [`#[tool]`](macro@server).
///
/// The result is whatever becomes a conversation (`IntoPrompt`): text, messages, a `Result` of these.
#[proc_macro_attribute]
pub fn prompt(_: TokenStream, item: TokenStream) -> TokenStream {
    outside::expand(route::Kind::Prompt, item.into()).into()
}

/// Marks what completes an argument of a prompt or a variable of a URI template, inside of an `impl`
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
/// A parameter of type `&str` or `String` is what was typed so far; every other one is an extractor,
/// such as `Args<T>` for the arguments that have their values already. Arguments whose type is an
/// enum complete by themselves.
#[proc_macro_attribute]
pub fn completion(_: TokenStream, item: TokenStream) -> TokenStream {
    outside::expand(route::Kind::Completion, item.into()).into()
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

/// Makes a struct a form that a user is asked to fill in, and an enum without fields a choice in
/// such a form.
///
/// ```ignore
/// #[derive(mcp::Elicit)]
/// struct Booking {
///     /// Who is coming
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
/// an `Option` of one of these, which may stay empty. The doc comment is the field's description;
/// of a value of an enum it is the title.
///
/// | option of a field | meaning |
/// |---|---|
/// | `name = "…"` | another name than the field's |
/// | `title = "…"` | what it is called |
/// | `description = "…"` | instead of the doc comment |
/// | `default = value` | what it begins with; its value where the client leaves it out |
/// | `range = 1..=12` | a number's range; also `0..`, `..=5` |
/// | `length = 1..=40` | a text's characters, a list's items |
/// | `format = "email"` | a text's format: `email`, `uri`, `date`, `date-time` |
///
/// A value of an enum has `name = "…"` and `title = "…"`. `#[elicit(crate = path)]` on the type says
/// where the library is found; `::mcp` without it.
#[proc_macro_derive(Elicit, attributes(elicit))]
pub fn derive_elicit(input: TokenStream) -> TokenStream {
    elicit::expand(input.into()).into()
}
