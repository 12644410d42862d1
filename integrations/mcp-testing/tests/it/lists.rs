//! Lists from a server that sends too much: the bytes of all pages, and what stays in memory afterwards.

use std::borrow::Cow;
use std::future::ready;
use std::sync::atomic::{AtomicUsize, Ordering};

use allocation_counter::measure;
use futures_util::stream;
use mcp::core::{BoxFuture, Channel, Frame, Frames, OutgoingRequest};
use mcp::events::EventClient;
use mcp::schema::JsonSchema;
use mcp::skills::SkillsClient;
use mcp::{Cache, Client, Over};
use serde_json::{Value, json};
use tokio::runtime::Builder;

const MIB: usize = 1 << 20;

/// A list method of a client. It returns the number of items.
type List = fn(&Client) -> BoxFuture<'_, Result<usize, String>>;

/// Converts the outcome of a list.
fn counted<T, E: ToString>(list: Result<Vec<T>, E>) -> Result<usize, String> {
    list.map(|items| items.len())
        .map_err(|error| error.to_string())
}

/// Every method that requests all pages of a list, by protocol method.
const LISTS: [(&str, List); 6] = [
    ("tools/list", |client| {
        Box::pin(async move { counted(client.list_tools().await) })
    }),
    ("prompts/list", |client| {
        Box::pin(async move { counted(client.list_prompts().await) })
    }),
    ("resources/list", |client| {
        Box::pin(async move { counted(client.list_resources().await) })
    }),
    ("resources/templates/list", |client| {
        Box::pin(async move { counted(client.list_resource_templates().await) })
    }),
    ("skills/list", |client| {
        Box::pin(async move { counted(SkillsClient::new(client).await.unwrap().list().await) })
    }),
    ("events/list", |client| {
        Box::pin(async move { counted(EventClient::new(client).unwrap().list().await) })
    }),
];

/// A server whose lists have `pages` pages with one large item each. No two items have the same name.
struct Large {
    pages: usize,
    /// The text of each item.
    text: String,
    items: AtomicUsize,
}

/// Stands for the text of an item.
const TEXT: &str = "$TEXT";

impl Large {
    /// Returns the result of a list method, with [`TEXT`] in place of the text.
    fn page(&self, method: &str, page: usize) -> Value {
        let number = self.items.fetch_add(1, Ordering::Relaxed);
        let schema = json!({"type": "object"});
        let (member, item) = match method {
            "tools/list" => {
                let output = json!({"type": "object", "description": TEXT});
                let tool = json!({"name": format!("t{number}"), "inputSchema": schema, "outputSchema": output});
                ("tools", tool)
            }
            "prompts/list" => {
                let prompt = json!({"name": format!("p{number}"), "description": TEXT});
                ("prompts", prompt)
            }
            "resources/list" => {
                let resource =
                    json!({"uri": format!("a:{number}"), "name": "a", "description": TEXT});
                ("resources", resource)
            }
            "resources/templates/list" => {
                let template = json!({"uriTemplate": format!("a:{number}/{{b}}"), "name": "a", "description": TEXT});
                ("resourceTemplates", template)
            }
            "skills/list" => {
                let frontmatter = json!({"name": "a", "description": TEXT});
                let uri = format!("skill://s{number}/SKILL.md");
                (
                    "skills",
                    json!({"uri": uri, "frontmatter": frontmatter, "resources": "dynamic"}),
                )
            }
            "events/list" => {
                let event = json!({
                    "name": format!("e{number}"), "description": TEXT, "delivery": ["poll"],
                    "inputSchema": schema, "payloadSchema": schema,
                });
                ("events", event)
            }
            other => panic!("{other}"),
        };
        let mut result = json!({"ttlMs": 3_600_000, "cacheScope": "private"});
        result[member] = Value::Array(vec![item]);
        if page + 1 < self.pages {
            result["nextCursor"] = json!((page + 1).to_string());
        }
        result
    }
}

impl Channel for Large {
    fn call(&self, out: OutgoingRequest) -> Frames {
        let request: Value = serde_json::from_slice(&out.body).unwrap();
        let result = match request["method"].as_str().unwrap() {
            "server/discover" => json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": {
                    "tools": {}, "prompts": {}, "resources": {},
                    "extensions": {
                        "io.modelcontextprotocol/skills": {},
                        "io.modelcontextprotocol/events": {},
                    },
                },
            }),
            method => {
                let cursor = request["params"]["cursor"].as_str();
                self.page(method, cursor.map_or(0, |cursor| cursor.parse().unwrap()))
            }
        };
        let response = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        let frame = Frame::new(response.to_string().replace(TEXT, &self.text));
        Box::pin(stream::once(ready(Ok(frame))))
    }

    fn peer(&self) -> Cow<'_, str> {
        "a large server".into()
    }
}

/// Runs `work` for a client of a server with such lists. Returns the largest number of bytes that were
/// allocated at once, and the number that is still allocated afterwards.
fn memory(
    pages: usize,
    item_bytes: usize,
    cache: Cache,
    work: impl AsyncFn(&Client),
) -> (usize, usize) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let server = Large {
        pages,
        text: "x".repeat(item_bytes),
        items: AtomicUsize::new(0),
    };
    let builder = Client::builder().validate_with(JsonSchema).cache(cache);
    let client = runtime.block_on(builder.connect(Over(server))).unwrap();
    let memory = measure(|| runtime.block_on(work(&client)));
    let stays = usize::try_from(memory.bytes_current).unwrap_or_default();
    (usize::try_from(memory.bytes_max).unwrap(), stays)
}

#[test]
fn bytes_in_every_list_are_bounded() {
    for (method, list) in LISTS {
        let (peak, stays) = memory(40, 4 * MIB, Cache::default(), async |client: &Client| {
            let error = list(client).await.unwrap_err();
            let expected = "the list has more than 67108864 bytes; raise `max_list_bytes`";
            assert!(error.ends_with(expected), "{method}: {error}");
        });
        // The items of 64 MiB, and one page on its way.
        assert!(peak < 112 * MIB, "{method}: {peak}");
        // The cache has 8 MiB, and the index of tools 16 MiB.
        assert!(stays < 28 * MIB, "{method}: {stays}");
    }
}

#[test]
fn items_that_are_no_longer_listed_do_not_stay() {
    for (method, list) in LISTS {
        let (_, stays) = memory(2, MIB, Cache::new(0), async |client: &Client| {
            for _ in 0..10 {
                assert_eq!(list(client).await, Ok(2), "{method}");
            }
        });
        // One of the ten lists.
        assert!(stays < 3 * MIB, "{method}: {stays}");
    }
}
