//! Questions to the user, asked on the terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use mcp::types::ElicitResult;
use mcp::types::{PrimitiveSchema, escape_line};
use mcp::{ElicitRequest, UrlRequest};
use serde_json::{Map, Value};

use crate::output::Output;
use crate::values;

/// Longest answer in bytes.
const MAX_LINE: u64 = 1 << 20;

/// Returns true if a user can answer questions.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal()
}

/// Asks for one line. `None` at the end of input.
pub(crate) async fn line(output: &Output, question: &str) -> Option<String> {
    output.question(&escape_line(question));
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        let read = io::stdin().lock().take(MAX_LINE).read_line(&mut line);
        match read {
            Ok(1..) => Some(line.trim_end_matches(['\r', '\n']).to_owned()),
            _ => None,
        }
    });
    read.await.ok().flatten()
}

/// Asks for a secret, which the terminal does not show. `None` without a terminal, and for an empty answer.
pub(crate) async fn secret(output: &Output, question: &str) -> Option<String> {
    if !can_ask() {
        return None;
    }
    output.question(question);
    let read = tokio::task::spawn_blocking(rpassword::read_password).await;
    let typed = read.ok()?.ok()?;
    Some(typed).filter(|typed| !typed.is_empty())
}

/// Asks a question that is answered with yes or no. Only `y` and `yes` agree.
pub(crate) async fn agrees(output: &Output, question: &str) -> bool {
    let answer = line(output, &format!("{question} [y/N] ")).await;
    answer.is_some_and(|answer| matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Answers a form of the server. Declined when no user can answer.
pub(crate) async fn form(output: Output, form: ElicitRequest) -> ElicitResult {
    if !can_ask() {
        output.note("declined a question of the server: standard input is not a terminal");
        return ElicitResult::decline();
    }
    let heading = format!("{} asks: {}", form.asker.server, form.message());
    output.question(&format!("{}\n", escape_line(&heading)));
    if !agrees(&output, "Answer?").await {
        return ElicitResult::decline();
    }
    loop {
        let mut answers = Map::new();
        for (name, field) in form.schema().fields() {
            let Some(value) = ask_field(&output, name, field).await else {
                return ElicitResult::cancel();
            };
            if !value.is_null() {
                answers.insert(name.to_owned(), value);
            }
        }
        match form.accept(Value::Object(answers)) {
            Ok(result) => return result,
            Err(error) => output.question(&format!("{}\n", escape_line(&error.to_string()))),
        }
    }
}

/// Asks for one field. `null` leaves it out, `None` is the end of input.
async fn ask_field(output: &Output, name: &str, field: &PrimitiveSchema) -> Option<Value> {
    let title = field.title().unwrap_or(name);
    let mut question = title.to_owned();
    if let Some(text) = field.description() {
        question.push_str(&format!(" ({text})"));
    }
    question.push_str(&hint(field));
    if let Some(default) = field.default_value() {
        question.push_str(&format!(" [{default}]"));
    }
    question.push_str(": ");
    loop {
        let answer = line(output, &question).await?;
        match parse_answer(field, &answer) {
            Ok(value) => return Some(value),
            Err(problem) => output.question(&format!("{}\n", escape_line(&problem))),
        }
    }
}

fn hint(field: &PrimitiveSchema) -> String {
    let listed = |choices: Vec<&str>| format!(" {{{}}}", choices.join(", "));
    match field {
        PrimitiveSchema::Boolean(_) => " {yes, no}".to_owned(),
        PrimitiveSchema::Enum(it) => listed(it.choices.iter().map(|(value, _)| value).collect()),
        PrimitiveSchema::MultiSelect(it) => {
            let choices = it.choices.iter().map(|(value, _)| value).collect();
            format!("{}, separated by commas", listed(choices))
        }
        _ => String::new(),
    }
}

/// Converts an answer to the type of the field. An empty answer is `null`.
fn parse_answer(field: &PrimitiveSchema, answer: &str) -> Result<Value, String> {
    if answer.is_empty() {
        return Ok(Value::Null);
    }
    match field {
        PrimitiveSchema::Boolean(_) => values::parse_bool(answer)
            .map(Value::Bool)
            .ok_or_else(|| "answer with yes or no".to_owned()),
        PrimitiveSchema::Number(_) => {
            values::parse_number(answer).ok_or_else(|| format!("{answer:?} is not a number"))
        }
        PrimitiveSchema::MultiSelect(_) => {
            let parts = answer.split(',').map(|part| part.trim().into());
            Ok(Value::Array(parts.collect()))
        }
        _ => Ok(answer.into()),
    }
}

/// Opens a page. Returns false if no browser could be started. A browser that starts may still show nothing.
pub(crate) async fn open_browser(page: String) -> bool {
    let opened = tokio::task::spawn_blocking(move || webbrowser::open(&page)).await;
    matches!(opened, Ok(Ok(())))
}

/// Shows a URL from the server, and opens it if the user agrees.
// spec: ELIC-12, ELIC-14
pub(crate) async fn visit(output: Output, visit: UrlRequest) -> ElicitResult {
    if !can_ask() {
        output.note("declined a URL of the server: standard input is not a terminal");
        return ElicitResult::decline();
    }
    let heading = format!("{} asks: {}", visit.asker.server, visit.message());
    let text = format!(
        "{}\nIt wants to open {}\nThe host is {}\n",
        escape_line(&heading),
        visit.url(),
        visit.url().host_str().unwrap_or("unknown"),
    );
    output.question(&text);
    if !agrees(&output, "Open it in the browser?").await {
        return ElicitResult::decline();
    }
    if !open_browser(visit.url().to_string()).await {
        output.question("No browser could be started. Open the URL yourself.\n");
    }
    if line(&output, "Press Enter when you have finished there. ")
        .await
        .is_none()
    {
        return ElicitResult::cancel();
    }
    visit.complete();
    ElicitResult::accept_url()
}

#[cfg(test)]
mod tests {
    use mcp::types::{BooleanSchema, NumberSchema, StringSchema};
    use serde_json::json;

    use super::parse_answer;

    #[test]
    fn answers_have_the_type_of_their_field() {
        let yes = parse_answer(&BooleanSchema::new().into(), "yes");
        assert_eq!(yes, Ok(json!(true)));
        let number = parse_answer(&NumberSchema::integer().into(), "12");
        assert_eq!(number, Ok(json!(12)));
        let text = parse_answer(&StringSchema::new().into(), "12");
        assert_eq!(text, Ok(json!("12")));
        let empty = parse_answer(&StringSchema::new().into(), "");
        assert_eq!(empty, Ok(json!(null)));
        assert!(parse_answer(&NumberSchema::number().into(), "many").is_err());
    }
}
