//! The quirk laboratory: a table of what servers in the field send, and generated deviations of each member.

mod columns;
mod generated;
mod quirks;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use mcp_client::group::{Group, GroupEvent};
use mcp_client::{Client, Omission};
use mcp_types::{CallToolResult, ContentBlock};

use crate::script::{Script, Step, say};
use futures::{FutureExt, StreamExt};
use quirks::{Call, QUIRKS, Quirk, Sent};

/// A server that sends the responses of a row.
fn server(quirk: &Quirk) -> Arc<Script> {
    Script::new(quirk.sent.iter().map(|sent| match sent {
        Sent::Result(result) => vec![raw(result)],
        Sent::Message(message) => vec![say(*message)],
    }))
}

/// The response to the request with the text of a result.
fn raw(result: &str) -> Step {
    say(format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#))
}

/// Appends what is left out, without the list's name.
fn with_omissions(mut text: String, omissions: impl IntoIterator<Item = Omission>) -> String {
    for omission in omissions {
        let told = omission.to_string();
        let told = told.split_once(": ").map_or(&*told, |(_, told)| told);
        let _ = write!(text, "; {told}");
    }
    text
}

fn joined<T>(items: Vec<T>, name: impl Fn(&T) -> String) -> String {
    items.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn shown(result: &CallToolResult) -> String {
    let blocks = result.content.iter().map(|block| match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => {
            let bytes = image.data.as_bytes().len();
            format!("{} of {bytes} bytes", image.mime_type)
        }
        other => format!("{other:?}"),
    });
    let failed = if result.is_error() { "failed: " } else { "" };
    format!("{failed}{}", blocks.collect::<Vec<_>>().join(" | "))
}

async fn by_client(client: &Client, call: Call) -> Result<String, mcp_client::Error> {
    let text = used(client, call, "a").await?;
    Ok(with_omissions(text, client.omissions()))
}

/// Makes the call of a row, whose tool and prompt have this name.
async fn used(client: &Client, call: Call, name: &str) -> Result<String, mcp_client::Error> {
    Ok(match call {
        Call::Tools => joined(client.list_tools().await?, |tool| tool.name.clone()),
        Call::Resources => joined(client.list_resources().await?, |item| item.uri.clone()),
        Call::Prompts => joined(client.list_prompts().await?, |prompt| prompt.name.clone()),
        Call::Tool => shown(&client.call(name, ()).await?),
        Call::Prompt => {
            let messages = client.get_prompt(name, ()).await?.messages.into_iter();
            let content = messages.map(|message| message.content).collect();
            shown(&CallToolResult::new(content))
        }
        Call::Resource => {
            let contents = client.read_resource("a:").await?.contents;
            let texts = contents
                .iter()
                .map(|part| format!("{} {}", part.uri(), part.as_text().unwrap_or_default()));
            texts.collect::<Vec<_>>().join(" | ")
        }
    })
}

async fn by_group(quirk: &Quirk) -> String {
    let script = server(quirk);
    let group = Group::builder()
        .listen(false)
        .server("s", move || {
            let script = script.clone();
            async move { Ok(script.client().await) }
        })
        .build();
    let mut events = group.events();
    let text = match quirk.call {
        Call::Tools => joined(group.list_tools().await.items, |tool| tool.name.clone()),
        Call::Prompts => joined(group.list_prompts().await.items, |item| item.name.clone()),
        _ => panic!("{}: no outcome for groups", quirk.name),
    };
    // The group passes the client's omissions on in a task.
    let client = group.client("s").await.unwrap();
    let mut omissions = Vec::new();
    while omissions.len() < client.omissions().len() {
        if let Some(GroupEvent::Omitted {
            server, omission, ..
        }) = events.next().await
        {
            assert_eq!(&*server, "s");
            omissions.push(omission);
        }
    }
    with_omissions(text, omissions)
}

#[tokio::test]
async fn each_row_in_the_table_has_its_outcome() {
    for quirk in QUIRKS {
        let client = server(quirk).client().await;
        let mut events = client.omission_events();
        let outcome = by_client(&client, quirk.call).await;
        let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", quirk.name));
        assert_eq!(outcome, quirk.client, "{}", quirk.name);
        for omission in client.omissions() {
            assert_eq!(
                events.next().now_or_never(),
                Some(Some(omission)),
                "{}",
                quirk.name
            );
        }
        if let Some(expected) = quirk.group {
            assert_eq!(by_group(quirk).await, expected, "{}", quirk.name);
        }
    }
}

#[tokio::test]
async fn omission_is_reported_once_for_repeated_lists() {
    let page = |tools: &str| vec![raw(&format!(r#"{{"tools":[{tools}]}}"#))];
    let bad = r#"{"name":"bad"}"#;
    let good = r#"{"name":"a","inputSchema":{}}"#;
    let script = Script::new([
        page(bad),
        page(&format!("{good},{bad}")),
        page(good),
        page(bad),
    ]);
    let client = script.client().await;
    let mut events = client.omission_events();
    for (present, reported) in [(1, true), (1, false), (0, false), (1, true)] {
        client.list_tools().fresh().await.unwrap();
        assert_eq!(client.omissions().len(), present);
        assert_eq!(events.next().now_or_never().is_some(), reported);
    }
}

const BEGIN: &str =
    "<!-- quirks: written by `UPDATE_PAGES=1 cargo test -p omnimcp-client world` -->";
const END: &str = "<!-- end of quirks -->";

/// The section of `docs/world.md`.
fn page() -> String {
    let cell = |text: &str| text.replace('|', "\\|").replace('\u{fffd}', "U+FFFD");
    let mut page = format!("{BEGIN}\n\n## Quirks of servers\n\n");
    page.push_str("One thing that is broken never takes others with it. Each row is a test.\n\n");
    page.push_str("| a server sends | in | client | group | gateway | tool set | source |\n|---|---|---|---|---|---|---|\n");
    for quirk in QUIRKS {
        let source = match quirk.source.trim_start_matches("https://") {
            "" => "generated".to_owned(),
            source => format!("[{source}]({})", quirk.source),
        };
        let _ = writeln!(
            page,
            "| {} | `{}` | {} | {} | {} | {} | {source} |",
            cell(quirk.name),
            quirk.call.method(),
            cell(quirk.client),
            cell(quirk.group.unwrap_or("as the client")),
            cell(quirk.gateway.unwrap_or(match quirk.group {
                Some(_) => "as the group",
                None => "as the client",
            })),
            cell(match quirk.call {
                Call::Tools | Call::Tool => quirk.tool_set.unwrap_or("as the client"),
                _ => "–",
            }),
        );
    }
    page.push_str("\nIn addition, each member of each item of a list, of content and of results is dropped, replaced by `null`, `[]`, ");
    page.push_str("`{}`, `true`, a number, a text and a text that is cut inside of a character: the other items stay, also behind a gateway and in a tool set.\n\n");
    page.push_str(END);
    page
}

#[test]
fn page_has_the_rows_from_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/world.md");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let (before, rest) = match text.split_once(BEGIN) {
        Some((before, rest)) => (before, rest.split_once(END).map_or("", |(_, after)| after)),
        None if text.is_empty() => ("# Servers and providers in the field\n\n", "\n"),
        None => (&*text, "\n"),
    };
    let expected = format!("{before}{}{rest}", page());
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let is_current = std::fs::read_to_string(&path).is_ok_and(|text| text == expected);
    assert!(
        is_current,
        "run `UPDATE_PAGES=1 cargo test -p omnimcp-client world`"
    );
}
