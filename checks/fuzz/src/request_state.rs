//! Request states: a handler receives the answers of a client only with the state that the server
//! has issued for the call, unchanged in every bit.

use std::sync::LazyLock;

use mcp_core::{Call, InputState, Reply};
use mcp_server::{Ask, Server, StateKeys, Tool, ToolError, ToolExt as _};
use mcp_types::{CallToolParams, RawObject};

use crate::input::Input;
use crate::server::send;
use crate::target::Target;

pub(crate) const TARGET: Target = Target {
    name: "request_state",
    run,
    examples: &[
        b"\x00",
        b"\x01\x00\x05\x41",
        b"\x02\x00\x05\x00\x06\x41",
        b"\x03AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ],
    fragments: &[
        "\0", "\u{1}", "\u{2}", "\u{3}", "A", "Ag", "AAAA", "=", "-", "_", "+", "/", " ", "z",
    ],
};

/// A server that asks for a URL.
static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let handler = async |ask: Ask| {
        ask.keep(&"kept")?;
        ask.url("key", "Sign in", "https://a.example/sign-in")
            .await?;
        Ok::<_, ToolError>("answered")
    };
    let keys = StateKeys::new("0123456789abcdef0123456789abcdef").expect("the secret is long");
    let server = Server::new("s", "1").tool(Tool::new("t").handler(handler));
    server.request_state_keys(keys)
});

/// Returns a new question's state. A state that was made when a long run started would expire.
fn issue() -> String {
    let Reply::InputRequired(asked) = send(&SERVER, call(), InputState::default()) else {
        panic!("the tool asks nothing");
    };
    asked.request_state.expect("the question has a state")
}

fn call() -> Call {
    Call::CallTool(CallToolParams::new("t", None))
}

/// The input: changes of the issued state, or another state.
fn run(input: &[u8]) {
    let issued = issue();
    let Some(state) = changed(&issued, Input(input)) else {
        return;
    };
    let mut input = InputState::default();
    input.state = Some(state.as_str().into());
    let answers = r#"{"key":{"action":"accept"}}"#;
    input.responses = Some(RawObject::from_text(answers).expect("the answers are JSON"));
    let reply = send(&SERVER, call(), input);
    let is_answered = matches!(reply, Reply::Complete { .. });
    assert_eq!(is_answered, state == issued, "{state}: {reply:?}");
}

/// Returns a state made of the issued one: with bytes replaced, cut off, or added; or the input itself.
fn changed(issued: &str, mut input: Input<'_>) -> Option<String> {
    let mut state = issued.as_bytes().to_vec();
    match input.byte() % 4 {
        0 => {
            let at = position(&mut input, state.len() + 1);
            state.splice(at..at, input.0.iter().copied());
        }
        1 => {
            while !input.0.is_empty() {
                let at = position(&mut input, state.len());
                state[at] = input.byte();
            }
        }
        2 => {
            let at = position(&mut input, state.len());
            let end = position(&mut input, state.len() + 1);
            state.drain(at.min(end)..end);
        }
        _ => state = input.0.to_vec(),
    }
    String::from_utf8(state).ok()
}

fn position(input: &mut Input<'_>, limit: usize) -> usize {
    (usize::from(input.byte()) << 8 | usize::from(input.byte())) % limit
}
