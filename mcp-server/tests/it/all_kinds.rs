//! Resources, prompts and completions in blocks with tools.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use mcp_core::{Call, Fault, Reply};
use mcp_macros::server;
use mcp_server::{
    Args, Json, NotFound, Prefix, PromptError, PromptMessage, ResourceError, Server, State,
    assistant, user,
};
use mcp_types::{Annotations, CacheHint, CompletionReference, ReadResourceParams, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::kit::{
    complete, fault, get_reply, get_text, prompts, read, read_reply, read_text, reply, resources,
    server, templates, tools,
};

#[derive(Serialize, JsonSchema)]
struct Profile {
    id: u64,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Language {
    Rust,
    Ruby,
    Perl,
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    owner: String,
    path: String,
}

struct Files {
    index: Vec<String>,
}

#[server(crate = mcp_server)]
impl Files {
    /// The configuration.
    #[resource("config://app", title = "Configuration", mime_type = "application/toml", cache = "5m public",
        annotations = Annotations::default().audience(Role::User))]
    async fn config(&self) -> &'static str {
        "a = 1"
    }

    #[resource("users://{id}/profile", cache = CacheHint::private(Duration::from_secs(7)))]
    async fn profile(&self, id: u64) -> Result<Json<Profile>, NotFound> {
        (id < 10).then_some(Json(Profile { id })).ok_or(NotFound)
    }

    #[resource("code://{language}{?lines}", name = "code", description = "Some code.")]
    fn code(
        self: Arc<Self>,
        #[arg(default = 3, range = 1..=9)] lines: u8,
        State(mark): State<char>,
        language: Language,
    ) -> Result<String, ResourceError> {
        Ok(format!("{mark} {language:?} {lines} {}", self.index.len()))
    }

    #[resource("git://{owner}/{+path}")]
    fn file(Args(place): Args<Place>) -> Vec<u8> {
        format!("{} {}", place.owner, place.path).into_bytes()
    }

    /// A tool, too.
    #[tool]
    fn count(&self) -> usize {
        self.index.len()
    }

    /// Review a file.
    #[prompt(title = "Review")]
    async fn review(
        &self,
        /// path below the root
        file: String,
        language: Option<Language>,
        #[arg(name = "max", default, range = 0..=5)] most: u32,
        State(mark): State<char>,
    ) -> Result<Vec<PromptMessage>, PromptError> {
        Ok(vec![
            user(format!("{file} {language:?} {most} {mark}")),
            assistant("Well."),
        ])
    }

    #[prompt]
    fn plain() -> &'static str {
        "plain"
    }

    #[completion(prompt = "review", argument = "file")]
    async fn files(&self, prefix: &str) -> Vec<String> {
        let fits = self.index.iter().filter(|file| file.starts_with(prefix));
        fits.cloned().collect()
    }

    #[completion(template = "users://{id}/profile", argument = "id")]
    fn ids(State(mark): State<char>, prefix: String) -> [String; 1] {
        [format!("{prefix}{mark}")]
    }

    #[completion(template = "git://{owner}/{+path}", argument = "owner")]
    fn owners(prefix: Prefix) -> Vec<String> {
        vec![prefix.0]
    }
}

struct Clock;

#[server(crate = mcp_server, routes = tools)]
impl Clock {
    #[resource("clock://now")]
    fn now(&self) -> Option<&'static str> {
        None
    }
}

fn files() -> Server {
    let index = vec!["lib.rs".to_owned(), "main.rs".to_owned()];
    server(
        Server::of(Files { index })
            .state('!')
            .merge(Arc::new(Clock).tools()),
    )
}

