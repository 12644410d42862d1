//! The chat client, with a user who is a script.

#![allow(clippy::panic, reason = "a test helper")]

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::LIMIT;

/// A running chat.
struct Chat {
    _child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    /// The lines so far.
    seen: String,
}

impl Chat {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_chat"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()).lines(),
            _child: child,
            seen: String::new(),
        }
    }

    async fn say(&mut self, line: &str) {
        let line = format!("{line}\n");
        self.input.write_all(line.as_bytes()).await.unwrap();
    }

    /// Reads until a line contains `part`, and returns it.
    async fn expect(&mut self, part: &str) -> String {
        loop {
            let next = timeout(LIMIT, self.output.next_line()).await;
            let line = next.unwrap_or_else(|_| panic!("{part:?} is missing in:\n{}", self.seen));
            let line = line.unwrap();
            let line = line.unwrap_or_else(|| panic!("{part:?} is missing in:\n{}", self.seen));
            self.seen.push_str(&line);
            self.seen.push('\n');
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Starts a call and returns its id, in brackets.
    async fn call(&mut self, line: &str) -> String {
        self.say(line).await;
        let started = self.expect(" runs").await;
        started.split(' ').next().unwrap().to_owned()
    }
}

#[tokio::test]
async fn chat_answers_questions_and_cancels_by_id() {
    for (arguments, version) in [(&[][..], "2026-07-28"), (&["legacy"][..], "2025-11-25")] {
        let mut chat = Chat::start(arguments);
        chat.expect(&format!("connected with {version}")).await;

        let id = chat.call(r#"book {"day":"Friday"}"#).await;
        chat.expect("How many guests?").await;
        // An answer that does not fit is asked for again.
        chat.say("count=99").await;
        chat.expect("that does not fit").await;
        chat.expect("How many guests?").await;
        chat.say("count=3").await;
        chat.expect(&format!("{id} a table for 3 on Friday")).await;

        let id = chat.call(r#"book {"day":"Monday"}"#).await;
        chat.expect("How many guests?").await;
        chat.say("no").await;
        chat.expect(&format!("{id} no table")).await;

        let id = chat.call("slogan").await;
        chat.expect("the model is asked: Praise our tea.").await;
        chat.expect(&format!("{id} our slogan: Praise our tea.!!"))
            .await;

        // Both readers see their notifications.
        let id = chat.call(r#"brew {"minutes":600}"#).await;
        chat.expect("log: \"the water boils\"").await;
        chat.expect(&format!("{id} 2 done")).await;
        let number = id.trim_matches(['[', ']']);
        chat.say(&format!("cancel {number}")).await;
        chat.expect(&format!("{id} is cancelled")).await;
        chat.say(&format!("cancel {number}")).await;
        chat.expect("no call has the id").await;

        // A call with an open form is cancelled as well.
        let id = chat.call(r#"book {"day":"Sunday"}"#).await;
        chat.expect("How many guests?").await;
        chat.say(&format!("cancel {}", id.trim_matches(['[', ']'])))
            .await;
        chat.expect(&format!("{id} is cancelled")).await;

        let id = chat.call("conversation").await;
        chat.expect(&format!("{id} c-17")).await;
        chat.say("quit").await;
        assert_eq!(
            timeout(LIMIT, chat.output.next_line())
                .await
                .unwrap()
                .unwrap(),
            None
        );
    }
}
