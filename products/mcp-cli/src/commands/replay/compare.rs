//! Differences between a recorded and an actual response.

use serde::Serialize;
use serde_json::Value;

/// Members that differ between two runs of the same server.
const IGNORED: [&str; 3] = ["_meta", "requestState", "serverInfo"];
/// Largest number of reported differences in a response.
const MAX_DIFFERENCES: usize = 20;

/// A difference at a JSON Pointer. A missing value is `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Difference {
    pub(super) path: String,
    pub(super) recorded: Option<Value>,
    pub(super) actual: Option<Value>,
}

/// Compares two responses. Members named in `ignored` are skipped at every depth.
pub(super) fn compare(recorded: &Value, actual: &Value, ignored: &[String]) -> Vec<Difference> {
    let mut found = Vec::new();
    let part = |reply| match Value::get(reply, "error") {
        Some(error) => ("/error", Some(error)),
        None => ("/result", reply.get("result")),
    };
    let ((at, old), (other, new)) = (part(recorded), part(actual));
    if at == other {
        compare_values(at, old, new, ignored, &mut found);
    } else {
        compare_values(at, old, None, ignored, &mut found);
        compare_values(other, None, new, ignored, &mut found);
    }
    found
}

fn compare_values(
    path: &str,
    old: Option<&Value>,
    new: Option<&Value>,
    ignored: &[String],
    found: &mut Vec<Difference>,
) {
    if found.len() >= MAX_DIFFERENCES || old == new {
        return;
    }
    match (old, new) {
        (Some(Value::Object(olds)), Some(Value::Object(news))) => {
            let added = news.keys().filter(|name| !olds.contains_key(*name));
            for name in olds.keys().chain(added) {
                if IGNORED.contains(&&**name) || ignored.contains(name) {
                    continue;
                }
                let name_part = name.replace('~', "~0").replace('/', "~1");
                let path = format!("{path}/{name_part}");
                compare_values(&path, olds.get(name), news.get(name), ignored, found);
            }
        }
        (Some(Value::Array(olds)), Some(Value::Array(news))) => {
            for index in 0..olds.len().max(news.len()) {
                let path = format!("{path}/{index}");
                compare_values(&path, olds.get(index), news.get(index), ignored, found);
            }
        }
        _ => found.push(Difference {
            path: path.to_owned(),
            recorded: old.cloned(),
            actual: new.cloned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::compare;

    fn paths(recorded: &Value, actual: &Value, ignored: &[&str]) -> Vec<String> {
        let ignored: Vec<_> = ignored.iter().map(|name| (*name).to_owned()).collect();
        let found = compare(recorded, actual, &ignored);
        found
            .into_iter()
            .map(|difference| difference.path)
            .collect()
    }

    #[test]
    fn differences_have_paths_and_ignored_members_none() {
        let old =
            json!({"id": 1, "result": {"a": [1, 2], "b/c": "x", "time": 1, "_meta": {"n": 1}}});
        let new =
            json!({"id": 2, "result": {"a": [1, 3, 4], "time": 2, "d": {}, "_meta": {"n": 2}}});
        let found = paths(&old, &new, &["time"]);
        assert_eq!(
            found,
            ["/result/a/1", "/result/a/2", "/result/b~1c", "/result/d"]
        );
        assert!(paths(&old, &old, &[]).is_empty());
        let error = json!({"error": {"code": 1, "message": "no"}});
        assert_eq!(paths(&old, &error, &[]), ["/result", "/error"]);
        assert_eq!(
            paths(&error, &json!({"error": {"code": 2, "message": "no"}}), &[]),
            ["/error/code"]
        );
    }
}
