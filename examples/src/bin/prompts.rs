//! Prompts with typed arguments, and completion of the arguments.
//! The client runs in the same process and prints the results.
//!
//! `cargo run -p examples --bin prompts`

#![allow(clippy::print_stdout, reason = "example output")]

use mcp::prelude::*;
use mcp::types::{CompleteParams, CompletionReference};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;

/// The tone of a review. Values of an enum are completed automatically.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Friendly,
    Formal,
    Frank,
}

struct Reviews {
    files: Vec<&'static str>,
}

/// Prompts for reviews.
#[mcp::server]
impl Reviews {
    /// Review a file.
    #[prompt(title = "Review")]
    fn review(
        &self,
        /** path relative to the root directory */
        file: String,
        tone: Option<Tone>,
        /** maximum number of remarks */
        #[arg(default = 3, range = 1..=10)]
        remarks: u32,
    ) -> Result<[PromptMessage; 2], PromptError> {
        if !self.files.contains(&file.as_str()) {
            return Err(PromptError::invalid_params(format!(
                "`file`: {file} does not exist"
            )));
        }
        let tone = tone.unwrap_or(Tone::Friendly);
        Ok([
            user(format!(
                "Review {file} in a {tone:?} way, with at most {remarks} remarks."
            )),
            assistant("I have read it. My remarks:"),
        ])
    }

    #[completion(prompt = "review", argument = "file")]
    fn files(&self, prefix: &str) -> Vec<&'static str> {
        let files = self.files.iter().copied();
        files.filter(|file| file.starts_with(prefix)).collect()
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let reviews = Reviews {
        files: vec!["src/lib.rs", "src/main.rs", "README.md"],
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(mcp::serve_http(reviews, listener));

    let client = Client::connect(&url).await?;
    for prompt in client.list_prompts().await? {
        println!("prompt {}:", prompt.display_name());
        for argument in &prompt.arguments {
            let required = if argument.is_required() {
                "required"
            } else {
                "optional"
            };
            println!("  {} ({required})", argument.name);
        }
    }
    for (argument, typed) in [("file", "src/"), ("tone", "F"), ("remarks", "1")] {
        let review = CompletionReference::prompt("review");
        let params = CompleteParams::new(review, argument, typed);
        let found = client.complete(params).await?.completion;
        println!("{argument} {typed}…: {}", found.values.join(", "));
    }
    for arguments in [
        json!({"file": "src/lib.rs", "tone": "frank", "remarks": "2"}),
        json!({"file": "src/lib.rs", "tone": "rude"}),
        json!({"file": "secret.txt"}),
    ] {
        match client.get_prompt("review", arguments).await {
            Ok(result) => {
                for message in result.messages {
                    println!(
                        "{}: {}",
                        message.role,
                        message.content.as_text().unwrap_or("…")
                    );
                }
            }
            Err(error) => println!("refused: {error}"),
        }
    }
    Ok(())
}
