//! Functions with the option `blocking`.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use mcp::prelude::*;
use mcp::{InProcess, NotFound};
use serde_json::json;

const LIMIT: Duration = Duration::from_secs(30);

/// Each function of one route waits for another call.
struct Desk {
    sender: Sender<u32>,
    receiver: Mutex<Receiver<u32>>,
}

#[mcp::server]
impl Desk {
    /// Blocks its thread until `send` is called.
    #[tool(blocking)]
    fn receive(&self, factor: u32) -> Result<u32, ToolError> {
        let receiver = self.receiver.lock().unwrap();
        Ok(factor * receiver.recv_timeout(LIMIT)?)
    }

    #[tool]
    fn send(&self, number: u32) -> Result<(), ToolError> {
        Ok(self.sender.send(number)?)
    }

    #[tool(blocking)]
    fn fail() -> String {
        panic!("hunter2")
    }

    #[resource("desk://{name}", blocking)]
    fn thread(name: String) -> Result<String, NotFound> {
        match &*name {
            "thread" => Ok(format!("{:?}", thread::current().id())),
            _ => Err(NotFound),
        }
    }

    #[prompt(blocking)]
    fn review(file: String) -> String {
        format!("Review {file}.")
    }

    #[completion(prompt = "review", argument = "file", blocking)]
    fn files(prefix: &str) -> Vec<String> {
        vec![format!("{prefix}.rs")]
    }
}

/// Uses the only thread of the runtime for calls.
#[tokio::test]
async fn blocking_function_leaves_the_thread_to_other_calls() {
    let (sender, receiver) = channel();
    let desk = Desk {
        sender,
        receiver: Mutex::new(receiver),
    };
    let client = Client::connect(InProcess(Server::of(desk))).await.unwrap();
    let receive = client.call("receive", json!({"factor": 2}));
    let send = client.call("send", json!({"number": 21}));
    let (received, sent) = tokio::join!(receive, send);
    assert_eq!(received.unwrap().text(), "42");
    sent.unwrap();

    let error = client.call("fail", ()).await.unwrap_err().to_string();
    assert!(!error.contains("hunter2"), "{error}");
    let here = format!("{:?}", thread::current().id());
    let read = client.read_resource("desk://thread").await.unwrap();
    assert!(!format!("{read:?}").contains(&here), "{read:?}");
    assert!(client.read_resource("desk://other").await.is_err());
    let prompt = client.get_prompt("review", json!({"file": "a.rs"})).await;
    assert!(format!("{prompt:?}").contains("Review a.rs."), "{prompt:?}");
}
