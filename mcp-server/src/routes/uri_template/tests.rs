//! Templates and URIs that match, by table and by property.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use proptest::prelude::*;

use super::matching::MAX_URI_LENGTH;
use super::parse::{Part, UriTemplate};

fn parse(template: &str) -> UriTemplate {
    UriTemplate::parse(template).unwrap_or_else(|problem| panic!("{template}: {problem}"))
}

/// Values such as `id=7 tab=x`, or `no` if the template does not match.
fn values(template: &UriTemplate, uri: &str) -> String {
    match template.matches(uri) {
        None => "no".to_owned(),
        Some(found) => {
            let pairs: Vec<_> = found
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            pairs.join(" ")
        }
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table of cases")]
fn uri_matches_template_with_expected_values() {
    for (template, cases) in [
        (
            "users://{id}/profile",
            &[
                ("users://7/profile", "id=7"),
                ("users://a%20b/profile", "id=a b"),
                ("users://%C3%A9/profile", "id=é"),
                ("users://é/profile", "id=é"),
                ("users://a.b/profile", "id=a.b"),
                ("users://.../profile", "no"),
                ("users:///profile", "no"),
                ("users://7/profile/", "no"),
                ("users://7/Profile", "no"),
                ("users://7", "no"),
                ("users://7/x/profile", "no"),
                ("users://7%2Fx/profile", "no"),
                ("users://7%2fx/profile", "no"),
                ("users://../profile", "no"),
                ("users://%2e%2E/profile", "no"),
                ("users://.%2e/profile", "no"),
                ("users://%2e./profile", "no"),
                ("users://..%20/profile", "no"),
                ("users://%252e%252e/profile", "id=%2e%2e"),
                ("users://a%00/profile", "no"),
                ("users://a\0/profile", "no"),
                ("users://a%5Cb/profile", "no"),
                ("users://a\\b/profile", "no"),
                ("users://a%/profile", "no"),
                ("users://a%2/profile", "no"),
                ("users://a%zz/profile", "no"),
                ("users://a%ff/profile", "no"),
                ("users://a?b/profile", "no"),
                ("users://a#b/profile", "no"),
                ("", "no"),
            ][..],
        ),
        (
            "file:///{+path}",
            &[
                ("file:///a", "path=a"),
                ("file:///a/b%20c.txt", "path=a/b c.txt"),
                ("file:///a%2Fb", "path=a/b"),
                ("file:///a//b", "path=a//b"),
                ("file:///.hidden/..x/x..", "path=.hidden/..x/x.."),
                ("file:///a/../b", "no"),
                ("file:///a/%2e%2e/b", "no"),
                ("file:///a/.%2E/b", "no"),
                ("file:///a%2f..%2fb", "no"),
                ("file:///a/..", "no"),
                ("file:///a/.. /b", "no"),
                ("file:////etc/passwd", "no"),
                ("file:///%2Fetc/passwd", "no"),
                ("file:///C:/x", "no"),
                ("file:///c%3A%5Cx", "no"),
                ("file:///a%5C..%5Cb", "no"),
                ("file:///a%00", "no"),
                ("file:///", "no"),
            ],
        ),
        (
            "git://{owner}/{+path}/blob/{rev}.txt",
            &[
                ("git://me/a/b/blob/1.txt", "owner=me path=a/b rev=1"),
                (
                    "git://me/a/blob/b/blob/1.txt",
                    "owner=me path=a/blob/b rev=1",
                ),
                ("git://me/a/blob/1/2.txt", "no"),
                ("git://me/blob/1.txt", "no"),
            ],
        ),
        (
            "x://{name}.{ext}",
            &[
                ("x://a.tar.gz", "name=a ext=tar.gz"),
                ("x://..gz", "name=. ext=gz"),
                ("x://.gz", "no"),
                ("x://a.", "no"),
            ],
        ),
        (
            "x://a{b}aa",
            &[("x://abaa", "b=b"), ("x://aaaa", "b=a"), ("x://aaa", "no")],
        ),
        // The digits of an escape are not a literal.
        (
            "x://{a}2{b}",
            &[
                ("x://%28y2z", "a=(y b=z"),
                ("x://%282%28", "a=( b=("),
                ("x://%32%28", "no"),
                ("x://2%282", "no"),
                ("x://22%28", "a=2 b=("),
            ],
        ),
        (
            "x://{a}22{b}",
            &[("x://%0222z", "a=\u{2} b=z"), ("x://%2222", "no")],
        ),
        (
            "x://{+a}2{b}",
            &[
                ("x://y/z2%28", "a=y/z b=("),
                ("x://y/%28%282%28%28", "a=y/(( b=(("),
                ("x://y/%28", "no"),
            ],
        ),
        ("x://{+a}22{b}", &[("x://y22%222", "a=y b=\"2")]),
        (
            "x://h{/a}{/b}",
            &[
                ("x://h", ""),
                ("x://h/1", "a=1"),
                ("x://h/1/2", "a=1 b=2"),
                ("x://h/1%2F2", "no"),
                ("x://h/", "no"),
                ("x://h/1/", "no"),
                ("x://h/1/2/3", "no"),
                ("x://h/..", "no"),
            ],
        ),
        (
            "x://{id}{/tab}",
            &[
                ("x://7", "id=7"),
                ("x://7/t", "id=7 tab=t"),
                ("x:///t", "no"),
            ],
        ),
        (
            "x://s{?q,page}",
            &[
                ("x://s", ""),
                ("x://s?q=a%20b", "q=a b"),
                ("x://s?page=2&q=a", "page=2 q=a"),
                ("x://s?q=", "q="),
                ("x://s?q=a/b", "q=a/b"),
                ("x://s?q=a%26b%3D", "q=a&b="),
                ("x://s?q=a+b", "q=a+b"),
                ("x://s?q=/etc", "no"),
                ("x://s?q=..", "no"),
                ("x://s?q=a&q=b", "no"),
                ("x://s?other=1", "no"),
                ("x://s?q", "no"),
                ("x://s?", "no"),
                ("x://s?q=a#b", "no"),
            ],
        ),
        ("x://fixed", &[("x://fixed", ""), ("x://fixed/", "no")]),
        ("x:{+rest}", &[("x:a:b", "no"), ("x:ab:c", "rest=ab:c")]),
    ] {
        let template = parse(template);
        for (uri, expected) in cases {
            assert_eq!(values(&template, uri), *expected, "{uri:?}");
        }
    }
}

#[test]
fn ambiguous_or_malformed_template_is_rejected() {
    for (template, expected) in [
        ("x://{id", "the `{` before `id` has no `}`"),
        ("x://id}", "the `}` in `x://id}` has no `{`"),
        ("x://{}", "`` in `{}` is not a variable"),
        ("x://{a b}", "`a b` in `{a b}` is not a variable"),
        ("x://{#id}", "cannot be matched"),
        ("x://a{.id}", "cannot be matched"),
        ("x://a{;id}", "cannot be matched"),
        ("x://a?b=1{&id}", "cannot be matched"),
        ("x://{id*}", "cannot be matched"),
        ("x://{id:3}", "cannot be matched"),
        ("x://{a,b}", "give each its own braces"),
        ("x://h{/a,b}", "give each its own braces"),
        ("x://{a}{b}", "put a literal before it"),
        ("x://{+a}/{+b}", "only one `{+…}`"),
        ("x://{+a}{/b}", "cannot follow"),
        ("x://h{/a}/b", "may be left out"),
        ("x://h{/a}{b}", "may be left out"),
        ("x://h{?a}/b", "may be left out"),
        ("x://h{?a}{?b}", "as one"),
        ("x://h{?a}{b}", "after the query"),
        ("x://{a}/{a}", "occurs twice"),
        ("x://{a}{?a}", "occurs twice"),
        ("users/{id}", "needs a scheme"),
        ("{id}", "needs a scheme"),
        ("1x://{id}", "not a URI of RFC 3986"),
        (
            "x://a b/{id}",
            "' ' in `x://a b/` is not allowed: percent-encode it",
        ),
    ] {
        let problem = UriTemplate::parse(template).unwrap_err();
        assert!(problem.contains(expected), "{template}: {problem}");
    }
}

#[test]
fn too_long_uri_matches_no_template() {
    let template = parse("x://{+path}");
    let longest = format!("x://{}", "a".repeat(MAX_URI_LENGTH - 4));
    assert!(template.matches(&longest).is_some());
    assert!(template.matches(&(longest + "a")).is_none());
}

#[test]
fn worst_case_uri_is_matched_in_bounded_time() {
    let template = parse("x://{a}ab{b}ab{c}ab{d}ab{e}abc");
    let uri = format!("x://{}", "ab".repeat(MAX_URI_LENGTH / 2 - 8));
    let start = std::time::Instant::now();
    for _ in 0..100 {
        assert!(template.matches(&uri).is_none());
    }
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

/// Reference implementation with backtracking.
fn possible(parts: &[Part], text: &str) -> bool {
    match parts.split_first() {
        None => text.is_empty(),
        Some((Part::Literal(literal), rest)) => text
            .strip_prefix(&**literal)
            .is_some_and(|text| possible(rest, text)),
        Some((part, rest)) => (1..=text.len()).any(|at| {
            let (value, after) = text.split_at(at);
            let fits = matches!(part, Part::Reserved(_)) || !value.contains('/');
            fits && possible(rest, after)
        }),
    }
}

fn small_template() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ab/]{1,3}",
        Just("{v}".to_owned()),
        Just("{+v}".to_owned()),
    ];
    prop::collection::vec(piece, 1..7).prop_map(|pieces| {
        let mut text = "x:z".to_owned();
        for (index, piece) in pieces.iter().enumerate() {
            text.push_str(&piece.replace('v', &format!("v{index}")));
        }
        text
    })
}

