//! The impact of changes of tools, prompts, resources, templates and capabilities.

use mcp::catalog::{Impact, Snapshot};
use serde_json::{Value, json};

/// Returns the impact and the path of the only difference.
fn only(old: Value, new: Value) -> (Impact, String) {
    let old = Snapshot::from_value(old).unwrap();
    let diff = old.diff(&Snapshot::from_value(new).unwrap());
    let [difference] = diff.differences() else {
        panic!("one difference expected: {diff}");
    };
    (difference.impact, difference.path.clone())
}

fn tool(fields: Value) -> Value {
    let mut tool = json!({"name": "t", "inputSchema": {"type": "object"}});
    for (name, value) in fields.as_object().unwrap() {
        tool[name] = value.clone();
    }
    json!({"tools": [tool]})
}

#[test]
fn tool_changes_are_judged() {
    use Impact::{Breaking, Compatible, Cosmetic};
    let rows = [
        (
            json!({}),
            json!({"description": "d"}),
            Cosmetic,
            "description",
        ),
        (
            json!({}),
            json!({"outputSchema": {}}),
            Compatible,
            "outputSchema",
        ),
        (
            json!({"outputSchema": {}}),
            json!({}),
            Breaking,
            "outputSchema",
        ),
        (
            json!({"annotations": {"readOnlyHint": true}}),
            json!({}),
            Breaking,
            "annotations/readOnlyHint",
        ),
        (
            json!({"annotations": {"destructiveHint": true}}),
            json!({"annotations": {"destructiveHint": false}}),
            Compatible,
            "annotations/destructiveHint",
        ),
        (
            json!({}),
            json!({"execution": {"taskSupport": "required"}}),
            Breaking,
            "execution/taskSupport",
        ),
        (
            json!({}),
            json!({"execution": {"taskSupport": "optional"}}),
            Compatible,
            "execution/taskSupport",
        ),
    ];
    for (old, new, impact, path) in rows {
        let expected = (impact, format!("/tools/t/{path}"));
        assert_eq!(
            only(tool(old.clone()), tool(new.clone())),
            expected,
            "{old} became {new}"
        );
    }
    assert_eq!(
        only(tool(json!({})), json!({})),
        (Breaking, "/tools/t".to_owned())
    );
    assert_eq!(
        only(json!({}), tool(json!({}))),
        (Compatible, "/tools/t".to_owned())
    );
}

#[test]
fn prompt_changes_are_judged() {
    use Impact::{Breaking, Compatible, Cosmetic};
    let rows = [
        (json!([]), json!([{"name": "a"}]), Compatible),
        (
            json!([]),
            json!([{"name": "a", "required": true}]),
            Breaking,
        ),
        (json!([{"name": "a"}]), json!([]), Breaking),
        (
            json!([{"name": "a"}]),
            json!([{"name": "a", "required": true}]),
            Breaking,
        ),
        (
            json!([{"name": "a", "required": true}]),
            json!([{"name": "a", "required": false}]),
            Compatible,
        ),
    ];
    let prompt = |arguments: &Value| json!({"prompts": [{"name": "p", "arguments": arguments}]});
    for (old, new, impact) in rows {
        let expected = (impact, "/prompts/p/arguments/a".to_owned());
        assert_eq!(
            only(prompt(&old), prompt(&new)),
            expected,
            "{old} became {new}"
        );
    }
    let old = json!({"prompts": [{"name": "p", "title": "a"}]});
    let new = json!({"prompts": [{"name": "p", "title": "b"}]});
    assert_eq!(only(old, new), (Cosmetic, "/prompts/p/title".to_owned()));
}

#[test]
fn resource_and_template_changes_are_judged() {
    use Impact::{Breaking, Compatible, Cosmetic};
    for (list, key) in [("resources", "uri"), ("resourceTemplates", "uriTemplate")] {
        let snapshot = |fields: Value| {
            let mut item = fields;
            item[key] = json!("a://b");
            json!({ list: [item] })
        };
        let path = |field: &str| format!("/{list}/a:~1~1b{field}");
        let text = json!({"mimeType": "text/plain"});
        let rows = [
            (
                text.clone(),
                json!({"mimeType": "text/html"}),
                Breaking,
                "/mimeType",
            ),
            (text.clone(), json!({}), Breaking, "/mimeType"),
            (json!({}), text, Compatible, "/mimeType"),
            (
                json!({"name": "a"}),
                json!({"name": "b"}),
                Cosmetic,
                "/name",
            ),
        ];
        for (old, new, impact, field) in rows {
            assert_eq!(only(snapshot(old), snapshot(new)), (impact, path(field)));
        }
        assert_eq!(only(snapshot(json!({})), json!({})), (Breaking, path("")));
    }
}

#[test]
fn capability_changes_are_judged() {
    use Impact::{Breaking, Compatible};
    let rows = [
        (json!({"tools": {}}), json!({}), Breaking, "tools"),
        (json!({}), json!({"tools": {}}), Compatible, "tools"),
        (
            json!({"resources": {"subscribe": true}}),
            json!({"resources": {"subscribe": false}}),
            Breaking,
            "resources/subscribe",
        ),
    ];
    for (old, new, impact, path) in rows {
        let old = json!({ "capabilities": old });
        let new = json!({ "capabilities": new });
        assert_eq!(only(old, new), (impact, format!("/capabilities/{path}")));
    }
}

/// The wire does not say who made a row, so a fixed resource beside a template that matches it is data, too.
#[test]
fn changes_of_a_templates_rows_are_cosmetic() {
    use Impact::{Breaking, Cosmetic};
    let catalog = |template: &str, resources: Value| json!({"resources": resources, "resourceTemplates": [{"uriTemplate": template}]});
    let app = json!([{"uri": "config://app"}]);
    let path = "/resources/config:~1~1app";
    for (template, impact) in [
        ("config://{name}", Cosmetic),
        ("config:{+path}", Cosmetic),
        ("config://x/{name}", Breaking),
        // It matches everything, so it says nothing about a resource.
        ("{+uri}", Breaking),
    ] {
        let (with, without) = (catalog(template, app.clone()), catalog(template, json!([])));
        assert_eq!(
            only(with.clone(), without.clone()),
            (impact, path.to_owned()),
            "{template}"
        );
        let json = catalog(
            template,
            json!([{"uri": "config://app", "mimeType": "a/b"}]),
        );
        let (changed, _) = only(json, with);
        assert_eq!(changed, impact, "{template}");
    }
    // The template that made the row is that of the older snapshot.
    let fixed = json!({"resources": app, "resourceTemplates": []});
    let moved = catalog("config://{name}", json!([]));
    let diff = Snapshot::from_value(fixed).unwrap();
    let diff = diff.diff(&Snapshot::from_value(moved).unwrap());
    assert_eq!(diff.impact(), Some(Breaking), "{diff}");
}

/// 1,000 differences are listed.
#[test]
fn rows_do_not_hide_other_differences() {
    let row = |number: usize| json!({"uri": format!("users://{number}")});
    let rows: Vec<_> = (0..3_000).map(row).collect();
    let old = json!({"tools": [{"name": "t"}], "resources": rows,
        "resourceTemplates": [{"uriTemplate": "users://{id}"}]});
    let new = json!({"resourceTemplates": [{"uriTemplate": "users://{id}"}]});
    let diff = Snapshot::from_value(old).unwrap();
    let diff = diff.diff(&Snapshot::from_value(new).unwrap());
    assert_eq!(diff.differences()[0].path, "/tools/t", "{diff}");
    assert_eq!(diff.impact(), Some(Impact::Breaking));
}
