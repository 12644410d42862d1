//! Questions to the user, asked on the terminal.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use mcp::types::{Choices, ElicitResult, PrimitiveSchema, escape_line, shorten};
use mcp::{ElicitRequest, UrlRequest};
use serde_json::{Map, Value};
use url::Url;

use crate::output::Output;
use crate::values;

/// Longest answer in bytes.
const MAX_LINE: u64 = 1 << 20;

/// The maximum number of characters of a question: all of it fits on a small screen.
const MAX_QUESTION: usize = 1_500;

/// Characters of a server's text, a name, and a description.
const MAX_TEXT: usize = 1_000;
const MAX_NAME: usize = 100;
const MAX_DESCRIPTION: usize = 300;

/// Choices of a field that are shown, and their characters.
const MAX_CHOICES: usize = 20;
const MAX_VALUES: usize = 600;

/// Bytes of a URL that is shown whole. A longer one is not opened, nor one of a longer host than DNS has.
const MAX_URL: usize = 4_096;
const MAX_HOST: usize = 253;

/// Returns true if a user can answer questions.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal()
}

/// Asks for one line. `None` at the end of input. A long question is cut.
pub(crate) async fn line(output: &Output, question: &str) -> Option<String> {
    output.question(&shorten(&escape_line(question), 2 * MAX_QUESTION));
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

/// Returns a question with text of others as it is shown, in which nothing can be pushed out of sight: blanks that come
/// together and blanks of other scripts are escaped. `None` if it is too long: what is escaped counts as it is shown.
pub(crate) fn whole(question: &str) -> Option<String> {
    let shown = with_visible_blanks(&escape_line(question));
    (shown.chars().count() <= MAX_QUESTION).then_some(shown)
}

fn with_visible_blanks(text: &str) -> String {
    let mut shown = String::new();
    let mut is_after_blank = false;
    for c in text.chars() {
        if c.is_whitespace() && (c != ' ' || is_after_blank) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
        is_after_blank = c.is_whitespace();
    }
    shown
}

/// Returns a text of others as a part of a question: one line without blanks that push the rest out of sight, cut after `max`
/// characters.
fn shown(text: &str, max: usize) -> String {
    let start = shorten(text, max);
    shorten(&with_visible_blanks(&escape_line(&start)), max).into_owned()
}

/// Asks a question that is answered with yes or no. Only `y` and `yes` agree. A question that is too long to be shown is not
/// asked.
pub(crate) async fn agrees(output: &Output, question: &str) -> bool {
    let Some(question) = whole(question) else {
        output.note("declined: the question is too long to be shown");
        return false;
    };
    let answer = line(output, &format!("{question} [y/N] ")).await;
    answer.is_some_and(|answer| matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Answers a form of the server. Declined when no user can answer.
pub(crate) async fn form(output: Output, form: ElicitRequest) -> ElicitResult {
    if !can_ask() {
        output.note("declined a question of the server: standard input is not a terminal");
        return ElicitResult::decline();
    }
    let heading = heading(&form.asker.server, form.message());
    output.question(&format!("{heading}\n"));
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
            Err(error) => output.question(&format!("{}\n", shown(&error.to_string(), MAX_TEXT))),
        }
    }
}

/// Returns a message with the server that asks.
fn heading(server: &str, message: &str) -> String {
    let (server, message) = (shown(server, MAX_NAME), shown(message, MAX_TEXT));
    format!("{server} asks: {message}")
}

/// Asks for one field. `null` leaves it out, `None` is the end of input.
async fn ask_field(output: &Output, name: &str, field: &PrimitiveSchema) -> Option<Value> {
    let question = question(name, field);
    loop {
        let answer = line(output, &question).await?;
        match parse_answer(field, &answer) {
            Ok(value) => return Some(value),
            Err(problem) => output.question(&format!("{}\n", shown(&problem, MAX_TEXT))),
        }
    }
}

/// Returns the question for a field. Its size is bounded, whatever the server sends.
fn question(name: &str, field: &PrimitiveSchema) -> String {
    let mut question = shown(field.title().unwrap_or(name), MAX_NAME);
    if let Some(text) = field.description() {
        question.push_str(&format!(" ({})", shown(text, MAX_DESCRIPTION)));
    }
    question.push_str(&hint(field));
    if let Some(default) = field.default_value() {
        question.push_str(&format!(" [{}]", shown(&default.to_string(), MAX_NAME)));
    }
    question.push_str(": ");
    question
}

fn hint(field: &PrimitiveSchema) -> String {
    match field {
        PrimitiveSchema::Boolean(_) => " {yes, no}".to_owned(),
        PrimitiveSchema::Enum(field) => listed(&field.choices),
        PrimitiveSchema::MultiSelect(field) => {
            format!("{}, separated by commas", listed(&field.choices))
        }
        _ => String::new(),
    }
}

fn listed(choices: &Choices) -> String {
    let mut all = choices.iter().map(|(value, _)| value);
    let values: Vec<_> = all.by_ref().take(MAX_CHOICES).collect();
    let values = shown(&values.join(", "), MAX_VALUES);
    match all.count() {
        0 => format!(" {{{values}}}"),
        more => format!(" {{{values}, and {more} more}}"),
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
    let Some(text) = invitation(&visit.asker.server, visit.message(), visit.url()) else {
        output.note("declined a URL of the server: it is too long to be shown");
        return ElicitResult::decline();
    };
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

/// Returns the question about a URL, which ends with its host. `None` if it cannot be shown whole.
fn invitation(server: &str, message: &str, url: &Url) -> Option<String> {
    let host = url.host_str().unwrap_or("unknown");
    if url.as_str().len() > MAX_URL || host.len() > MAX_HOST {
        return None;
    }
    let heading = heading(server, message);
    Some(format!(
        "{heading}\nIt wants to open {url}\nThe host is {host}\n"
    ))
}

#[cfg(test)]
mod tests {
    use mcp::types::{BooleanSchema, EnumSchema, NumberSchema, StringSchema};
    use serde_json::json;
    use url::Url;

    use super::{MAX_QUESTION, heading, invitation, parse_answer, question, whole};

    #[test]
    fn questions_of_a_server_have_a_bounded_size() {
        let long = " evil\u{200b}".repeat(100_000);
        let values: Vec<String> = (0..10_000).map(|n| format!("{n}{long}")).take(30).collect();
        let field = EnumSchema::new(values).title(&long).description(&long);
        let text = question(&long, &field.into());
        assert!(text.chars().count() <= MAX_QUESTION, "{}", text.len());
        let text = heading(&long, &long);
        assert!(text.chars().count() <= MAX_QUESTION, "{}", text.len());
        let few = EnumSchema::new((0..22).map(|n| n.to_string()).collect::<Vec<_>>());
        assert!(question("n", &few.into()).ends_with("19, and 2 more}: "));
        let url = |url: &str| Url::parse(url).unwrap();
        let shown = invitation("s", "m", &url("https://a.example/")).unwrap();
        assert!(shown.ends_with("open https://a.example/\nThe host is a.example\n"));
        for long in [
            format!("https://a.example/{}", "a".repeat(5_000)),
            format!("https://{}example/", "a.".repeat(150)),
        ] {
            assert_eq!(invitation("s", "m", &url(&long)), None);
        }
    }

    #[test]
    fn blanks_push_nothing_out_of_sight() {
        let text = heading("s", &format!("a{}b\u{3000}c", " ".repeat(40)));
        assert!(text.starts_with("s asks: a \\u{20}\\u{20}"), "{text}");
        assert!(text.ends_with("b\\u{3000}c"), "{text}");
        assert_eq!(whole("a  b").as_deref(), Some("a \\u{20}b"));
        assert_eq!(whole(&"a".repeat(MAX_QUESTION + 1)), None);
        // Characters that are escaped push the end of the question behind no cut.
        assert_eq!(whole(&"\u{3164}".repeat(MAX_QUESTION / 4)), None);
    }

    #[test]
    fn answers_get_the_type_from_their_field() {
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
