//! Request paths, which stay below the base URL's path.

use percent_encoding::percent_decode_str;

/// Checks a path of a document, before its variables have values.
///
/// # Errors
///
/// Returns the reason why requests with this path could leave the base URL.
pub(super) fn check_template(path: &str) -> Result<(), String> {
    let refused = |reason: &str| Err(format!("its path {reason}"));
    if !path.starts_with('/') {
        return refused("does not start with `/`");
    }
    let mut decoded = path.to_owned();
    loop {
        if decoded.contains("//") || decoded.contains(['\\', '?', '#']) {
            return refused("contains `//`, `\\`, `?` or `#`");
        }
        if decoded.chars().any(char::is_control) {
            return refused("contains a control character");
        }
        if has_dot_segment(&decoded) {
            return refused("contains the segment `.` or `..`");
        }
        let Ok(again) = percent_decode_str(&decoded).decode_utf8() else {
            return refused("is not UTF-8");
        };
        if again == decoded {
            break;
        }
        decoded = again.into_owned();
    }
    // With a value behind it, the sign could become an escaped character.
    if decoded.contains('%') {
        return refused("contains `%` without two hexadecimal digits");
    }
    Ok(())
}

/// Returns whether a path with the values of its variables stays below its first segments.
pub(super) fn is_below(path: &str) -> bool {
    let decoded = percent_decode_str(path).decode_utf8();
    decoded.is_ok_and(|decoded| path.starts_with('/') && !has_dot_segment(&decoded))
}

/// Returns whether a text has a segment `.` or `..`. Servers end segments at `/` or `\`, and some ignore what follows
/// a `;`.
pub(super) fn has_dot_segment(text: &str) -> bool {
    text.split(['/', '\\']).any(|segment| {
        let name = segment.split(';').next().unwrap_or_default();
        matches!(name, "." | "..")
    })
}

#[cfg(test)]
mod tests {
    use super::{check_template, is_below};

    #[test]
    fn templates_that_leave_the_base_are_refused() {
        for good in [
            "/",
            "/a",
            "/a/{b}.json",
            "/a@b:80/{c}{d}",
            "/.well-known/x",
            "/a%20b",
            "/...",
        ] {
            assert_eq!(check_template(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "a",
            "@evil/a",
            ".evil.com/x",
            ":80/x",
            "//evil/a",
            "/a//b",
            "/../a",
            "/a/..",
            "/./a",
            "/%2e%2e/a",
            "/%2E./a",
            "/%252e%252e/a",
            "/a%2f..%2fb",
            "/a%5c..",
            "/a\\b",
            "/a?b",
            "/a%3fb",
            "/a#b",
            "/a%23b",
            "/..;x/a",
            "/%2f/a",
            "/%ff",
            "/%2{a}",
            "/%",
            "/a\nb",
            "/a%0d%0ab",
        ] {
            assert!(check_template(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn values_that_complete_a_dot_segment_are_found() {
        for good in ["/a", "/a%2Fb", "/..a", "/%252e%252e"] {
            assert!(is_below(good), "{good}");
        }
        for bad in ["a", "/..", "/a/./b", "/.%2e", "/a%2F..", "/..%3Bx", "/%ff"] {
            assert!(!is_below(bad), "{bad}");
        }
    }
}
