//! A server of 2025-11-25 without the SDK, with the defect that its first argument names.

use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

fn main() {
    let defect = std::env::args().nth(1).unwrap_or_default();
    let lock = std::env::args().nth(2).unwrap_or_default();
    // Unlocked when the process ends, also when it is killed.
    let lock = std::fs::File::create(lock).ok();
    let lock = lock.filter(|file| file.try_lock().is_ok());
    if defect == "sessions" && lock.is_none() {
        return;
    }
    let mut leak: Vec<Vec<u8>> = Vec::new();
    let (mut calls, mut cancelled) = (0, 0);
    let mut version = Value::Null;
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        let method = message["method"].as_str().unwrap_or_default();
        if method == "notifications/cancelled" {
            cancelled += 1;
            // The last ones are those in the middle of a call.
            if defect == "cancel" || (defect == "cancel-work" && cancelled > 8) {
                break;
            }
        }
        if message["id"].is_null() {
            continue;
        }
        let outcome = match method {
            "initialize" => {
                version = match defect.strip_prefix("old-") {
                    Some(_) => message["params"]["protocolVersion"].clone(),
                    None => json!("2025-11-25"),
                };
                Ok(json!({
                    "protocolVersion": version, "capabilities": {"tools": {}},
                    "serverInfo": {"name": "faulty", "version": "1.0.0"},
                }))
            }
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!({"tools": [tool(defect_of(&defect, &version))]})),
            "tools/call" => {
                calls += 1;
                if defect == "slow" && calls == 1 {
                    work(&message["params"]["_meta"]["progressToken"]);
                }
                if defect == "memory" || (defect == "cache" && leak.len() < 1000) {
                    leak.push(vec![1; 200 << 10]);
                }
                if defect == "cancel-work" {
                    std::thread::sleep(std::time::Duration::from_millis(50));
                }
                match call(defect_of(&defect, &version), &message["params"]) {
                    Some(outcome) => outcome,
                    None if defect == "hang" => continue,
                    None => break,
                }
            }
            _ => Err((-32601, "method not found".to_owned())),
        };
        let mut reply = json!({"jsonrpc": "2.0", "id": message["id"]});
        match outcome {
            Ok(result) => reply["result"] = result,
            Err((code, text)) => reply["error"] = json!({"code": code, "message": text}),
        }
        let mut out = std::io::stdout();
        if writeln!(out, "{reply}").and_then(|()| out.flush()).is_err() {
            break;
        }
    }
}

/// Returns the defect of a session. One that begins with `old-` is that of the sessions before 2025-11-25.
fn defect_of<'a>(defect: &'a str, version: &Value) -> &'a str {
    match defect.strip_prefix("old-") {
        Some(_) if version == "2025-11-25" => "none",
        Some(old) => old,
        None => defect,
    }
}

/// Works for three seconds, with progress.
fn work(token: &Value) {
    for step in 1..=6 {
        std::thread::sleep(std::time::Duration::from_millis(500));
        let params = json!({"progressToken": token, "progress": step});
        let progress = json!({
            "jsonrpc": "2.0", "method": "notifications/progress", "params": params,
        });
        // A client that has left is noticed by the next read.
        drop(writeln!(std::io::stdout(), "{progress}"));
    }
}

fn tool(defect: &str) -> Value {
    let mut tool = json!({
        "name": if defect == "client" { "shop.add" } else { "add" },
        "description": "Adds two numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "a": {"type": "integer"}, "b": {"type": "integer"},
                "note": {"type": "string"}, "unit": {"type": "string", "enum": ["m", "km"]},
            },
            "required": ["a", "b"],
            "additionalProperties": false,
        },
        "outputSchema": {
            "type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"],
        },
        "annotations": {"readOnlyHint": defect != "changes"},
    });
    match defect {
        "invalid" => tool["inputSchema"]["properties"]["a"]["type"] = json!("whole"),
        "array" => tool["outputSchema"]["type"] = json!(["object", "array"]),
        "tasks" => tool["execution"] = json!({"taskSupport": "required"}),
        "no-description" => tool["description"] = Value::Null,
        "no-example" => tool["inputSchema"]["properties"]["a"] = json!({"not": {}}),
        _ => {}
    }
    tool
}

type Outcome = Result<Value, (i64, String)>;

/// Answers a call. `None` leaves it without an answer.
fn call(defect: &str, params: &Value) -> Option<Outcome> {
    let args = &params["arguments"];
    let tool_error = |text: String| {
        Some(Ok(
            json!({"content": [{"type": "text", "text": text}], "isError": true}),
        ))
    };
    let name = params["name"].as_str().unwrap_or_default();
    if !name.ends_with("add") && defect != "unknown-tool" {
        return Some(Err((-32602, format!("unknown tool {name}"))));
    }
    let Some(mistake) = mistake(args) else {
        let sum = args["a"].as_i64().unwrap_or(0) + args["b"].as_i64().unwrap_or(0);
        return match defect {
            "internal-error" => Some(Err((-32603, "oops".to_owned()))),
            "refused-example" => Some(Err((-32602, "not today".to_owned()))),
            "dropped-content" => Some(Ok(json!({
                "content": [{"type": "image", "data": "", "mimeType": "image/png"}],
                "structuredContent": {"sum": sum},
            }))),
            "output-schema" => Some(Ok(json!({"content": [], "structuredContent": {}}))),
            _ => Some(Ok(json!({
                "content": [{"type": "text", "text": sum.to_string()}],
                "structuredContent": {"sum": sum},
            }))),
        };
    };
    match defect {
        "crash" | "hang" => None,
        "accepted" | "unknown-tool" => Some(Ok(json!({
            "content": [], "structuredContent": {"sum": 0},
        }))),
        "malformed" => Some(Ok(json!({"content": 1}))),
        "protocol-error" => Some(Err((-32602, mistake))),
        "unnamed-argument" => tool_error("invalid input \u{1b}[2J".to_owned()),
        "empty-error" => tool_error(String::new()),
        "stack-trace" => tool_error(format!("{mistake}: Traceback (most recent call last):")),
        "long-error" => tool_error(format!("{mistake}: {args}")),
        _ => tool_error(mistake),
    }
}

/// Returns what is wrong with the arguments.
fn mistake(args: &Value) -> Option<String> {
    for name in ["a", "b"] {
        if !args[name].is_i64() {
            return Some(format!("`{name}` must be an integer"));
        }
    }
    let note = &args["note"];
    if !note.is_null() && note.as_str().is_none_or(|text| text.len() > 1000) {
        return Some("`note` must be a text of at most 1000 characters".to_owned());
    }
    if !matches!(&args["unit"], Value::Null) && args["unit"] != "m" && args["unit"] != "km" {
        return Some("`unit` must be m or km".to_owned());
    }
    let known = ["a", "b", "note", "unit"];
    let names = args.as_object().into_iter().flat_map(|args| args.keys());
    let unknown = names
        .into_iter()
        .find(|name| !known.contains(&name.as_str()));
    unknown.map(|name| format!("there is no argument `{name}`"))
}
