//! A server without dependencies, which the tests of `mcp dev` compile. It speaks a revision of the legacy era.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};

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
    if std::env::var_os("SERVES_HTTP").is_some() {
        return serve_http(&tools);
    }
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        if let Some(answer) = answer(&line, &tools) {
            println!("{answer}");
        }
    }
}

fn serve_http(tools: &str) {
    let address = std::env::var("ADDRESS").unwrap();
    let listener = std::net::TcpListener::bind(address).unwrap();
    eprintln!("listening on http://{}", listener.local_addr().unwrap());
    for stream in listener.incoming() {
        let (stream, tools) = (stream.unwrap(), tools.to_owned());
        std::thread::spawn(move || serve_connection(stream, &tools));
    }
}

fn serve_connection(mut stream: std::net::TcpStream, tools: &str) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let is_call = line.starts_with("POST /mcp ");
        let mut length = 0;
        while !line.trim().is_empty() {
            line.clear();
            reader.read_line(&mut line).ok()?;
            if let Some(text) = line.to_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body = String::from_utf8(body).ok()?;
        let (status, answer) = if is_call && body.contains("\"id\":") {
            ("200 OK", Some(answer(&body, tools).unwrap_or_else(wait)))
        } else if is_call {
            ("202 Accepted", None)
        } else if body.is_empty() && line.is_empty() {
            // A client that is gone.
            return None;
        } else {
            ("405 Method Not Allowed", None)
        };
        let answer = answer.unwrap_or_default();
        let length = answer.len();
        write!(
            stream,
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{answer}"
        )
        .ok()?;
    }
}

fn wait() -> String {
    loop {
        std::thread::park();
    }
}

/// Returns `None` for what is not answered.
fn answer(line: &str, tools: &str) -> Option<String> {
    let (_, rest) = line.split_once("\"id\":")?;
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
            return None;
        }
        if has("name", "slow") {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
        if has("name", "die") {
            eprintln!("the oven burns");
            std::process::exit(3);
        }
        let text = if has("name", "tools") { tools.trim().to_owned() } else { greeting() };
        format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}")
    } else if has("method", "ping") {
        "{}".to_owned()
    } else {
        return Some(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32601,\"message\":\"none\"}}}}"
        ));
    };
    Some(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"))
}