proptest! {
    /// The matcher finds a match whenever backtracking finds one.
    #[test]
    fn matcher_without_reserved_agrees_with_backtracking(template in small_template(), text in "[ab/]{0,10}") {
        let Ok(template) = UriTemplate::parse(&template) else { return Ok(()) };
        let uri = format!("x:z{text}");
        let found = template.matches(&uri);
        if !possible(&template.parts, &uri) {
            prop_assert!(found.is_none());
        } else if !template.parts.iter().any(|part| matches!(part, Part::Reserved(_))) {
            // `{+…}` rejects absolute values, which backtracking does not check.
            prop_assert!(found.is_some());
        }
    }

    /// Strings without `/` cannot contain absolute values for `{+…}`.
    #[test]
    fn matcher_with_reserved_agrees_with_backtracking(template in small_template(), text in "[ab]{0,12}") {
        let Ok(template) = UriTemplate::parse(&template) else { return Ok(()) };
        let uri = format!("x:z{text}");
        prop_assert_eq!(template.matches(&uri).is_some(), possible(&template.parts, &uri));
    }

    /// Matching an expanded template returns the original values.
    #[test]
    fn matching_reverses_expansion(
        id in "[^/\\\\\0]{1,20}",
        path in "([a-z %é?#+&=;@]{1,5}/){0,3}[a-z]{2}",
        q in "[^/\\\\\0]{0,9}",
    ) {
        prop_assume!(!id.contains("..") && !q.contains(".."));
        let encode = |value: &str| utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
        let uri = format!(
            "x://{}/f/{}?q={}",
            encode(&id),
            encode(&path).replace("%2F", "/"),
            encode(&q),
        );
        let mut found = parse("x://{id}/f/{+path}{?q}").matches(&uri).unwrap_or_default();
        found.sort();
        let expected = [("id", &id), ("path", &path), ("q", &q)];
        let expected = expected.map(|(name, value)| (Box::from(name), value.clone()));
        prop_assert_eq!(found, expected);
    }

    /// Values of hostile URIs stay below the directory that they are appended to.
    // spec: RSRC-07
    #[test]
    fn hostile_uri_yields_no_value_outside_directory(uri in "x://([a./%2eEfF5cC0\\\\:]|%2e|%2f|%5c|%00){0,24}") {
        for template in ["x://{a}", "x://{+a}", "x://{a}/{+b}", "x://{a}{/b}{/c}", "x://{+a}.{b}"] {
            for (_, value) in parse(template).matches(&uri).unwrap_or_default() {
                let base = std::path::Path::new("/base");
                let joined = base.join(&value);
                prop_assert!(joined.starts_with(base), "{value}");
                prop_assert!(!value.split('/').any(|segment| segment == ".."), "{value}");
                prop_assert!(!value.contains(['\0', '\\']), "{value}");
            }
        }
    }
}

