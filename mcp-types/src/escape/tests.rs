//! One character of each kind, and text that stays as it is.

use std::borrow::Cow;

use serde_json::{Value, json};

use expect_test::expect_file;
use icu_properties::CodePointSetData;
use icu_properties::props::{DefaultIgnorableCodePoint, Emoji};

use super::{escape_block, escape_json, escape_line, escaped, shorten, truncate};

#[test]
fn hidden_characters_are_escaped() {
    for (c, escaped) in [
        ('\n', r"\n"),
        ('\r', r"\r"),
        ('\t', r"\t"),
        ('\0', r"\u{0}"),
        ('\u{8}', r"\u{8}"),
        ('\u{1b}', r"\u{1b}"),
        ('\u{7f}', r"\u{7f}"),
        ('\u{85}', r"\u{85}"),
        ('\u{9b}', r"\u{9b}"),
        ('\u{61c}', r"\u{61c}"),
        ('\u{200b}', r"\u{200b}"),
        ('\u{200d}', r"\u{200d}"),
        ('\u{200f}', r"\u{200f}"),
        ('\u{2028}', r"\u{2028}"),
        ('\u{202e}', r"\u{202e}"),
        ('\u{2060}', r"\u{2060}"),
        ('\u{2066}', r"\u{2066}"),
        ('\u{feff}', r"\u{feff}"),
        ('\u{e0041}', r"\u{e0041}"),
        ('\u{115f}', r"\u{115f}"),
        ('\u{1160}', r"\u{1160}"),
        ('\u{17b4}', r"\u{17b4}"),
        ('\u{17b5}', r"\u{17b5}"),
        ('\u{180f}', r"\u{180f}"),
        ('\u{2800}', r"\u{2800}"),
        ('\u{3164}', r"\u{3164}"),
        ('\u{fe00}', r"\u{fe00}"),
        ('\u{fe0f}', r"\u{fe0f}"),
        ('\u{ffa0}', r"\u{ffa0}"),
        ('\u{fff9}', r"\u{fff9}"),
        ('\u{1bca3}', r"\u{1bca3}"),
        ('\u{1d173}', r"\u{1d173}"),
        ('\u{e0080}', r"\u{e0080}"),
        ('\u{e01ef}', r"\u{e01ef}"),
    ] {
        let text = format!("ä{c}b{c}");
        let line = format!("ä{escaped}b{escaped}");
        assert_eq!(escape_line(&text), line);
        assert_eq!(escape_line(&line), line, "twice");
        let block = if matches!(c, '\n' | '\t') {
            text.clone()
        } else {
            line
        };
        assert_eq!(escape_block(&text), block);
    }
}

#[test]
fn long_text_is_cut_between_two_characters() {
    assert_eq!(
        [1, 2, 3, 9].map(|max| truncate("aéb", max)),
        ["a", "a", "aé", "aéb"]
    );
    assert_eq!(
        [0, 2, 3].map(|max| shorten("aéb", max)),
        ["…", "aé…", "aéb"]
    );
}

#[test]
fn visible_text_is_borrowed() {
    for text in ["", "C:\\temp \"x\" {}", "日本語 Ελληνικά עברית 🦀 é"] {
        assert!(matches!(escape_line(text), Cow::Borrowed(same) if same == text));
    }
}

#[test]
fn escaped_json_has_the_same_value_and_no_hidden_character() {
    let hidden = "a\n\r\t\u{1b}\u{7f}\u{9b}\u{200b}\u{202e}\u{2028}\u{e0041}é";
    let value = json!({ hidden: [hidden] });
    let pretty = format!("{value:#}");
    for json in [
        value.to_string(),
        pretty.clone(),
        pretty.replace('\n', "\r\n"),
    ] {
        let escaped = escape_json(&json);
        let is_shown = |c: char| matches!(c, '\n' | ' '..='~' | 'é');
        assert!(escaped.chars().all(is_shown), "{escaped}");
        let parsed: Value = serde_json::from_str(&escaped).unwrap();
        assert_eq!(parsed, value);
        assert!(matches!(escape_json(&escaped), Cow::Borrowed(_)), "twice");
    }
}

