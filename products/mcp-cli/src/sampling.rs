//! Sampling: a command of the user stands for the language model.

use std::process::Stdio;
use std::time::Duration;

use mcp::types::CreateMessageResult;
use mcp::{Rejected, SampleRequest};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Longest answer of the command in bytes.
const MAX_ANSWER: u64 = 4 << 20;

/// Answers a sampling request by a shell command. The command receives the request as JSON on
/// standard input, and prints the answer: text, or a result as JSON.
pub(crate) async fn sample(
    command: String,
    limit: Duration,
    request: SampleRequest,
) -> Result<CreateMessageResult, Rejected> {
    let refused = |reason: String| Rejected::new(format!("the sampling command failed: {reason}"));
    let input = serde_json::to_vec(&request.params).map_err(|error| refused(error.to_string()))?;
    let mut child = shell(&command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| refused(error.to_string()))?;
    let answer = timeout(limit, run(&mut child, &input)).await;
    let answer =
        answer.map_err(|_| refused(format!("no answer within {} s", limit.as_secs_f64())))?;
    let answer = answer.map_err(refused)?;
    Ok(parse(answer.trim()))
}

fn shell(command: &str) -> Command {
    let (program, flag) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("sh", "-c")
    };
    let mut shell = Command::new(program);
    shell.arg(flag).arg(command);
    shell
}

async fn run(child: &mut Child, input: &[u8]) -> Result<String, String> {
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let write = async {
        if let Some(mut stdin) = stdin {
            // A command that reads no input may have ended already.
            let _ = stdin.write_all(input).await;
        }
    };
    let mut answer = Vec::new();
    let read = async {
        match stdout {
            Some(stdout) => stdout.take(MAX_ANSWER + 1).read_to_end(&mut answer).await,
            None => Ok(0),
        }
    };
    let ((), read) = tokio::join!(write, read);
    read.map_err(|error| error.to_string())?;
    if answer.len() as u64 > MAX_ANSWER {
        return Err(format!("the answer is longer than {MAX_ANSWER} bytes"));
    }
    let status = child.wait().await.map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(status.to_string());
    }
    String::from_utf8(answer).map_err(|_| "the answer is not UTF-8".to_owned())
}

/// Reads a result; other text is the content of one.
fn parse(answer: &str) -> CreateMessageResult {
    serde_json::from_str(answer).unwrap_or_else(|_| CreateMessageResult::new("command", answer))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn answer_is_text_or_a_result() {
        assert_eq!(parse("yes").content.text(), "yes");
        assert_eq!(parse(r#"{"a": 1}"#).content.text(), r#"{"a": 1}"#);
        let text =
            r#"{"role": "assistant", "model": "m", "content": {"type": "text", "text": "a"}}"#;
        let result = parse(text);
        assert_eq!((&*result.model, &*result.content.text()), ("m", "a"));
    }
}