#[test]
fn encoded_slash_stays_in_a_value_where_it_is_permitted() {
    let mut template = parse("git://{branch}/log{/file}");
    assert_eq!(values(&template, "git://fix%2F7/log"), "no");
    template.permit_slashes("branch".to_owned());
    for (uri, expected) in [
        ("git://fix%2F7/log", "branch=fix/7"),
        ("git://fix%2f7%2Fa/log/b", "branch=fix/7/a file=b"),
        ("git://main/log", "branch=main"),
        // A plain slash ends the segment.
        ("git://fix/7/log", "no"),
        // The other variable does not permit it.
        ("git://main/log/a%2Fb", "no"),
        ("git://%2Fetc/log", "no"),
        ("git://a%2F..%2Fb/log", "no"),
        ("git://a%2F%2E%2E/log", "no"),
        ("git://..%2Fa/log", "no"),
        ("git://a%2F..%20/log", "no"),
        ("git://a%5Cb/log", "no"),
        ("git://a%00/log", "no"),
        ("git://a%0Ab/log", "no"),
        ("git://C%3A%2Fx/log", "no"),
        ("git://a%252Fb/log", "branch=a%2Fb"),
    ] {
        assert_eq!(values(&template, uri), expected, "{uri}");
    }
    template.permit_slashes("file".to_owned());
    assert_eq!(
        values(&template, "git://main/log/a%2Fb"),
        "branch=main file=a/b"
    );
    assert!(template.misplaced_slashes().next().is_none());
    let mut template = parse("x://{+path}{?q}");
    for name in ["path", "q", "other"] {
        template.permit_slashes(name.to_owned());
    }
    let misplaced: Vec<_> = template.misplaced_slashes().collect();
    assert_eq!(misplaced, ["path", "q", "other"]);
}