#[test]
fn one_selector_after_an_emoji_stays() {
    for (text, line) in [
        // Emoji and text presentation, keycaps.
        ("\u{2764}\u{fe0f}", "\u{2764}\u{fe0f}"),
        ("\u{2764}\u{fe0e}", "\u{2764}\u{fe0e}"),
        ("1\u{fe0f}\u{20e3}", "1\u{fe0f}\u{20e3}"),
        ("#\u{fe0f}\u{20e3}", "#\u{fe0f}\u{20e3}"),
        // The base of a keycap without the keycap: `pay1` in two spellings.
        ("pay1\u{fe0f}", "pay1\\u{fe0f}"),
        (
            "*\u{fe0e} 2\u{fe0f}\u{fe0f}\u{20e3}",
            "*\\u{fe0e} 2\\u{fe0f}\\u{fe0f}\u{20e3}",
        ),
        // A second selector, another one, one without a base.
        ("\u{2764}\u{fe0f}\u{fe0f}", "\u{2764}\u{fe0f}\\u{fe0f}"),
        ("\u{2764}\u{fe00}", "\u{2764}\\u{fe00}"),
        ("a\u{fe0f}", "a\\u{fe0f}"),
        ("\u{fe0e}", "\\u{fe0e}"),
        // A family, and a flag of tags: the parts are shown.
        ("👩\u{200d}👧", "👩\\u{200d}👧"),
        ("❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f}\\u{200d}🔥"),
        ("🏴\u{e0067}\u{e007f}", "🏴\\u{e0067}\\u{e007f}"),
        ("👍🏽", "👍🏽"),
        // Variants of CJK characters.
        ("葛\u{e0100}", "葛\\u{e0100}"),
        ("神\u{fe00}", "神\\u{fe00}"),
        ("。\u{fe01}", "。\\u{fe01}"),
    ] {
        assert_eq!(escape_line(text), line);
        assert_eq!(escape_line(line), line, "twice");
        assert_eq!(escape_block(text), line);
        assert_eq!(escaped(text).to_string(), line);
        let json = json!([text]).to_string();
        let parsed: Value = serde_json::from_str(&escape_json(&json)).unwrap();
        assert_eq!(parsed, json!([text]));
    }
    assert_eq!(escape_json("[\"❤\u{fe0f}\"]"), "[\"❤\u{fe0f}\"]");
    // The selector follows U+0000, not the digit in the text.
    let json = json!("\0\u{fe0f}").to_string();
    assert_eq!(escape_json(&json), r#""\u0000\ufe0f""#);
}

/// `UPDATE_EXPECT=1` writes the table again. Its Unicode version stands in the documentation of `icu_properties_data`.
#[test]
fn table_has_the_properties_from_unicode() {
    let boundaries =
        |name: &str, ranges: &mut dyn Iterator<Item = std::ops::RangeInclusive<u32>>| {
            let boundaries: Vec<_> = ranges
                .flat_map(|range| [*range.start(), range.end() + 1])
                .map(|boundary| format!("0x{boundary:x},"))
                .collect();
            let lines: Vec<_> = boundaries
                .chunks(10)
                .map(|line| format!("    {}\n", line.join(" ")))
                .collect();
            format!(
                "\n#[rustfmt::skip]\npub(super) const {name}: [u32; {}] = [\n{}];\n",
                boundaries.len(),
                lines.concat()
            )
        };
    let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    let emoji = CodePointSetData::new::<Emoji>();
    let table = format!(
        "//! Properties of Unicode 18.0. Each list has the characters at which a property alternately begins and ends.\n{}{}",
        boundaries("DEFAULT_IGNORABLE", &mut ignorable.iter_ranges()),
        boundaries("EMOJI", &mut emoji.iter_ranges()),
    );
    expect_file!["properties.rs"].assert_eq(&table);
    for c in '\0'..=char::MAX {
        let text = c.to_string();
        let is_shown = matches!(escape_line(&text), Cow::Borrowed(_));
        assert!(
            !(ignorable.contains(c) && is_shown),
            "{:?}",
            c.escape_unicode().to_string()
        );
    }
}
