//! Tools whose calls become tasks.

use std::time::Duration;

use mcp::ToolError;
use mcp::core::Fault;
use mcp::prelude::*;
use mcp::types::{ErrorObject, codes};
use tokio::time::sleep;

pub(crate) struct TaskTools;

#[derive(Elicit)]
struct Confirmation {
    confirm: bool,
}

#[derive(Elicit)]
struct PersonName {
    name: String,
}

#[mcp::server(routes = routes)]
impl TaskTools {
    /// Greets at once
    #[tool]
    fn greet(name: String) -> String {
        format!("Hello, {name}!")
    }

    /// Computes for some seconds
    #[tool(task = "after 50ms")]
    async fn slow_compute(seconds: f64, label: Option<String>, progress: Progress) -> String {
        progress.report(0.0, seconds, "computing").await;
        sleep(Duration::from_secs_f64(seconds.clamp(0.0, 60.0))).await;
        let label = label.unwrap_or_else(|| "computation".to_owned());
        format!("{label} finished after {seconds} s")
    }

    /// Fails after one second
    #[tool(task = "required")]
    async fn failing_job() -> Result<String, ToolError> {
        sleep(Duration::from_secs(1)).await;
        Err(ToolError::new("the job failed"))
    }

    /// Ends with a protocol error
    #[tool(task = "always")]
    async fn protocol_error_job() -> Result<String, ToolError> {
        sleep(Duration::from_millis(300)).await;
        let error = ErrorObject::new(codes::INTERNAL_ERROR, "the job ended with a protocol error");
        Err(ToolError::fault(Fault::Protocol(error)))
    }

    /// Deletes a file after a confirmation
    #[tool(task = "always")]
    async fn confirm_delete(filename: String, ask: Ask) -> Result<String, ToolError> {
        let question = format!("Delete {filename}?");
        let answer = ask.form::<Confirmation>("confirm", question).await?;
        Ok(match answer.accepted() {
            Some(Confirmation { confirm: true }) => format!("deleted {filename}"),
            _ => format!("kept {filename}"),
        })
    }

    /// Requests two inputs at once
    #[tool(task = "always")]
    async fn multi_input(ask: Ask) -> Result<String, ToolError> {
        let first = ask.form::<PersonName>("first", "What is your first name?");
        let second = ask.form::<PersonName>("second", "What is your second name?");
        let (first, second) = ask.all((first, second)).await?;
        let name = |answer: Answer<PersonName>| {
            answer
                .accepted()
                .map(|accepted| accepted.name)
                .unwrap_or_default()
        };
        Ok(format!("{} {}", name(first), name(second)))
    }

    /// Requests a name, then works as a task
    #[tool(task = "after 50ms")]
    async fn test_tool_with_task(ask: Ask) -> Result<String, ToolError> {
        let answer = ask
            .form::<PersonName>("user_name", "What is your name?")
            .await?;
        sleep(Duration::from_millis(500)).await;
        let name = answer
            .accepted()
            .map(|accepted| accepted.name)
            .unwrap_or_default();
        Ok(format!("Hello, {name}!"))
    }
}
