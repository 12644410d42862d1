//! The size of results: [`Tokens`], and the stored parts of long ones.

use std::collections::VecDeque;

use mcp_types::{CallToolResult, Meta, Tool};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::result::Part;
use crate::search;

/// Name of the tool that reads stored results.
pub(crate) const READ_RESULT: &str = "read_result";

/// Estimated characters per token: 4 in English text, fewer in JSON and code.
const CHARS_PER_TOKEN: usize = 4;
/// Stored results, and their characters together.
const MAX_STORED: usize = 32;
const MAX_STORED_CHARS: usize = 8 << 20;
/// The result size in characters that a server asks for, in `_meta` of a tool or a result.
const SIZE_HINT: &str = "anthropic/maxResultSizeChars";
/// Largest size that a server receives.
const MAX_HINT: usize = 500_000;
/// Lines that a call reads by default.
const DEFAULT_LINES: usize = 200;
/// Maximum length of a line, in characters. JSON is often one long line, which is split so that a model can read parts.
const LINE_CHARS: usize = 500;

/// An estimated number of tokens: a quarter of the characters.
///
/// # Examples
///
/// ```
/// use mcp::toolset::Tokens;
///
/// assert_eq!(Tokens::of("four letters"), Tokens(3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "a number with a unit")]
pub struct Tokens(pub usize);

impl Tokens {
    /// Estimates the number of tokens in a text.
    pub fn of(text: &str) -> Self {
        Self(text.chars().count().div_ceil(CHARS_PER_TOKEN))
    }

    fn chars(self) -> usize {
        self.0.saturating_mul(CHARS_PER_TOKEN)
    }
}

/// Returns the size that a server asks for.
pub(crate) fn hint(meta: Option<&Meta>) -> Tokens {
    let chars: Option<usize> = meta.and_then(|meta| meta.get(SIZE_HINT));
    Tokens(chars.unwrap_or_default().min(MAX_HINT) / CHARS_PER_TOKEN)
}

/// Adds the size that a tool asks for to its result, unless the result has its own.
pub(crate) fn add_hint(result: &mut CallToolResult, tool: &Tool) {
    let hint: Option<usize> = tool.meta.as_ref().and_then(|meta| meta.get(SIZE_HINT));
    let meta = result.meta.get_or_insert_default();
    if let Some(hint) = hint
        && !meta.contains_key(SIZE_HINT)
    {
        meta.insert(SIZE_HINT, hint);
    }
}

/// The results that were too long, the newest last.
#[derive(Debug, Default)]
pub(crate) struct StoredResults(Mutex<Stored>);

#[derive(Debug, Default)]
struct Stored {
    count: usize,
    texts: VecDeque<(String, String)>,
}

impl StoredResults {
    /// Bounds a result: what does not fit is cut in the middle, with one note, and stored.
    pub(crate) fn shorten(&self, parts: &mut Vec<Part>, budget: Tokens) {
        let mut left = budget.chars();
        let mut rest: Vec<String> = Vec::new();
        for part in std::mem::take(parts) {
            let size = |part: &Part| match part {
                Part::Text(text) => text.chars().count(),
                Part::Media(media) => Tokens(media.tokens).chars(),
            };
            let part = match part {
                Part::Media(media) if Tokens(media.tokens).chars() > left => Part::Text(media.note),
                part => part,
            };
            if rest.is_empty() && size(&part) <= left {
                left -= size(&part);
                parts.push(part);
            } else {
                rest.push(part.into_text());
            }
        }
        if !rest.is_empty() {
            let text = rest.join("\n");
            let id = self.store(&text);
            parts.push(Part::Text(cut(&text, left, &id)));
        }
    }

    fn store(&self, text: &str) -> String {
        let mut stored = self.0.lock();
        stored.count += 1;
        let id = format!("r{}", stored.count);
        let text: String = text.chars().take(MAX_STORED_CHARS).collect();
        stored.texts.push_back((id.clone(), text));
        let size = |stored: &Stored| {
            stored
                .texts
                .iter()
                .map(|(_, text)| text.len())
                .sum::<usize>()
        };
        while stored.texts.len() > MAX_STORED
            || stored.texts.len() > 1 && size(&stored) > MAX_STORED_CHARS
        {
            stored.texts.pop_front();
        }
        id
    }

    /// Answers a call of `read_result`: lines from a number on, or those that have a text.
    pub(crate) fn read(&self, arguments: &Value) -> CallToolResult {
        let stored = self.0.lock();
        let id = arguments["id"].as_str().unwrap_or_default();
        let Some((_, text)) = stored.texts.iter().find(|(stored, _)| stored == id) else {
            let id = mcp_types::escape_line(id);
            return CallToolResult::error(format!(
                "there is no stored result {id:?}; call the tool again"
            ));
        };
        let number = |name: &str, default: usize| {
            let number = arguments.get(name).and_then(Value::as_u64);
            number.map_or(default, |number| {
                usize::try_from(number).unwrap_or(usize::MAX)
            })
        };
        let from = number("from", 1).max(1);
        let count = number("lines", DEFAULT_LINES);
        let search = arguments["search"].as_str().map(str::to_lowercase);
        let lines = text.lines().flat_map(wrapped).enumerate().skip(from - 1);
        let lines = lines.filter(|(_, line)| {
            search
                .as_ref()
                .is_none_or(|search| line.to_lowercase().contains(search))
        });
        let lines = lines
            .take(count)
            .map(|(index, line)| format!("{}: {line}", index + 1));
        CallToolResult::from_text(lines.collect::<Vec<_>>().join("\n"))
    }
}

