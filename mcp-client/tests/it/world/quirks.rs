//! The table of the quirk laboratory: what servers in the field send, and what becomes of it. A new row is one entry of
//! [`QUIRKS`]; `docs/world.md` is written from it.

/// A row of the table.
pub(super) struct Quirk {
    /// The deviation.
    pub(super) name: &'static str,
    /// A public report. Empty: found by the generated deviations.
    pub(super) source: &'static str,
    pub(super) call: Call,
    /// The server's responses, one for each request.
    pub(super) sent: &'static [Sent],
    /// The outcome for a `Client`: the items or texts, and what is left out.
    pub(super) client: &'static str,
    /// The outcome for a group with this server, named `s`, if it differs.
    pub(super) group: Option<&'static str>,
    /// The outcome for a gateway's client, if it differs from the group's. The server is named `s` there.
    pub(super) gateway: Option<&'static str>,
    /// The outcome for a tool set, if it differs from that of a client. It has tools only.
    pub(super) tool_set: Option<&'static str>,
}

/// A row whose other outcomes are those of a client.
const ROW: Quirk = Quirk {
    name: "",
    source: "",
    call: Tools,
    sent: &[],
    client: "",
    group: None,
    gateway: None,
    tool_set: None,
};

#[derive(Clone, Copy)]
pub(super) enum Call {
    Tools,
    Resources,
    Prompts,
    Tool,
    Prompt,
    Resource,
}

impl Call {
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::Prompts => "prompts/list",
            Self::Tool => "tools/call",
            Self::Prompt => "prompts/get",
            Self::Resource => "resources/read",
        }
    }
}

