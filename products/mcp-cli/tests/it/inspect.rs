//! The page of the inspector: who may use it, and what it answers.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use mcp::apps::{App, Apps, Csp};
use mcp::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::desk::http_desk;
use crate::extensions::studio;
use crate::kit::{folder, http_shop, mcp, mcp_in, on_thread, stdio_shop};
use crate::login::protected_shop;

/// An inspector that runs until it is dropped.
struct Page {
    child: Child,
    /// `127.0.0.1:PORT`.
    host: String,
    /// The random path of the page: `/…`.
    base: String,
    /// The cookie that the URL of the terminal leads to.
    cookie: String,
    token: String,
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The status, the head and the body of a response.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Page {
    fn start(name: &str, target: &[&str]) -> Self {
        let home = folder(name);
        let mut child = Command::new(env!("CARGO_BIN_EXE_mcp"))
            .args(["inspect", "--no-open"])
            .args(target)
            .current_dir(&home)
            .env("HOME", &home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let (page, token) = line.trim().split_once("/?token=").unwrap();
        let (host, base) = page
            .strip_prefix("http://")
            .unwrap()
            .split_once('/')
            .unwrap();
        let mut page = Self {
            child,
            host: host.to_owned(),
            base: format!("/{base}"),
            cookie: String::new(),
            token: token.to_owned(),
        };
        let first = page.send(&format!("GET /?token={token}"), &[], "");
        assert_eq!(first.status, 303, "{}", first.head);
        let cookie = first
            .head
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.unwrap();
        let attributes = format!("; HttpOnly; SameSite=Strict; Path={}/", page.base);
        assert!(cookie.ends_with(&attributes), "{cookie}");
        page.cookie = cookie.split(';').next().unwrap().to_owned();
        page
    }

    /// Sends a request for a path of the page, with these headers and nothing else but a Host, if it is not one of them.
    fn send(&self, start: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let (method, path) = start.split_once(' ').unwrap();
        self.send_outside(&format!("{method} {}{path}", self.base), headers, body)
    }

    /// Sends a request for a path of this port.
    fn send_outside(&self, start: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let mut text = format!("{start} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            text.push_str(&format!("host: {}\r\n", self.host));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head: head.replace('\r', ""),
            body: body.to_owned(),
        }
    }

    fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path}"), &[("cookie", &self.cookie)], "")
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let headers = [
            ("cookie", &*self.cookie),
            ("content-type", "application/json"),
        ];
        let answer = self.send(&format!("POST /api/{path}"), &headers, &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }

    fn request(&self, method: &str, params: &Value) -> Value {
        let body = json!({"key": method, "method": method, "params": params});
        self.post("request", &body)
    }

    /// Reads events until one has this kind.
    fn event(&self, kind: &str) -> Value {
        self.event_with(kind, |_| true)
    }

    /// Reads events until one has this kind and is the wanted one.
    fn event_with(&self, kind: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let (host, cookie, base) = (&self.host, &self.cookie, &self.base);
        let text =
            format!("GET {base}/api/events HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\n\r\n");
        stream.write_all(text.as_bytes()).unwrap();
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            let Some(event) = line.strip_prefix("data: ") else {
                continue;
            };
            let event: Value = serde_json::from_str(event).unwrap();
            if event["kind"] == kind && is_wanted(&event) {
                return event;
            }
        }
        panic!("no event {kind}");
    }
}

/// Advisory CVE-2025-49596: the proxy of an inspector ran commands for everybody who could reach it.
#[test]
fn nobody_without_the_token_gets_in() {
    let page = Page::start("inspect-token", &[&http_shop()]);
    let name = page.cookie.split('=').next().unwrap();
    let wrong = format!("{name}={}", "0".repeat(64));
    let other = format!("other={}", page.token);
    for start in [
        "GET /",
        "GET /page/main.js",
        "GET /api/state",
        "GET /api/events",
        "GET /api/recording",
        "GET /nothing",
        "POST /api/connect",
        "POST /api/request",
        "POST /api/answer",
        "GET /?token=0",
        "GET /api/state?token=0",
    ] {
        for cookie in ["", &*wrong, &*other] {
            let headers = [("cookie", cookie), ("content-type", "application/json")];
            for answer in [
                page.send(start, &headers, "{}"),
                page.send_outside(start, &headers, "{}"),
            ] {
                assert_eq!(answer.status, 401, "{start} {cookie}");
                let text = answer.head + &answer.body;
                assert!(!text.contains(&page.token) && !text.contains(&page.base));
            }
        }
    }
    assert_eq!(page.get("/api/state").status, 200);
}

