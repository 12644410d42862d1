//! Blocks, receivers, names, annotations, panics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use expect_test::expect;
use mcp_core::{Fault, Reply, Service as _};
use mcp_macros::server;
use mcp_server::{Server, ToolError};
use serde_json::json;

use crate::kit::{call_error, call_text, call_with, exchange, server, tool, tools};

/// Counts.
///
///   * from zero
///   * upwards
#[server(crate = mcp_server, title = "The counter", instructions = concat!("Count", " up."))]
impl Counter {
    /// Count one up.
    #[tool]
    async fn up(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    #[tool]
    fn by_arc(self: Arc<Self>) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    #[tool]
    async fn by_reference(self: &Arc<Self>, plus: u32) -> u32 {
        Arc::clone(self).helper() + plus
    }

    #[tool]
    async fn without() -> &'static str {
        "no counter"
    }

    #[expect(clippy::needless_arbitrary_self_type, clippy::needless_lifetimes)]
    #[tool]
    fn borrowed<'a>(self: &'a Self, _unused: Option<u8>) -> &'a str {
        &self.1
    }

    #[tool]
    async fn r#async(mut self: Arc<Self>) -> u32 {
        self = Arc::clone(&self);
        self.helper()
    }

    #[cfg(any())]
    #[tool]
    fn configured_away(&self, missing: Missing) {}

    fn helper(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
struct Counter(AtomicU32, String);

#[server(crate = mcp_server, routes = more_tools)]
impl Counter {
    #[tool]
    fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

#[server(crate = ::mcp_server, routes = free_tools)]
impl Counter {
    #[tool]
    fn twice(number: i32) -> i32 {
        2 * number
    }
}

#[test]
fn methods_with_any_receiver_are_called() {
    let counter = Arc::new(Counter(AtomicU32::new(0), "text".to_owned()));
    let server = server(counter.clone());
    assert_eq!(call_text(&server, "up", "{}"), "1");
    assert_eq!(call_text(&server, "up", "{}"), "2");
    assert_eq!(call_text(&server, "by_arc", "{}"), "2");
    assert_eq!(call_text(&server, "by_reference", r#"{"plus": 3}"#), "5");
    assert_eq!(call_text(&server, "without", "{}"), "no counter");
    assert_eq!(call_text(&server, "borrowed", "{}"), "text");
    assert_eq!(call_text(&server, "async", "{}"), "2");
    assert_eq!(counter.helper(), 2, "the functions are unchanged");
}

#[test]
fn routes_from_several_blocks_merge_into_one_server() {
    let counter = Arc::new(Counter::default());
    let server = Server::of(counter.clone())
        .merge(counter.more_tools())
        .merge(Counter::free_tools());
    server.check().unwrap();
    let names: Vec<_> = tools(&server).into_iter().map(|tool| tool.name).collect();
    expect!["up by_arc by_reference without borrowed async reset twice"]
        .assert_eq(&names.join(" "));
    call_text(&server, "up", "{}");
    call_text(&server, "reset", "{}");
    assert_eq!(call_text(&server, "by_arc", "{}"), "0");
    assert_eq!(call_text(&server, "twice", r#"{"number": 4}"#), "8");
}

#[test]
fn server_info_comes_from_crate_and_doc_comment() {
    let profile = server(Counter::default()).profile();
    let info = serde_json::to_value(profile.info()).unwrap();
    assert_eq!(
        info,
        json!({
            "name": "omnimcp-server",
            "version": env!("CARGO_PKG_VERSION"),
            "title": "The counter",
            "description": "Counts.\n\n  * from zero\n  * upwards",
        })
    );
    assert_eq!(profile.instructions.as_deref(), Some("Count up."));
}

struct Named;

#[server(crate = mcp_server, name = "named", version = "2".to_owned() + ".0")]
impl Named {
    #[tool(
        name = "files.delete",
        title = "Delete",
        description = "Deletes a file.",
        destructive,
        idempotent,
        open_world = false,
        read_only = false
    )]
    fn delete(#[expect(unused_variables)] path: String) {}

    /// Reads a file.
    ///
    ///     read("a")
    ///
    /// And no more.
    #[tool(read_only, destructive = false, open_world)]
    #[doc = "Not even"]
    #[doc = concat!("this ", "one.")]
    fn read() {}

    /** Blocks
     *  as well,
     *
     *  as they are.
     */
    #[tool]
    fn block() {}

    #[tool]
    fn silent() {}
}

#[test]
fn tools_in_a_block_are_listed_with_their_options() {
    let server = server(Named);
    assert_eq!(server.profile().info().name, "named");
    assert_eq!(server.profile().info().version, "2.0");
    let tools: Vec<_> = tools(&server)
        .into_iter()
        .map(|tool| {
            let mut tool = serde_json::to_value(tool).unwrap();
            tool.as_object_mut().unwrap().remove("inputSchema");
            tool
        })
        .collect();
    expect![[r#"
        [
          {
            "name": "files.delete",
            "title": "Delete",
            "description": "Deletes a file.",
            "annotations": {
              "destructiveHint": true,
              "idempotentHint": true,
              "openWorldHint": false
            }
          },
          {
            "name": "read",
            "description": "Reads a file.\n\n    read(\"a\")\n\nAnd no more.\nNot even\nthis one.",
            "annotations": {
              "readOnlyHint": true,
              "destructiveHint": false,
              "openWorldHint": true
            }
          },
          {
            "name": "block",
            "description": "Blocks\nas well,\n\nas they are."
          },
          {
            "name": "silent"
          }
        ]"#]]
    .assert_eq(&serde_json::to_string_pretty(&tools).unwrap());
}

struct Failing;

#[server(crate = mcp_server)]
impl Failing {
    #[tool]
    fn panics(&self) -> String {
        panic!("secret")
    }

    #[tool]
    async fn panics_later(&self) -> String {
        std::future::ready(()).await;
        panic!("secret")
    }

    #[tool]
    fn fails(&self) -> Result<String, std::num::ParseIntError> {
        "x".parse::<u8>().map(|number| number.to_string())
    }

    #[tool]
    fn protocol(&self) -> Result<(), ToolError> {
        Err(ToolError::invalid_params("not so"))
    }
}

#[test]
fn panic_and_errors_in_a_method_become_results_and_faults() {
    let server = server(Failing);
    for tool in ["panics", "panics_later"] {
        let reply = call_with(&server, tool, exchange, "{}");
        let Reply::Fault(Fault::Internal(text)) = reply else {
            panic!("{reply:?}")
        };
        assert_eq!(text, format!("the handler of {tool} failed"));
    }
    assert_eq!(
        call_error(&server, "fails", "{}"),
        "invalid digit found in string"
    );
    let reply = call_with(&server, "protocol", exchange, "{}");
    assert!(
        matches!(reply, Reply::Fault(Fault::BadParams { .. })),
        "{reply:?}"
    );
}

struct Store<D>(D);

trait Db: Send + Sync + 'static {
    fn get(&self, key: &str) -> impl Future<Output = String> + Send;
}

struct Echo;

impl Db for Echo {
    async fn get(&self, key: &str) -> String {
        format!("<{key}>")
    }
}

#[server(crate = mcp_server)]
impl<D: Db> Store<D> {
    /// Look a key up.
    #[tool]
    async fn get(&self, key: String) -> String {
        self.0.get(&key).await
    }
}

#[test]
fn generic_type_is_server_for_each_type_argument() {
    let server = server(Store(Echo));
    assert_eq!(call_text(&server, "get", r#"{"key": "a"}"#), "<a>");
    assert_eq!(
        tool(&server, "get")
            .description
            .as_deref()
            .unwrap_or_default(),
        "Look a key up."
    );
}