/// Returns the first two thirds and the last third of `left` characters, and a note between them.
fn cut(text: &str, left: usize, id: &str) -> String {
    let chars = text.chars().count();
    let start = left * 2 / 3;
    let end = left - start;
    let missing = chars - left;
    let head: String = text.chars().take(start).collect();
    let tail: String = text.chars().skip(chars - end).collect();
    format!(
        "{head}\n[{missing} of {chars} characters are missing here: {READ_RESULT} with id {id:?} has all lines]\n{tail}"
    )
}

/// Splits a line into parts of at most [`LINE_CHARS`].
fn wrapped(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let line = rest?;
        let end = line.char_indices().nth(LINE_CHARS);
        let (part, after) = match end {
            Some((end, _)) => line.split_at(end),
            None => (line, ""),
        };
        rest = (!after.is_empty()).then_some(after);
        Some(part)
    })
}

/// Returns the definition of `read_result`.
pub(crate) fn read_result_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string", "description": "The id in the note of the cut result."},
            "from": {"type": "integer", "minimum": 1, "description": "Number of the first line. Default: 1."},
            "lines": {"type": "integer", "minimum": 1, "description": "Number of lines. Default: 200."},
            "search": {"type": "string", "description": "Returns only lines with this text."},
        },
        "required": ["id"],
    });
    search::tool(READ_RESULT, schema)
        .description(
            "Returns lines of a result that was too long. Lines have at most 500 characters.",
        )
        .read_only()
        .open_world(false)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Part, StoredResults, Tokens};
    use crate::media::Media;

    #[test]
    fn one_long_line_is_read_in_parts() {
        let results = StoredResults::default();
        let items: Vec<String> = (0..1000).map(|n| format!(r#"{{"id":{n}}}"#)).collect();
        let json = format!("[{}]", items.join(","));
        results.shorten(&mut vec![Part::Text(json.clone())], Tokens(25));
        let all = results.read(&json!({"id": "r1"})).text();
        let parts = all.lines().map(|line| line.split_once(": ").unwrap().1);
        assert!(parts.clone().all(|part| part.len() <= 500), "{all}");
        assert_eq!(parts.collect::<String>(), json);
        let found = results.read(&json!({"id": "r1", "search": "{\"id\":777}"}));
        assert_eq!(found.text().lines().count(), 1);
        let part = results.read(&json!({"id": "r1", "from": 3, "lines": 1}));
        assert!(part.text().starts_with("3: "), "{}", part.text());
    }

    #[test]
    fn long_result_is_cut_in_the_middle_and_stays_readable() {
        let results = StoredResults::default();
        let text: Vec<String> = (1..=100).map(|n| format!("line é {n}")).collect();
        let mut parts = vec![Part::Text("short".to_owned()), Part::Text(text.join("\n"))];
        results.shorten(&mut parts, Tokens(25));
        assert_eq!(parts[0], Part::Text("short".to_owned()));
        let Part::Text(cut) = &parts[1] else {
            panic!("{parts:?}");
        };
        assert!(
            cut.starts_with("line é 1\n") && cut.ends_with("100"),
            "{cut}"
        );
        assert!(cut.contains("read_result with id \"r1\""), "{cut}");
        let read = results.read(&json!({"id": "r1", "from": 50, "lines": 2}));
        assert_eq!(read.text(), "50: line é 50\n51: line é 51");
        let found = results.read(&json!({"id": "r1", "search": "LINE É 77"}));
        assert_eq!(found.text(), "77: line é 77");
        assert!(results.read(&json!({"id": "r9"})).is_error());
        for _ in 0..40 {
            results.shorten(&mut vec![Part::Text("x".repeat(9))], Tokens(1));
        }
        assert!(
            results.read(&json!({"id": "r1"})).is_error(),
            "the oldest is dropped"
        );
    }

    #[test]
    fn budget_bounds_blocks_notes_and_images_together() {
        let results = StoredResults::default();
        let image = Media {
            kind: "image/png",
            data: "x".repeat(10_000),
            tokens: 600,
            note: "[image image/png, 7500 bytes]".to_owned(),
        };
        let mut parts = Vec::new();
        for number in 0..10_000 {
            parts.push(Part::Text(format!("block {number}")));
            parts.push(Part::Media(image.clone()));
        }
        results.shorten(&mut parts, Tokens(1_000));
        let images = parts.iter().filter(|part| matches!(part, Part::Media(_)));
        assert_eq!(images.count(), 1);
        let text: Vec<_> = parts.into_iter().map(Part::into_text).collect();
        let text = text.join("\n");
        assert!(text.len() < 2_000, "{}", text.len());
        assert_eq!(text.matches("read_result").count(), 1, "{text}");
        let found = results.read(&json!({"id": "r1", "search": "block 9999"}));
        assert!(found.text().contains("block 9999"));
    }
}