#[test]
fn literals_are_compared_without_regard_to_their_encoding() {
    for (template, uris) in [
        (
            "x://caf%C3%A9/{id}",
            &[
                ("x://café/7", "id=7"),
                ("x://caf%c3%a9/7", "id=7"),
                ("x://caf%C3%A9/7", "id=7"),
                ("x://c%61f%C3%A9/7", "id=7"),
                ("x://cafe/7", "no"),
                ("x://caf%C3%A9%2F7", "no"),
                ("x://caf%25C3%25A9/7", "no"),
            ][..],
        ),
        ("x://caf%c3%a9/{id}", &[("x://café/é", "id=é")]),
        // A reserved character is not the same as its encoded form.
        (
            "x://a%2Fb/{id}",
            &[("x://a%2fb/7", "id=7"), ("x://a/b/7", "no")],
        ),
        (
            "x://a+b/{id}",
            &[("x://a%2Bb/7", "no"), ("x://a+b/7", "id=7")],
        ),
        ("x://a%7Eb/{id}", &[("x://a~b/7", "id=7")]),
    ] {
        let template = parse(template);
        for (uri, expected) in uris {
            assert_eq!(values(&template, uri), *expected, "{uri}");
        }
    }
}

#[test]
fn refused_value_has_a_reason() {
    let template = parse("x://{id}/f/{+path}{?q}");
    for (uri, expected) in [
        (
            "x://a%2Fb/f/p",
            Some(("id", "it contains an encoded slash")),
        ),
        ("x://../f/p", Some(("id", "it contains `..`"))),
        ("x://a%zz/f/p", Some(("id", "its encoding is malformed"))),
        ("x://a%ff/f/p", Some(("id", "its encoding is malformed"))),
        ("x://a/f/%2Fetc", Some(("path", "it is an absolute path"))),
        ("x://a/f/b%5Cc", Some(("path", "it contains a backslash"))),
        ("x://a/f/b?q=/etc", Some(("q", "it is an absolute path"))),
        ("x://a/f/b", None),
        ("x://a/b", None),
        ("y://a", None),
    ] {
        let refused = template.refused(uri);
        let found = refused.as_ref().map(|(name, reason)| (&**name, *reason));
        match (found, expected) {
            (Some((name, reason)), Some((variable, start))) => {
                assert_eq!(name, variable, "{uri}");
                assert!(reason.starts_with(start), "{uri}: {reason}");
            }
            (found, expected) => assert_eq!(found, expected, "{uri}"),
        }
    }
}
