//! Edits keep the bytes outside of an entry.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;

use super::{EditError, Entry, insert, remove};
use crate::hosts::Host;

fn entry() -> Entry {
    vec![
        ("command", json!("/bin/shop")),
        ("args", json!(["--fast"])),
        ("env", json!({"A": "1"})),
    ]
}

/// Inserts and removes an entry, and returns the text between.
fn round_trip(host: Host, text: &str) -> String {
    let inserted = insert(host, text, "shop", &entry(), false).unwrap();
    assert_eq!(
        insert(host, &inserted, "shop", &entry(), false),
        Ok(inserted.clone())
    );
    let other = vec![("command", json!("other"))];
    assert_eq!(
        insert(host, &inserted, "shop", &other, false),
        Err(EditError::Taken)
    );
    assert!(
        insert(host, &inserted, "shop", &other, true)
            .unwrap()
            .contains("other")
    );
    let removed = remove(host, &inserted, "shop").unwrap().unwrap();
    assert_eq!(remove(host, &removed, "shop"), Ok(None));
    assert!(!removed.contains("shop"), "{removed}");
    inserted
}

#[test]
fn json_keeps_comments_and_order() {
    let text = "{\n  // mine\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"b\": { \"command\": \"b\" }, // second\n  },\n  \"a\": 1\n}\n";
    let inserted = round_trip(Host::Cursor, text);
    for kept in [
        "// mine",
        "\"b\": { \"command\": \"b\" }",
        "// second",
        "\"theme\": \"dark\",\n",
    ] {
        assert!(inserted.contains(kept), "{inserted}");
    }
    assert!(inserted.contains("\"command\": \"/bin/shop\""));
    for text in ["", "{}", "{\"a\": {}}"] {
        assert!(round_trip(Host::Zed, text).contains("context_servers"));
    }
}

#[test]
fn tables_for_an_entry_are_removed() {
    for (text, left) in [
        ("[mcp_servers.a]\nb = 1\n[mcp_servers.a.env]\nc = 1", ""),
        ("[mcp_servers.a]\n[mcp_servers.a.env]", ""),
        (
            "x = [\n[1],\n]\n\n[mcp_servers.a]\nb = \"\"\"\n[c]\n\"\"\"\n\n[d]\n",
            "x = [\n[1],\n]\n\n[d]\n",
        ),
        (
            "[mcp_servers.a]\n\n# b\n[[c]]\n\n[mcp_servers.a.env]\nd = 1\n",
            "\n# b\n[[c]]\n",
        ),
    ] {
        assert_eq!(
            remove(Host::Codex, text, "a").unwrap().as_deref(),
            Some(left),
            "{text}"
        );
    }
}

/// The limit is for debug builds on slow machines: reading the beginning again for each table takes a minute.
#[test]
fn many_tables_take_linear_time() {
    let others: String = (0..20_000).map(|number| format!("[t{number}]\n")).collect();
    let own: String = (0..20_000)
        .map(|number| format!("[mcp_servers.a.t{number}]\n"))
        .collect();
    let start = Instant::now();
    let removed = remove(Host::Codex, &format!("{others}[mcp_servers.a]\n{own}"), "a");
    assert_eq!(removed.unwrap().as_deref(), Some(&*others));
    let time = start.elapsed();
    assert!(time < Duration::from_secs(20), "{time:?}");
}

#[test]
fn toml_keeps_comments_and_order() {
    let text =
        "# mine\nmodel = \"x\"\n\n[mcp_servers.b]\ncommand = \"b\" # second\n\n[tui]\nx = 1\n";
    let inserted = round_trip(Host::Codex, text);
    for kept in [
        "# mine\nmodel",
        "command = \"b\" # second",
        "[tui]",
        "[mcp_servers.shop]",
        "env = { A = \"1\" }",
    ] {
        assert!(inserted.contains(kept), "{inserted}");
    }
    assert!(round_trip(Host::Codex, "").starts_with("[mcp_servers.shop]"));
}

#[test]
fn yaml_keeps_comments_and_order() {
    let text =
        "GOOSE_MODEL: x # mine\nextensions:\n  b:\n    cmd: b\n    envs: {}\n# end\nother: 1\n";
    let inserted = round_trip(Host::Goose, text);
    for kept in ["# mine", "  b:\n    cmd: b\n", "# end\nother: 1"] {
        assert!(inserted.contains(kept), "{inserted}");
    }
    round_trip(Host::Goose, "");
    round_trip(Host::Goose, "GOOSE_MODEL: x\nextensions: {}\n");
}

#[test]
fn files_in_another_form_are_refused() {
    for (host, text) in [
        (Host::Cursor, "{\"mcpServers\": []}"),
        (Host::Cursor, "[1]"),
        (Host::Cursor, "{"),
        (Host::Codex, "mcp_servers = 1"),
        (Host::Codex, "mcp_servers = { a = { command = 'a' } }"),
        (Host::Goose, "extensions: {b: {cmd: b}}"),
        (Host::Goose, "- a"),
    ] {
        let edited = insert(host, text, "shop", &entry(), false);
        assert!(
            matches!(edited, Err(EditError::Unreadable(_))),
            "{text}: {edited:?}"
        );
    }
}

