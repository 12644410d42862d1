//! A server without dependencies, which the tests of `mcp dev` compile. It speaks a revision of the legacy era.

use std::io::BufRead as _;

/// Its tools, unless the file `tools.txt` lists others. `database` needs the file that the first argument names.
const TOOLS: &str = "greet";

fn greeting() -> String {
    "hello".to_owned()
}

fn main() {
    let tools = std::fs::read_to_string("tools.txt").unwrap_or(TOOLS.to_owned());
    let database = std::env::args().nth(1).unwrap_or_default();
    if tools.contains("database") && !std::path::Path::new(&database).exists() {
        panic!("the database is missing");
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Some((_, rest)) = line.split_once("\"id\":") else {
            continue;
        };
        let id = rest.split([',', '}']).next().unwrap_or("null");
        let has = |name: &str, value: &str| line.contains(&format!("\"{name}\":\"{value}\""));
        let result = if has("method", "initialize") {
            "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\
             \"serverInfo\":{\"name\":\"hand\",\"version\":\"1\"}}"
                .to_owned()
        } else if has("method", "tools/list") {
            let tools = tools.split_whitespace().map(|name| {
                format!("{{\"name\":\"{name}\",\"inputSchema\":{{\"type\":\"object\"}}}}")
            });
            format!("{{\"tools\":[{}]}}", tools.collect::<Vec<_>>().join(","))
        } else if has("method", "tools/call") {
            if has("name", "wait") {
                continue;
            }
            if has("name", "slow") {
                std::thread::sleep(std::time::Duration::from_secs(1));
            }
            if has("name", "die") {
                eprintln!("the oven burns");
                std::process::exit(3);
            }
            let text = greeting();
            format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}")
        } else if has("method", "ping") {
            "{}".to_owned()
        } else {
            println!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32601,\"message\":\"none\"}}}}"
            );
            continue;
        };
        println!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}");
    }
}
