//! The published input schema.

use expect_test::{Expect, expect};
use mcp_macros::server;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kit::{input, server};

/// A place in a tree.
#[derive(Deserialize, JsonSchema)]
struct Node {
    #[expect(dead_code)]
    children: Vec<Self>,
}

/// Where to.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Env {
    Test,
    Live,
}

struct Desk;

#[server(crate = mcp_server)]
#[expect(unused_variables)]
impl Desk {
    #[tool]
    fn plain(
        &self,
        /// first addend
        a: f64,
        #[doc = "second addend"] b: u8,
        /** a note,
        in two lines */
        note: Option<String>,
    ) {
    }

    #[tool]
    fn options(
        &self,
        /// how many
        #[arg(default = 10, range = 1..=100)]
        limit: u32,
        #[arg(range = ..0.5, description = "a share")] share: f64,
        #[arg(default = vec!["a".to_owned()])] tags: Vec<String>,
        #[arg(header = "Region")] region: Option<String>,
        #[arg(default = Env::Test)] env: Env,
        env_2: Env,
    ) {
    }

    #[tool]
    fn recursive(
        &self,
        one: Node,
        /** another one */
        two: Node,
        any: serde_json::Value,
    ) {
    }

    #[tool]
    fn nothing(&self) {}
}

fn check(tool: &str, expected: &Expect) {
    let schema = input(&server(Desk), tool);
    expected.assert_eq(&serde_json::to_string_pretty(&schema).unwrap());
}

#[test]
fn plain() {
    check("plain", &expect![[]]);
}

#[test]
fn options() {
    check("options", &expect![[]]);
}

#[test]
fn definitions_are_shared() {
    check("recursive", &expect![[]]);
}

#[test]
fn nothing() {
    check("nothing", &expect![[]]);
}