/// Forms of a settings file: its member and a line that the user edits.
#[derive(Debug, Clone)]
struct Form {
    host: Host,
    has_bom: bool,
    is_crlf: bool,
    has_final_line_end: bool,
    is_one_line: bool,
    has_comments: bool,
    has_trailing_comma: bool,
    is_tabbed: bool,
    others: usize,
    entries_first: bool,
}

impl Form {
    fn text(&self) -> String {
        let text = match self.host {
            Host::Codex => self.toml(),
            Host::Goose => self.yaml(),
            _ => self.json(),
        };
        let text = if self.is_crlf {
            text.replace('\n', "\r\n")
        } else {
            text
        };
        let text = if self.has_final_line_end {
            text.as_str()
        } else {
            text.trim_end()
        };
        let bom = if self.has_bom { "\u{feff}" } else { "" };
        format!("{bom}{text}")
    }

    fn json(&self) -> String {
        let (comma, line) = (
            if self.has_trailing_comma { "," } else { "" },
            !self.is_one_line,
        );
        let indent = if self.is_tabbed { "\t" } else { "    " };
        let comment = |text: &str| {
            if self.has_comments {
                format!(" /* {text} */")
            } else {
                String::new()
            }
        };
        let end = |depth: usize| {
            if line {
                format!("\n{}", indent.repeat(depth))
            } else {
                " ".to_owned()
            }
        };
        let names: Vec<_> = (0..self.others)
            .map(|number| format!("\"s{number}\": {{\"command\": \"c\"}}"))
            .collect();
        let separator = format!(",{}{}", comment("after"), end(2));
        let names = names.join(&separator);
        let comma_of_names = if names.is_empty() { "" } else { comma };
        let remark = if line && self.has_comments {
            format!("{}// last", end(2))
        } else {
            comment("last")
        };
        let servers = format!(
            "\"mcpServers\": {{{}{names}{comma_of_names}{remark}{}}}",
            end(2),
            end(1)
        );
        let theme = format!("\"theme\": \"dark\"{}", comment("mine"));
        let members = if self.entries_first {
            [servers, theme]
        } else {
            [theme, servers]
        };
        let members = members.join(&format!(",{}", end(1)));
        format!("{{{}{members}{comma}{}}}\n", end(1), end(0))
    }

    fn toml(&self) -> String {
        let comment = |text: &str| {
            if self.has_comments {
                format!("# {text}\n")
            } else {
                String::new()
            }
        };
        let names = (0..self.others).map(|number| {
            format!(
                "\n{}[mcp_servers.s{number}]\ncommand = \"c\"\n",
                comment("server")
            )
        });
        let names: String = names.collect();
        let other = "\n[tui]\nx = \"\"\"\n[mcp_servers.shop]\n\"\"\"\n";
        let (first, second) = if self.entries_first {
            (&*names, other)
        } else {
            (other, &*names)
        };
        format!(
            "{}theme = \"dark\"\n{first}{second}{}",
            comment("mine"),
            comment("last")
        )
    }

    fn yaml(&self) -> String {
        let comment = |text: &str| {
            if self.has_comments {
                format!("# {text}\n")
            } else {
                String::new()
            }
        };
        let names = (0..self.others).map(|number| {
            format!(
                "  s{number}:\n    {}    cmd: c\n",
                comment("in").replace("\n", "\n    ").trim_end_matches(' ')
            )
        });
        let names: String = names.collect();
        let servers = if names.is_empty() {
            String::new()
        } else {
            format!("extensions:\n{names}{}", comment("after"))
        };
        let theme = format!("{}theme: \"dark\"\n", comment("mine"));
        if self.entries_first {
            format!("{servers}{theme}")
        } else {
            format!("{theme}{servers}")
        }
    }
}

fn forms() -> impl Strategy<Value = Form> {
    let hosts = prop_oneof![Just(Host::Cursor), Just(Host::Codex), Just(Host::Goose)];
    let flags = proptest::array::uniform8(any::<bool>());
    (hosts, flags, 0..3_usize).prop_map(|(host, flags, others)| Form {
        host,
        has_bom: flags[0],
        is_crlf: flags[1],
        has_final_line_end: flags[2],
        is_one_line: flags[3],
        has_comments: flags[4],
        has_trailing_comma: flags[5],
        is_tabbed: flags[6],
        others,
        entries_first: flags[7],
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn bytes_outside_an_entry_stay(form in forms()) {
        let text = form.text();
        let edit = |text: &str| text.replace("\"dark\"", "\"light of day\"");
        let inserted = insert(form.host, &text, "shop", &entry(), false).unwrap();
        // Each byte of the file is there, in its order.
        let mut rest = inserted.bytes();
        prop_assert!(text.bytes().all(|byte| rest.any(|found| found == byte)), "{inserted}");
        let replaced = insert(form.host, &inserted, "shop", &vec![("command", json!("x"))], true).unwrap();
        for inserted in [inserted, replaced] {
            let removed = remove(form.host, &edit(&inserted), "shop").unwrap().unwrap();
            if form.others > 0 {
                prop_assert_eq!(removed, edit(&text), "{}", inserted);
            } else {
                // An empty member may be left.
                prop_assert!(!removed.contains("shop\"") && removed.contains("light of day"), "{removed}");
            }
        }
    }
}