#[test]
fn routes_in_a_block_are_listed_with_their_options() {
    let server = files();
    let listed = json!({
        "resources": resources(&server),
        "templates": templates(&server),
        "prompts": prompts(&server),
        "tools": tools(&server).len(),
    });
    expect![[r#"
        {
          "resources": [
            {
              "uri": "config://app",
              "name": "config",
              "title": "Configuration",
              "description": "The configuration.",
              "mimeType": "application/toml",
              "annotations": {
                "audience": [
                  "user"
                ]
              }
            },
            {
              "uri": "clock://now",
              "name": "now"
            }
          ],
          "templates": [
            {
              "uriTemplate": "users://{id}/profile",
              "name": "profile",
              "mimeType": "application/json"
            },
            {
              "uriTemplate": "code://{language}{?lines}",
              "name": "code",
              "description": "Some code."
            },
            {
              "uriTemplate": "git://{owner}/{+path}",
              "name": "file"
            }
          ],
          "prompts": [
            {
              "name": "review",
              "title": "Review",
              "description": "Review a file.",
              "arguments": [
                {
                  "name": "file",
                  "description": "path below the root",
                  "required": true
                },
                {
                  "name": "language",
                  "required": false
                },
                {
                  "name": "max",
                  "required": false
                }
              ]
            },
            {
              "name": "plain"
            }
          ],
          "tools": 1
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&listed).unwrap());
}

#[test]
fn resources_and_templates_in_a_block_are_read() {
    let server = files();
    for (uri, text) in [
        ("config://app", "a = 1"),
        ("users://7/profile", r#"{"id":7}"#),
        ("code://rust", "! Rust 3 2"),
        ("code://perl?lines=9", "! Perl 9 2"),
    ] {
        assert_eq!(read_text(&server, uri), text, "{uri}");
    }
    assert_eq!(
        read(&server, "git://me/a/b"),
        json!([{"uri": "git://me/a/b", "blob": "bWUgYS9i"}])
    );
    for (uri, expected) in [
        (
            "users://x/profile",
            "`id`: expected a whole number, got \"x\"",
        ),
        (
            "code://lisp",
            "`language`: expected one of \"rust\", \"ruby\", \"perl\", got \"lisp\"",
        ),
        (
            "code://rust?lines=10",
            "`lines`: 10 is out of range, expected 1 to 9",
        ),
    ] {
        let expected = format!("invalid arguments: {expected}");
        assert_eq!(fault(read_reply(&server, uri)), Fault::bad_params(expected));
    }
    for uri in ["users://10/profile", "git://me/../b", "clock://now"] {
        assert!(
            matches!(fault(read_reply(&server, uri)), Fault::NoSuchItem { .. }),
            "{uri}"
        );
    }
}

#[test]
fn cache_option_sets_the_hint_for_a_resource() {
    let server = files();
    for (uri, hint) in [
        (
            "config://app",
            Some(CacheHint::public(Duration::from_secs(300))),
        ),
        (
            "users://1/profile",
            Some(CacheHint::private(Duration::from_secs(7))),
        ),
        ("code://rust", None),
    ] {
        let call = Call::ReadResource(ReadResourceParams::from(uri));
        assert!(
            matches!(reply(&server, call), Reply::Complete { cache, .. } if cache == hint),
            "{uri}"
        );
    }
}

#[test]
fn prompts_in_a_block_return_messages() {
    let server = files();
    assert_eq!(
        get_text(
            &server,
            "review",
            r#"{"file": "a", "language": "ruby", "max": "5"}"#
        ),
        "user: a Some(Ruby) 5 !\nassistant: Well."
    );
    assert_eq!(
        get_text(&server, "review", r#"{"file": "a"}"#),
        "user: a None 0 !\nassistant: Well."
    );
    assert_eq!(get_text(&server, "plain", "{}"), "user: plain");
    for (arguments, expected) in [
        ("{}", "missing `file`"),
        (
            r#"{"file": "a", "most": "1"}"#,
            "unknown `most`, expected `file`, `language`, `max`",
        ),
        (
            r#"{"file": "a", "max": "6"}"#,
            "`max`: 6 is out of range, expected 0 to 5",
        ),
        (
            r#"{"file": "a", "max": 6}"#,
            "`max`: 6 is out of range, expected 0 to 5",
        ),
        (r#"{"file": 7}"#, "`file`: expected a string, got 7"),
    ] {
        let expected = format!("invalid arguments: {expected}");
        assert_eq!(
            fault(get_reply(&server, "review", arguments)),
            Fault::bad_params(expected)
        );
    }
}

#[test]
fn completions_in_a_block_suggest_values() {
    let server = files();
    let prompt = || CompletionReference::prompt("review");
    assert_eq!(
        complete(&server, prompt(), "file", "ma").values,
        ["main.rs"]
    );
    assert_eq!(
        complete(&server, prompt(), "language", "RU").values,
        ["rust", "ruby"]
    );
    let template = CompletionReference::template;
    assert_eq!(
        complete(&server, template("users://{id}/profile"), "id", "1").values,
        ["1!"]
    );
    assert_eq!(
        complete(&server, template("git://{owner}/{+path}"), "owner", "m").values,
        ["m"]
    );
    assert_eq!(
        complete(
            &server,
            template("code://{language}{?lines}"),
            "language",
            "p"
        )
        .values,
        ["perl"]
    );
}
