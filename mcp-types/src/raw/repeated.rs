//! Members that occur twice in an object.

use std::borrow::Cow;

use super::RawJson;

impl RawJson<'_> {
    /// Returns the name of a member that occurs twice in one object of this value, at any depth. A program between client
    /// and server that reads arguments should refuse such ones: it reads one of the members, and the server can read the
    /// other one. Reads each byte once, whatever the depth.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::types::RawObject;
    ///
    /// let arguments = RawObject::from_text(r#"{"path": "a", "p\u0061th": "b"}"#)?;
    /// assert_eq!(arguments.as_raw().repeated_member().as_deref(), Some("path"));
    /// # Ok::<(), mcp::types::RawObjectError>(())
    /// ```
    pub fn repeated_member(self) -> Option<String> {
        let text = self.as_str();
        // The brackets that are open: `true` for an object.
        let mut open: Vec<bool> = Vec::new();
        // The members of the open objects, and where each object begins.
        let mut names: Vec<Cow<'_, str>> = Vec::new();
        let mut starts: Vec<usize> = Vec::new();
        let (mut at, mut is_name) = (0, false);
        while let Some(byte) = text.as_bytes().get(at) {
            at += 1;
            match byte {
                b'{' => {
                    open.push(true);
                    starts.push(names.len());
                    is_name = true;
                }
                b'[' => {
                    open.push(false);
                    is_name = false;
                }
                b',' => is_name = open.last() == Some(&true),
                b'}' => {
                    open.pop();
                    let mut members = names.split_off(starts.pop().unwrap_or_default());
                    members.sort_unstable();
                    let mut pairs = members.iter().zip(members.iter().skip(1));
                    if let Some((name, _)) = pairs.find(|(name, next)| name == next) {
                        return Some(name.clone().into_owned());
                    }
                }
                b']' => {
                    open.pop();
                }
                b'"' => {
                    let start = at - 1;
                    at = end_of_string(text, at);
                    if is_name {
                        is_name = false;
                        let name = text.get(start..at).unwrap_or_default();
                        let decoded = RawJson::from_valid(name).text();
                        names.push(decoded.unwrap_or(Cow::Borrowed(name)));
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// Returns the position behind the closing quote of a string. `at` is behind its opening quote.
fn end_of_string(text: &str, mut at: usize) -> usize {
    loop {
        match text.as_bytes().get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return at + 1,
            Some(_) => at += 1,
            None => return text.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use crate::raw::RawJson;

    fn repeated(text: &str) -> Option<String> {
        serde_json::from_str::<serde::de::IgnoredAny>(text).unwrap();
        RawJson::from_valid(text).repeated_member()
    }

    #[test]
    fn repeated_members_are_found_at_any_depth() {
        for (text, expected) in [
            (r#"{"a":1,"a":2}"#, Some("a")),
            (r#"{"a":1,"\u0061":2}"#, Some("a")),
            (r#"{"b":[1,{"x":{},"a":"{","a":[]}],"c":1}"#, Some("a")),
            (
                r#"{"a":{"b":1},"b":{"a":1}, "c" : [ {"a":1},{"a":1} ]}"#,
                None,
            ),
            (
                r#"{"a":"a","b":["a","a",",","\"a"],"\"":1,"\\":2,"":{}}"#,
                None,
            ),
            (r#"{"":{}, "":1}"#, Some("")),
            (r#"{"\ud800":1,"\ud800":2}"#, Some(r#""\ud800""#)),
            (r#"["a","a"]"#, None),
            ("{}", None),
            (r#""{\"a\":1,\"a\":1}""#, None),
        ] {
            assert_eq!(repeated(text).as_deref(), expected, "{text}");
        }
        let deep = format!("{}1{}", r#"{"a":["#.repeat(50_000), "]}".repeat(50_000));
        assert_eq!(RawJson::from_valid(&deep).repeated_member(), None);
        let deep = deep.replace('1', r#"{"b":0,"b":1}"#);
        assert_eq!(
            RawJson::from_valid(&deep).repeated_member().as_deref(),
            Some("b")
        );
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            "[\\PC\"\\\\{}\\[\\],:]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a\"\\\\{,:é]{0,2}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_without_repeated_members_pass_and_others_do_not(value in value(), name in "[a\"\\\\]{0,2}") {
            let text = value.to_string();
            prop_assert_eq!(repeated(&text), None);
            let name = Value::from(name);
            let twice = format!("[{text},{{{name}:{text},\"other\":{text},{name}:null}}]");
            let expected = name.as_str().map(str::to_owned);
            prop_assert_eq!(repeated(&twice), expected);
        }
    }
}