#[derive(Clone, Copy)]
pub(super) enum Sent {
    /// A result.
    Result(&'static str),
    /// A whole message. `$ID` stands for the request's id.
    Message(&'static str),
}

use Call::{Prompt, Prompts, Resource, Resources, Tool, Tools};
use Sent::{Message, Result};

pub(super) const QUIRKS: &[Quirk] = &[
    Quirk {
        name: "a tool without `inputSchema`",
        source: "https://github.com/mastra-ai/mastra/issues/21859",
        call: Tools,
        sent: &[Result(
            r#"{"tools":[{"name":"a","inputSchema":{}},{"name":"bad"},{"name":"b","inputSchema":{}}]}"#,
        )],
        client: "a, b; `bad` (tools[1]) is left out: missing field `inputSchema`",
        group: Some("s__a, s__b; `bad` (tools[1]) is left out: missing field `inputSchema`"),
        ..ROW
    },
    Quirk {
        name: "a tool whose `inputSchema` is `null`",
        source: "https://github.com/IvanMurzak/Unity-MCP/issues/440",
        call: Tools,
        sent: &[Result(
            r#"{"tools":[{"name":"bad","inputSchema":null},{"name":"a","inputSchema":{}}]}"#,
        )],
        client: "a; `bad` (tools[0]) is left out: inputSchema: invalid type: null, expected a map",
        group: Some(
            "s__a; `bad` (tools[0]) is left out: inputSchema: invalid type: null, expected a map",
        ),
        ..ROW
    },
    Quirk {
        name: "`properties` of a schema is `[]`",
        source: "https://github.com/use-novamira/novamira/issues/82",
        call: Tools,
        sent: &[Result(
            r#"{"tools":[{"name":"a","inputSchema":{"type":"object","properties":[]}}]}"#,
        )],
        client: "a",
        group: Some("s__a"),
        ..ROW
    },
    Quirk {
        name: "`[]` where only an object can stand",
        source: "https://github.com/logiscape/mcp-sdk-php/issues/1",
        call: Tools,
        sent: &[Result(
            r#"{"tools":[{"name":"a","inputSchema":[],"annotations":[],"_meta":[]}],"_meta":[]}"#,
        )],
        client: "a",
        group: Some("s__a"),
        ..ROW
    },
    Quirk {
        name: "a hint of a tool as text",
        source: "",
        call: Tools,
        sent: &[Result(
            r#"{"tools":[{"name":"bad","inputSchema":{},"annotations":{"readOnlyHint":"yes"}},{"name":"a","inputSchema":{}}]}"#,
        )],
        client: "a; `bad` (tools[0]) is left out: annotations.readOnlyHint: invalid type: string \"yes\", expected a boolean",
        group: Some(
            "s__a; `bad` (tools[0]) is left out: annotations.readOnlyHint: invalid type: string \"yes\", expected a boolean",
        ),
        ..ROW
    },
    Quirk {
        name: "a cursor that returns the same page without end",
        source: "https://github.com/DeusData/codebase-memory-mcp/issues/1247",
        call: Tools,
        sent: &[
            Result(r#"{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":"1"}"#),
            Result(r#"{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":"1"}"#),
        ],
        client: "a; page 2 is left out: the server repeats its pages: the list ends here",
        group: Some("s__a; page 2 is left out: the server repeats its pages: the list ends here"),
        ..ROW
    },
    Quirk {
        name: "an empty cursor on the last page",
        source: "https://github.com/modelcontextprotocol/csharp-sdk/issues/1072",
        call: Tools,
        sent: &[
            Result(r#"{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":""}"#),
            Result(r#"{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":""}"#),
        ],
        client: "a; page 2 is left out: the server repeats its pages: the list ends here",
        group: Some("s__a; page 2 is left out: the server repeats its pages: the list ends here"),
        ..ROW
    },
    Quirk {
        name: "an empty cursor before another page",
        source: "https://github.com/PrefectHQ/fastmcp/pull/5026",
        call: Tools,
        sent: &[
            Result(r#"{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":""}"#),
            Result(r#"{"tools":[{"name":"b","inputSchema":{}}]}"#),
        ],
        client: "a, b",
        group: Some("s__a, s__b"),
        ..ROW
    },
    Quirk {
        name: "a list that is `null`",
        source: "",
        call: Resources,
        sent: &[Result(r#"{"resources":null}"#)],
        client: "",
        ..ROW
    },
    Quirk {
        name: "a number as cursor",
        source: "",
        call: Prompts,
        sent: &[Result(r#"{"prompts":[{"name":"a"}],"nextCursor":0}"#)],
        client: "a; nextCursor is left out: nextCursor: invalid type: integer `0`, expected a string",
        group: Some(
            "s__a; nextCursor is left out: nextCursor: invalid type: integer `0`, expected a string",
        ),
        ..ROW
    },
    Quirk {
        name: "names that model providers refuse",
        source: "https://github.com/github/copilot-cli/issues/1879",
        call: Tools,
        sent: &[Result(
            r#"{"tools":[{"name":"files.read","inputSchema":{}},{"name":"files_read","inputSchema":{}},{"name":"Create CIFS Share","inputSchema":{}}]}"#,
        )],
        client: "files.read, files_read, Create CIFS Share",
        group: Some("s__files_read_b42e0134, s__files_read, s__Create_CIFS_Share"),
        tool_set: Some("files_read_ba20ec16, files_read_c9f80631, Create_CIFS_Share"),
        ..ROW
    },
    Quirk {
        name: "a name above 64 characters",
        source: "https://github.com/anthropics/claude-code/issues/19882",
        call: Tools,
        sent: &[Result(
            r#"{"tools":[{"name":"billing_cost_management_get_reservation_purchase_recommendation_details","inputSchema":{}}]}"#,
        )],
        client: "billing_cost_management_get_reservation_purchase_recommendation_details",
        group: Some("s__billing_cost_management_get_reservation_purchase_rec_6f7bb3e5"),
        gateway: Some("s__billing_cost_management_get_reservat_6f7bb3e5"),
        tool_set: Some("billing_cost_management_get_reservation_purchase_recomm_e5f7abde"),
    },
    Quirk {
        name: "text that JavaScript has cut inside of a character",
        source: "https://github.com/agent0ai/agent-zero/issues/1773",
        call: Tool,
        sent: &[Result(
            r#"{"content":[{"type":"text","text":"cut \ud83d"}]}"#,
        )],
        client: "cut \u{fffd}",
        ..ROW
    },
    Quirk {
        name: "a description that JavaScript has cut inside of a character",
        source: "https://github.com/agent0ai/agent-zero/issues/1773",
        call: Tools,
        sent: &[Result(
            r#"{"tools":[{"name":"a","description":"cut \ud83d","inputSchema":{}}]}"#,
        )],
        client: "a",
        group: Some("s__a"),
        ..ROW
    },
    Quirk {
        name: "a content block that cannot be read",
        source: "",
        call: Tool,
        sent: &[Result(
            r#"{"content":[{"type":"text","text":"one"},{"type":"image","data":"?","mimeType":"image/png"},{"type":"text","text":"two"}]}"#,
        )],
        client: "one | [content block 1 (\"image\") cannot be read: data: invalid base64: Invalid symbol 63, offset 0.] | two",
        ..ROW
    },
    Quirk {
        name: "image data with the prefix of a `data:` URL",
        source: "",
        call: Tool,
        sent: &[Result(
            r#"{"content":[{"type":"image","data":"data:image/png;base64,aGk=","mimeType":"image/png"}]}"#,
        )],
        client: "image/png of 2 bytes",
        // A provider refuses data of another type.
        tool_set: Some("[image image/png, 2 bytes, not of that type]"),
        ..ROW
    },
    Quirk {
        name: "an unreadable `isError`",
        source: "",
        call: Tool,
        sent: &[Result(
            r#"{"content":[{"type":"text","text":"it broke"}],"isError":"yes"}"#,
        )],
        client: "failed: it broke",
        ..ROW
    },
    Quirk {
        name: "a message of a prompt that cannot be read",
        source: "",
        call: Prompt,
        sent: &[Result(
            r#"{"messages":[{"role":"assistant","content":{"type":"text"}},{"role":"user","content":{"type":"text","text":"b"}}]}"#,
        )],
        client: "[content block 0 (\"text\") cannot be read: missing field `text`] | b",
        ..ROW
    },
    Quirk {
        name: "contents of a resource that cannot be read",
        source: "",
        call: Resource,
        sent: &[Result(
            r#"{"contents":[{"uri":"a:","text":"a"},{"uri":"b:"}]}"#,
        )],
        client: "a: a | b: [content 1 cannot be read: contents need `text` or `blob`]",
        ..ROW
    },
    Quirk {
        name: "`\"error\": null` beside a result",
        source: "",
        call: Tool,
        sent: &[Message(
            r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"a"}]},"error":null}"#,
        )],
        client: "a",
        ..ROW
    },
    Quirk {
        name: "the request's id as text",
        source: "",
        call: Tool,
        sent: &[Message(
            r#"{"jsonrpc":"2.0","id":"$ID","result":{"content":[{"type":"text","text":"a"}]}}"#,
        )],
        client: "a",
        ..ROW
    },
    Quirk {
        name: "the request's id with a fraction",
        source: "",
        call: Tool,
        sent: &[Message(
            r#"{"jsonrpc":"2.0","id":$ID.0,"result":{"content":[{"type":"text","text":"a"}]}}"#,
        )],
        client: "a",
        ..ROW
    },
];
