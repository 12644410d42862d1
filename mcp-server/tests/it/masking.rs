//! `Server::mask_errors`: messages of errors stay on the server.

use std::io;

use mcp_core::Fault;
use mcp_macros::server;
use mcp_server::{NotFound, PromptError, RawArgs, ResourceError, Server, ToolError};

use crate::kit::{call_error, fault, get_reply, read_reply, server};

struct Desk;

fn secret() -> io::Result<String> {
    Err(io::Error::other("postgres://admin:hunter2@db"))
}

#[server(crate = mcp_server)]
impl Desk {
    #[tool]
    fn hidden(&self) -> Result<String, ToolError> {
        Ok(secret()?)
    }

    #[tool]
    fn text(&self) -> Result<String, ToolError> {
        Err("also by `?`")?
    }

    #[tool]
    fn shown(&self, count: u8) -> Result<String, ToolError> {
        Err(ToolError::new(format!("{count} is too many")))
    }

    #[tool]
    fn parsed(&self, raw: RawArgs) -> Result<String, ToolError> {
        Ok(raw.parse::<String>()?)
    }

    #[tool]
    fn protocol(&self) -> Result<String, ToolError> {
        Err(ToolError::invalid_params("wrong region"))
    }

    #[resource("desk://{name}")]
    fn read(&self, name: String) -> Result<String, ResourceError> {
        match &*name {
            "none" => Err(NotFound.into()),
            "shown" => Err(ResourceError::new("locked")),
            _ => Ok(secret()?),
        }
    }

    #[prompt]
    fn write(&self) -> Result<String, PromptError> {
        Ok(secret()?)
    }
}

/// Replaces the number of an error.
fn without_number(message: &str) -> String {
    let (start, rest) = message.split_once("(error ").unwrap();
    let (number, end) = rest.split_once(')').unwrap();
    assert!(number.len() == 16 && number.bytes().all(|byte| byte.is_ascii_hexdigit()));
    format!("{start}(error N){end}")
}

#[test]
fn masked_error_is_number_for_client() {
    let server = server(Server::of(Desk).mask_errors());
    for tool in ["hidden", "text"] {
        let message = call_error(&server, tool, "{}");
        assert_eq!(without_number(&message), "the tool failed (error N)");
    }
    let numbers = [0, 1].map(|_| call_error(&server, "hidden", "{}"));
    assert_ne!(numbers[0], numbers[1]);
    let Fault::Internal(message) = fault(read_reply(&server, "desk://a")) else {
        panic!("no internal fault")
    };
    assert_eq!(without_number(&message), "the resource failed (error N)");
    let Fault::Internal(message) = fault(get_reply(&server, "write", "{}")) else {
        panic!("no internal fault")
    };
    assert_eq!(without_number(&message), "the prompt failed (error N)");
}

#[test]
fn message_for_client_stays_visible() {
    let server = server(Server::of(Desk).mask_errors());
    assert_eq!(
        call_error(&server, "shown", r#"{"count": 3}"#),
        "3 is too many"
    );
    assert!(call_error(&server, "shown", "{}").contains("missing `count`"));
    assert!(call_error(&server, "parsed", "{}").contains("expected a string"));
    assert!(matches!(
        fault(read_reply(&server, "desk://none")),
        Fault::NoSuchItem { .. }
    ));
    assert_eq!(
        fault(read_reply(&server, "desk://shown")),
        Fault::internal("locked")
    );
}

#[test]
fn unmasked_server_returns_message() {
    let server = server(Desk);
    assert!(call_error(&server, "hidden", "{}").contains("hunter2"));
}