/// Browsers send cookies to every port of a host, and the URL is an argument of the browser, which other users may read.
#[test]
fn url_works_once_and_its_cookie_is_for_one_path() {
    let mut page = Page::start("inspect-once", &[&http_shop()]);
    let (name, secret) = page.cookie.split_once('=').unwrap();
    assert!(name.starts_with("mcp-page-") && secret != page.token && !page.base.contains(secret));
    let own = [("cookie", &*page.cookie)];
    for path in ["/", "/api/state", "/page/main.js"] {
        let answer = page.send_outside(&format!("GET {path}"), &own, "");
        assert_eq!(answer.status, 404, "{path}");
    }
    // The browser that was let in may open the URL again.
    let start = format!("GET /?token={}", page.token);
    assert_eq!(page.send(&start, &own, "").status, 303);
    let mut stream = TcpStream::connect(&page.host).unwrap();
    let head = format!(
        "GET {}/api/events HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\nconnection: close\r\n\r\n",
        page.base, page.host, page.cookie
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut events = BufReader::new(stream);
    let mut status = String::new();
    events.read_line(&mut status).unwrap();
    assert!(status.contains(" 200 "), "{status}");
    let second = page.send(&start, &[], "");
    assert_eq!(second.status, 401, "{}", second.head);
    // What the first browser has opened ends.
    events.read_to_end(&mut Vec::new()).unwrap();
    assert!(second.body.contains("works once"), "{}", second.body);
    // The first browser may be that of another user, who has read the URL.
    assert_eq!(page.send("GET /api/state", &own, "").status, 401);
    let mut line = String::new();
    let mut log = BufReader::new(page.child.stderr.take().unwrap());
    log.read_line(&mut line).unwrap();
    let (_, fresh) = line.trim().rsplit_once("token=").unwrap();
    assert_ne!(fresh, page.token);
    assert_eq!(page.send(&start, &own, "").status, 401, "the former token");
    let third = page.send(&format!("GET /?token={fresh}"), &[], "");
    assert_eq!(third.status, 303, "{line}");
}

/// Requests of other web pages, also after DNS rebinding, and forms without a preflight.
#[test]
fn requests_from_other_web_pages_are_refused() {
    let page = Page::start("inspect-origin", &[&http_shop()]);
    let port = page.host.rsplit(':').next().unwrap();
    let (named, evil) = (format!("localhost:{port}"), format!("evil.example:{port}"));
    let (own, foreign) = (format!("http://{}", page.host), format!("http://{evil}"));
    let json = ("content-type", "application/json");
    for (headers, status) in [
        (vec![json], 200),
        (vec![json, ("host", &*named)], 200),
        (vec![json, ("origin", &*own)], 200),
        (vec![json, ("host", &*evil)], 403),
        (vec![json, ("host", "127.0.0.1")], 403),
        (vec![json, ("origin", &*foreign)], 403),
        (vec![json, ("origin", "null")], 403),
        (vec![json, ("sec-fetch-site", "same-origin")], 200),
        (vec![json, ("sec-fetch-site", "same-site")], 403),
        (vec![json, ("sec-fetch-site", "cross-site")], 403),
        (vec![("content-type", "text/plain")], 415),
        (vec![], 415),
    ] {
        let mut headers = headers;
        headers.push(("cookie", &page.cookie));
        let answer = page.send("POST /api/cancel", &headers, r#"{"key":"none"}"#);
        assert_eq!(answer.status, status, "{headers:?}: {}", answer.body);
        assert!(!answer.head.contains("access-control-"));
    }
}

/// A page that has opened the window of this one cannot reach it. Only what the user opens has no such policy.
#[test]
fn responses_are_separated_from_pages_that_open_them() {
    let page = Page::start("inspect-opener", &[&http_shop()]);
    let policy = "cross-origin-opener-policy: same-origin\n";
    let start = format!("GET /?token={}", page.token);
    for (site, is_separated) in [
        ("none", false),
        ("same-origin", true),
        ("same-site", true),
        ("cross-site", true),
        ("", true),
    ] {
        let cookie = ("cookie", &*page.cookie);
        for start in ["GET /", &start, "GET /?again", "GET /nothing"] {
            let answer = page.send(start, &[cookie, ("sec-fetch-site", site)], "");
            let head = format!("{}\n", answer.head);
            assert_eq!(
                head.contains(policy),
                is_separated,
                "{start} {site}: {head}"
            );
        }
    }
}

/// Advisory CVE-2026-23744: an inspector listened on all interfaces, and its page installed servers.
#[test]
fn page_starts_no_program_and_is_for_this_machine() {
    let page = Page::start("inspect-programs", &[&http_shop()]);
    let headers = [
        ("cookie", &*page.cookie),
        ("content-type", "application/json"),
    ];
    let marker = folder("inspect-programs").join("marker");
    let touch = json!({"protocol": "auto", "command": "touch", "args": [marker], "target": marker});
    for path in ["connect", "install", "config", "servers", "request"] {
        let answer = page.send(&format!("POST /api/{path}"), &headers, &touch.to_string());
        assert!(
            [404, 422].contains(&answer.status),
            "{path}: {}",
            answer.status
        );
    }
    assert!(!Path::new(&marker).exists());
    if cfg!(target_os = "linux") {
        let other = page.host.replace("127.0.0.1", "127.0.0.2");
        assert!(TcpStream::connect(other).is_err());
    }
}

#[test]
fn responses_forbid_foreign_scripts_and_frames() {
    let page = Page::start("inspect-policy", &[&http_shop()]);
    for path in [
        "/",
        "/page/main.js",
        "/page/style.css",
        "/api/state",
        "/page/../Cargo.toml",
        "/x",
    ] {
        let head = page.get(path).head;
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self';",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
            "cross-origin-resource-policy: same-origin",
        ] {
            assert!(head.contains(header), "{path}: {head}");
        }
    }
    let answer = page.get("/");
    let html = answer.body;
    assert!(!html.contains("onload") && !html.contains("https://") && !html.contains("style="));
    // The only inline style has the nonce of the policy. Its text is the style sheet of the program.
    let nonce = html.split("<style nonce=\"").nth(1).unwrap();
    let nonce = nonce.split('"').next().unwrap();
    assert!(nonce.len() == 64 && !nonce.contains(&page.token));
    assert_eq!(html.matches("<style").count(), 1);
    assert!(html.contains(&page.get("/page/style.css").body));
    let policy = format!("style-src 'self' 'nonce-{nonce}';");
    assert!(answer.head.contains(&policy), "{}", answer.head);
    assert!(!answer.head.contains("unsafe"), "{}", answer.head);
    for name in html.split("\"page/").skip(1) {
        let name = name.split('"').next().unwrap();
        assert_eq!(page.get(&format!("/page/{name}")).status, 200, "{name}");
    }
}

/// A server that never answers: the page opens, and its messages are there.
#[cfg(unix)]
#[test]
fn page_opens_before_the_server_answers() {
    let page = Page::start("inspect-slow", &["--", "sleep", "600"]);
    assert_eq!(page.get("/").status, 200);
    assert_eq!(page.get("/page/main.js").status, 200);
    page.event("connecting");
    let sent = page.event("message");
    assert_eq!(sent["from"], "client", "{sent}");
}

#[test]
fn messages_are_checked_against_the_schema() {
    let page = Page::start("inspect-schema", &["--protocol=legacy", &http_shop()]);
    page.event("connected");
    page.request("vendor/subscribe", &json!({"uri": 7}));
    page.request("resources/subscribe", &json!({"uri": 7}));
    let sent =
        |method: &str| page.event_with("message", |event| event["message"]["method"] == method);
    let wrong = sent("resources/subscribe");
    assert_eq!(
        wrong["head"]["violations"][0]["text"],
        "SubscribeRequest of 2025-11-25: `params.uri`: expected string, got 7"
    );
    let own = sent("vendor/subscribe");
    assert_eq!(own["head"]["violations"], Value::Null);
}

#[test]
fn page_lists_calls_reads_and_completes() {
    for (name, target) in [
        ("inspect-http", vec![http_shop()]),
        ("inspect-pipe", vec!["--".to_owned(), stdio_shop()]),
        (
            "inspect-legacy",
            vec!["--protocol=legacy".to_owned(), http_shop()],
        ),
    ] {
        let target: Vec<&str> = target.iter().map(String::as_str).collect();
        let page = Page::start(name, &target);
        page.event("connected");
        let state = page.get("/api/state").json();
        assert_eq!(state["connected"], true, "{state}");
        assert!(state["capabilities"]["tools"].is_object(), "{state}");
        let listed = page.request("tools/list", &json!({}));
        let first = &listed["result"]["tools"][0]["name"];
        assert_eq!(first, "add", "{listed}");
        let arguments = json!({"a": 1, "b": 2});
        let sum = page.request(
            "tools/call",
            &json!({"name": "add", "arguments": arguments}),
        );
        assert_eq!(sum["result"]["content"][0]["text"], "3", "{sum}");
        let compared = page.post(
            "compare",
            &json!({
                "key": "c", "method": "tools/call", "protocols": ["2026-07-28", "2025-03-26", "x"],
                "params": {"name": "add", "arguments": {"a": 1, "b": 2}},
            }),
        );
        for (n, version) in ["2026-07-28", "2025-03-26"].into_iter().enumerate() {
            let outcome = &compared["result"][n];
            assert_eq!(outcome["version"], version, "{compared}");
            assert_eq!(outcome["result"]["content"][0]["text"], "3");
        }
        assert!(compared["result"][2]["error"].is_string(), "{compared}");
        let read = page.request("resources/read", &json!({"uri": "disks://all"}));
        assert_eq!(read["result"]["contents"][0]["text"], "A, B");
        let review = json!({"name": "review", "arguments": {"language": "rust"}});
        let prompt = page.request("prompts/get", &review);
        let text = &prompt["result"]["messages"][0]["content"]["text"];
        assert_eq!(text, "Review this rust code.");
        let prefix = json!({"prompt": "review", "argument": "language", "value": "ru"});
        let values = page.request("completion/complete", &prefix);
        assert_eq!(
            values["result"]["completion"]["values"][0], "rust",
            "{values}"
        );
        let unknown = page.request("tools/call", &json!({"name": "nothing"}));
        assert!(unknown["error"].as_str().unwrap().contains("nothing"));
        assert!(page.request("ping", &json!({}))["result"].is_object());
        let again = page.post("connect", &json!({"protocol": "2025-06-18"}));
        assert!(again["result"].is_object(), "{again}");
        assert_eq!(page.get("/api/state").json()["version"], "2025-06-18");
        let never = page.post("connect", &json!({"protocol": "1999-01-01"}));
        assert!(never["error"].as_str().unwrap().contains("1999-01-01"));
        assert_eq!(page.get("/api/state").json()["connected"], false);
    }
}

#[test]
fn question_from_the_server_waits_for_the_page() {
    let page = Page::start("inspect-question", &[&http_shop()]);
    page.event("connected");
    std::thread::scope(|scope| {
        let call = scope.spawn(|| page.request("tools/call", &json!({"name": "order"})));
        let question = page.event("question");
        assert_eq!(question["type"], "form", "{question}");
        // It belongs to its call.
        for (member, expected) in [
            ("method", "tools/call"),
            ("item", "order"),
            ("call", "tools/call"),
        ] {
            assert_eq!(question[member], expected, "{question}");
        }
        let id = &question["id"];
        let wrong = json!({"id": id, "action": "accept", "content": {"nothing": []}});
        assert_eq!(page.post("answer", &wrong)["open"], true);
        // Answers that do not fit are asked for again, with the reason.
        let again = page.event_with("question", |event| event["problem"].is_string());
        assert_ne!(&again["id"], id);
        assert_eq!(&page.event("settled")["id"], id);
        let decline = json!({"id": again["id"], "action": "decline"});
        assert_eq!(page.post("answer", &decline)["open"], true);
        let result = call.join().unwrap();
        assert!(result["result"]["content"].is_array(), "{result}");
        assert_eq!(page.post("answer", &decline)["open"], false);
    });
}

/// Returns a server whose tool `numbers` has this result, and takes any arguments.
fn numbers(structured: &'static str) -> String {
    let origin = on_thread(move |listener| async move {
        let tool = Tool::new("numbers").handler(move || {
            let mut result = CallToolResult::from_text("numbers");
            result.structured_content = RawValue::from_string(structured.to_owned()).ok();
            result
        });
        drop(mcp::serve_http(Server::new("numbers", "1.0.0").tool(tool), listener).await);
    });
    format!("{origin}/mcp")
}

/// The user sees what was sent, and the server receives what the user has written.
#[test]
fn numbers_are_not_rounded_on_their_way() {
    const NUMBERS: &str = r#"{"a":12345678901234567890,"b":123456789012345678901234567890.50,"c":1.0,"d":1e400,"e":-0,"f":"\u0041"}"#;
    let url = numbers(NUMBERS);
    for protocol in ["--protocol=2026-07-28", "--protocol=legacy"] {
        let page = Page::start("inspect-numbers", &[protocol, &url]);
        page.event("connected");
        let headers = [
            ("cookie", &*page.cookie),
            ("content-type", "application/json"),
        ];
        let post =
            |path: &str, body: &str| page.send(&format!("POST /api/{path}"), &headers, body).body;
        let expected = format!(r#""structuredContent":{NUMBERS}"#);
        let call = r#""method":"tools/call","params":{"name":"numbers"}"#;
        let result = post("request", &format!(r#"{{"key":"a",{call}}}"#));
        assert!(result.contains(&expected), "{result}");
        let result = post(
            "compare",
            &format!(r#"{{"key":"b","protocols":["2025-06-18"],{call}}}"#),
        );
        assert!(result.contains(&expected), "{result}");
        // What the user writes.
        let call =
            format!(r#""method":"tools/call","params":{{"name":"numbers","arguments":{NUMBERS}}}"#);
        post("request", &format!(r#"{{"key":"c",{call}}}"#));
        post(
            "compare",
            &format!(r#"{{"key":"d","protocols":["2025-06-18"],{call}}}"#),
        );
        post(
            "request",
            &format!(r#"{{"key":"e","method":"vendor/x","params":{NUMBERS}}}"#),
        );
        let recording = page.get("/api/recording").body;
        let lines = |part: &str| recording.lines().filter(|line| line.contains(part)).count();
        assert_eq!(lines(&expected), 2, "{recording}");
        assert_eq!(
            lines(&format!(r#""arguments":{NUMBERS}"#)),
            2,
            "{recording}"
        );
        let members = NUMBERS.trim_matches(['{', '}']);
        assert_eq!(lines(members), 5, "{recording}");
    }
}

/// The page shows the end of a server at once: no request has to fail before.
#[cfg(target_os = "linux")]
#[test]
fn end_of_the_server_is_an_event() {
    let result = r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}"#;
    // Answers the first message, and ends after the second one.
    let script =
        format!(r#"1s/.*"id":\([0-9]*\).*/{{"jsonrpc":"2.0","id":\1,"result":{result}}}/p;2q"#);
    let page = Page::start(
        "inspect-end",
        &["--protocol=legacy", "--", "sed", "-un", &script],
    );
    let closed = page.event("closed");
    assert!(
        closed["reason"].as_str().unwrap().contains("ended"),
        "{closed}"
    );
    let state = page.get("/api/state").json();
    assert_eq!(
        (&state["connected"], &state["closed"]),
        (&json!(false), &closed["reason"])
    );
}

#[test]
fn recording_from_the_page_replays() {
    let page = Page::start("inspect-recording", &["--", &stdio_shop()]);
    page.event("connected");
    let call = json!({"name": "add", "arguments": {"a": 2, "b": 2}});
    page.request("tools/list", &json!({}));
    page.request("tools/call", &call);
    let recording = page.get("/api/recording");
    assert!(recording.head.contains("attachment"), "{}", recording.head);
    let home = folder("inspect-replay");
    std::fs::write(home.join("session.jsonl"), recording.body).unwrap();
    let bin = env!("CARGO_BIN_EXE_mcp");
    let words = [
        "call",
        "add",
        "a=2",
        "b=2",
        "--",
        bin,
        "replay",
        "session.jsonl",
    ];
    let run = mcp_in(&home, &words, "");
    assert_eq!((run.code, &*run.out), (0, "4\n"), "{run:?}");
}

#[test]
fn http_heads_and_events_are_shown_without_secrets() {
    let target = format!("{}?key=secret-1", http_shop());
    let words = ["--protocol=legacy", "--header=X-Api-Key: secret-2", &target];
    let page = Page::start("inspect-heads", &words);
    page.event("connected");
    let request = page.event_with("http", |event| event["request"]["method"] == "POST");
    let url = request["request"]["url"].as_str().unwrap();
    assert!(url.ends_with("/mcp?…"), "{request}");
    let message = page.event("message");
    assert_eq!(message["message"]["method"], "initialize", "{message}");
    let is_same =
        |event: &Value| event["exchange"] == request["exchange"] && event["response"].is_object();
    let response = page.event_with("http", is_same);
    assert_eq!(response["response"]["status"], 200, "{response}");
    assert_eq!(response["violations"], Value::Null, "{response}");
    let text = format!("{request}{response}");
    assert!(!text.contains("secret-"), "{text}");
    assert!(text.contains(r#"["x-api-key","(hidden)"]"#), "{text}");
    assert!(text.contains(r#"["mcp-session-id","(hidden)"]"#), "{text}");
}

#[test]
fn task_from_a_call_is_followed_and_cancelled() {
    let page = Page::start("inspect-tasks", &[&studio()]);
    page.event("connected");
    std::thread::scope(|scope| {
        let call = scope.spawn(|| page.request("tools/call", &json!({"name": "render"})));
        let working = page.event_with("task", |event| event["task"]["status"] == "working");
        assert_eq!(working["tool"], "render", "{working}");
        assert_eq!(working["call"], "tools/call", "{working}");
        let finish = json!({"key": "f", "method": "tools/call", "params": {"name": "finish"}});
        page.post("request", &finish);
        let result = call.join().unwrap();
        assert_eq!(result["result"]["content"][0]["text"], "a picture");
        let id = json!({"taskId": working["task"]["taskId"]});
        let again = page.request("tasks/result", &id);
        assert_eq!(again["result"]["content"][0]["text"], "a picture");

        let call = scope.spawn(|| page.request("tools/call", &json!({"name": "render"})));
        let first = &working["task"]["taskId"];
        let other = page.event_with("task", |event| event["task"]["taskId"] != *first);
        let id = json!({"taskId": other["task"]["taskId"]});
        assert!(page.request("tasks/cancel", &id)["result"].is_object());
        page.event_with("task", |event| event["task"]["status"] == "cancelled");
        assert!(call.join().unwrap()["error"].is_string());
    });
}

#[test]
fn skills_are_listed_and_read_from_the_page() {
    let page = Page::start("inspect-skills", &[&studio()]);
    page.event("connected");
    let listed = page.request("skills/list", &json!({}));
    let uri = &listed["result"]["skills"][0]["uri"];
    assert_eq!(uri, "skill://refunds/SKILL.md", "{listed}");
    let skill = page.request("skills/get", &json!({"uri": uri}));
    let text = skill["result"]["instructions"].as_str().unwrap();
    assert!(text.contains("# Steps"), "{skill}");
    let file = json!({"uri": uri, "file": "references/limits.md"});
    let file = page.request("skills/get", &file);
    assert_eq!(file["result"]["text"], "Above 500 EUR: ask.\n", "{file}");
    let missing = page.request("skills/get", &json!({"uri": "skill://none/SKILL.md"}));
    assert!(missing["error"].is_string(), "{missing}");
}

#[test]
fn server_is_compared_with_a_snapshot() {
    let url = http_shop();
    let run = mcp(&["snapshot", &url]);
    let mut snapshot = run.json();
    snapshot["tools"][0]["description"] = json!("Another text");
    let file = folder("inspect-against-file").join("before.json");
    std::fs::write(&file, snapshot.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let page = Page::start("inspect-against", &["--against", file, &url]);
    page.event("connected");
    let diff = page.post("diff", &json!({}));
    assert_eq!(diff["result"]["impact"], "cosmetic", "{diff}");
    assert_eq!(diff["result"]["file"], file);
    assert_eq!(page.get("/api/state").json()["against"], file);

    let page = Page::start("inspect-against-none", &[&url]);
    page.event("connected");
    let diff = page.post("diff", &json!({}));
    assert!(diff["error"].as_str().unwrap().contains("--against"));
}

#[test]
fn login_shows_its_steps_without_secrets() {
    let (url, _) = protected_shop();
    let page = Page::start("inspect-login", &[&url]);
    let failed = page.event("connected");
    assert!(failed["error"].is_string(), "{failed}");
    assert_eq!(page.get("/api/state").json()["login"], true);
    page.event_with("auth", |event| event["step"] == "challenged");
    let login = json!({"key": "login", "protocol": "auto"});
    std::thread::scope(|scope| {
        let done = scope.spawn(|| page.post("login", &login));
        let open = page.event_with("auth", |event| event["step"] == "page");
        follow_redirect(open["open"].as_str().unwrap());
        let done = done.join().unwrap();
        assert!(done["result"].is_object(), "{done}");
    });
    for step in ["discovered", "registered", "started", "authorized", "ended"] {
        let event = page.event_with("auth", |event| event["step"] == step);
        let text = event.to_string();
        assert!(
            !text.contains("secret") && !text.contains("state="),
            "{text}"
        );
    }
    assert_eq!(page.get("/api/state").json()["connected"], true);
}

/// Opens a login page, and the redirect to which it leads, as a browser does.
fn follow_redirect(url: &str) {
    let mut next = url.to_owned();
    for _ in 0..2 {
        let (host, path) = next
            .strip_prefix("http://")
            .unwrap()
            .split_once('/')
            .unwrap();
        let mut stream = TcpStream::connect(host).unwrap();
        let head = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let lines = answer.lines();
        let location = lines
            .filter_map(|line| line.split_once(": "))
            .find(|(name, _)| name.eq_ignore_ascii_case("location"));
        match location {
            Some((_, location)) => next = location.to_owned(),
            None => return,
        }
    }
}

/// A server with a tool whose view has a policy.
fn charts() -> String {
    let origin = on_thread(|listener| async {
        let csp = Csp::new().connect("https://api.example.com");
        let app = App::new("ui://chart", "<p>chart</p>").csp(csp);
        let server = Server::new("charts", "1.0.0")
            .tool(Tool::new("chart").app("ui://chart").handler(|| "a chart"))
            .tool(Tool::new("plain").handler(|| "no chart"))
            .extension(Apps::new().app(app));
        drop(mcp::serve_http(server, listener).await);
    });
    format!("{origin}/mcp")
}

// spec: APP-09
#[test]
fn view_has_another_origin_and_its_policy() {
    let page = Page::start("inspect-views", &[&charts()]);
    page.event("connected");
    let port = page.get("/api/state").json()["sandbox"].clone();
    let policy = format!("frame-src http://127.0.0.1:{port};");
    assert!(page.get("/").head.contains(&policy));
    let opened = page.post("app/open", &json!({"tool": "chart"}));
    let id = opened["result"]["view"].as_str().unwrap().to_owned();
    let sandbox = format!("127.0.0.1:{port}");
    let get = |host: &str, path: &str| {
        let mut stream = TcpStream::connect(&sandbox).unwrap();
        let text = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let view = get(&sandbox, &format!("/view/{id}"));
    for part in [
        "HTTP/1.1 200",
        "connect-src https://api.example.com;",
        "sandbox allow-scripts",
        "frame-ancestors http://127.0.0.1:",
        "<p>chart</p>",
    ] {
        assert!(view.contains(part), "{part}: {view}");
    }
    assert!(get(&sandbox, "/").contains("default-src 'none'; script-src 'self'"));
    for (host, path, status) in [
        (&*sandbox, "/view/none", "404"),
        (&*sandbox, "/api/state", "404"),
        ("evil.example", "/", "403"),
    ] {
        let answer = get(host, path);
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
    }

    // The host answers the view by events of the page.
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "ui/initialize",
        "params": {
            "protocolVersion": "2026-01-26", "appCapabilities": {},
            "appInfo": {"name": "chart", "version": "1"},
        },
    });
    let message = json!({"view": id, "message": initialize.to_string()});
    assert!(page.post("app/send", &message)["result"].is_object());
    let answer = page.event_with("app", |event| event["view"] == *id);
    let answer = answer["message"].as_str().unwrap();
    assert!(answer.contains(r#""name":"mcp-inspector""#), "{answer}");

    assert_eq!(page.post("app/close", &json!({"view": id})), json!({}));
    assert!(get(&sandbox, &format!("/view/{id}")).starts_with("HTTP/1.1 404"));
    assert!(page.post("app/send", &message)["error"].is_string());
    let plain = page.post("app/open", &json!({"tool": "plain"}));
    assert!(
        plain["error"]
            .as_str()
            .unwrap()
            .contains("no user interface")
    );
}

#[cfg(unix)]
#[test]
fn sampling_is_answered_by_a_command() {
    let url = http_desk();
    let command = "grep -o 'release notes' | tr a-z A-Z";
    let page = Page::start("inspect_sampling", &[&url, "--sample-with", command]);
    page.event("connected");
    let called = page.request("tools/call", &json!({"name": "notes"}));
    assert_eq!(called["result"]["content"][0]["text"], "RELEASE NOTES");
}
