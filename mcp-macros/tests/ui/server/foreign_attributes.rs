//! Attributes of serde and schemars that a form cannot express.

use mcp_macros::Elicit;

#[derive(Elicit)]
#[elicit(crate = mcp_server)]
#[serde(tag = "kind")]
struct Tagged {
    #[serde(flatten)]
    more: String,
    #[serde(deserialize_with = "read")]
    read: String,
    #[schemars(regex(pattern = "x"))]
    text: String,
    #[schemars(range(min = 1, max = 2))]
    name: String,
    #[serde(default)]
    kind: Kind,
}

#[derive(Elicit)]
#[elicit(crate = mcp_server)]
#[serde(rename_all = "lower")]
enum Kind {
    One,
    #[serde(other)]
    Two,
}

fn main() {}
