// Messages as commands and code.

import { indented } from "./json.js";

/** A text for a POSIX shell. */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Headers that a command needs. A secret is left to the user. */
const COPIED = /^(accept|content-type|mcp-.*|authorization)$/;

export function curl({ message, raw, head, exchanges }, target) {
  const seen = exchanges?.at(-1)?.request.headers;
  const known = [
    ["Content-Type", "application/json"],
    ["Accept", "application/json, text/event-stream"],
    ["MCP-Protocol-Version", head?.version],
    ["Mcp-Method", head?.method],
    ["Mcp-Name", head?.name],
  ];
  const headers = (seen ?? known).filter(([name, value]) => value && COPIED.test(name.toLowerCase()));
  const flags = headers.map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`);
  return [`curl -N ${quoted(target)}`, ...flags, `  -d ${quoted(raw ?? JSON.stringify(message))}`].join(" \\\n");
}

/** Characters that a reader does not see. Rust refuses those that change the direction of text. */
const INVISIBLE = /[\u007f-\u009f\u2028\u2029\u2800\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]/gu;

/** JSON whose strings are literals of Rust: it has no `\\b`, and writes numbers of characters in braces. */
function literal(value, indent) {
  const written = JSON.stringify(value ?? {});
  const text = indent ? indented(written, " ".repeat(indent)) : written;
  return text.replace(/\\(u([0-9a-f]{4})|.)/g, (all, escape, code) => {
    if (escape === "b") return "\\u{8}";
    if (escape === "f") return "\\u{c}";
    // Half of a pair is no character.
    if (code) return `\\u{${/^d[89a-f]/.test(code) ? "fffd" : code}}`;
    return all;
  }).replace(INVISIBLE, (it) => `\\u{${it.codePointAt(0).toString(16)}}`);
}

const values = (value) => `json!(${literal(value, 4)})`;

/** The call of a client that sends this request. */
function call({ method, params }) {
  const { _meta, ...own } = params ?? {};
  switch (method) {
    case "tools/call":
      return `client.call(${literal(own.name)}, ${values(own.arguments)})`;
    case "prompts/get":
      return `client.get_prompt(${literal(own.name)}, ${values(own.arguments)})`;
    case "resources/read":
      return `client.read_resource(${literal(own.uri)})`;
    case "tools/list":
      return "client.list_tools()";
    default:
      return `client.request(${literal(method)}, ${values(own)})`;
  }
}

export const rust = (message) => `let result = ${call(message)}.await?;`;

/** A test that expects the result of a request again. */
export function test(message, { result, error }) {
  const name = `${message.method}_${message.params?.name ?? ""}`.replaceAll(/[^A-Za-z0-9]+/g, "_").replaceAll(/^_+|_+$/g, "").toLowerCase();
  const lines = error
    ? [`let error = ${call(message)}.await.unwrap_err();`, `assert!(error.to_string().contains(${literal(error.message)}), "{error}");`]
    : [`let result = ${call(message)}.await?;`, ...checks(message.method, result ?? {})];
  const body = lines.flatMap((line) => line.split("\n")).map((line) => `    ${line}`).join("\n");
  return `use serde_json::json;

#[tokio::test]
async fn ${name}_${error ? "fails" : "succeeds"}() -> mcp::Result<()> {
    // \`server\` makes the server under test.
    let client = mcp_testing::connect(server()).await?;
${body}
    Ok(())
}
`;
}

function checks(method, result) {
  switch (method) {
    case "tools/call":
      return [
        `assert!(${result.isError === true ? "" : "!"}result.is_error());`,
        `assert_eq!(json!(result.content), ${values(result.content ?? [])});`,
        ...(result.structuredContent === undefined ? [] : [`assert_eq!(json!(result.structured_content), ${values(result.structuredContent)});`]),
      ];
    case "prompts/get":
      return [`assert_eq!(json!(result.messages), ${values(result.messages ?? [])});`];
    case "resources/read":
      return [`assert_eq!(json!(result.contents), ${values(result.contents ?? [])});`];
    case "tools/list":
      return ["let names: Vec<_> = result.iter().map(|tool| &tool.name).collect();", `assert_eq!(json!(names), ${values((result.tools ?? []).map((it) => it.name))});`];
    default:
      return members(result);
  }
}

/** Each member of another result. The client reads `resultType`, and `_meta` has the version of the server. */
function members({ resultType, _meta, ...own }) {
  const lines = Object.entries(own).map(([name, value]) => `assert_eq!(result[${literal(name)}], ${values(value)});`);
  return ["let result = json!(result);", ...(lines.length ? lines : ["assert!(result.is_object());"])];
}
