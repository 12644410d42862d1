//! `mcp list`: prints a server's tools, prompts, resources and templates.

use std::collections::HashSet;

use futures_util::future::try_join4;
use mcp::Client;
use serde_json::{Value, json};

use super::support::{omissions, to_json};
use crate::cli::TargetArgs;
use crate::failure::Failure;
use crate::name_cache::Names;
use crate::output::{self, Output};
use crate::target;

pub(super) async fn run(args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    target::with_client_only(args, output, async |client| {
        list(client, args, output).await
    })
    .await
}

async fn list(client: &Client, args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    client.capabilities().await?;
    let (tools, prompts, resources, templates) = try_join4(
        client.list_tools().if_offered(),
        client.list_prompts().if_offered(),
        client.list_resources().if_offered(),
        client.list_resource_templates().if_offered(),
    )
    .await?;
    for omission in omissions(client) {
        output::status(&omission);
    }
    Names::update(&args.server, |names| {
        names.set_tools(&tools);
        names.set_prompts(&prompts);
        names.set_resources(resources.iter().map(|resource| resource.uri.clone()));
    });
    if output.json {
        output.document(&json!({
            "tools": to_json(&tools)?,
            "prompts": to_json(&prompts)?,
            "resources": to_json(&resources)?,
            "resourceTemplates": to_json(&templates)?,
        }));
        return Ok(());
    }
    if tools.is_empty() && prompts.is_empty() && resources.is_empty() && templates.is_empty() {
        output.note("the server lists no tools, prompts and resources");
    }
    let tools = tools.iter().map(|tool| {
        let signature = signature(&tool.name, &tool.input_schema);
        (signature, tool.description.as_deref().unwrap_or_default())
    });
    output.section("Tools", tools);
    let prompts = prompts.iter().map(|prompt| {
        let text = prompt.description.as_deref();
        (&prompt.name, text.unwrap_or_default())
    });
    output.section("Prompts", prompts);
    let resources = resources.iter().map(|resource| {
        let text = resource.description.as_ref();
        (&resource.uri, text.unwrap_or(&resource.name))
    });
    output.section("Resources", resources);
    let templates = templates.iter().map(|template| {
        let text = template.description.as_ref();
        (&template.uri_template, text.unwrap_or(&template.name))
    });
    output.section("Templates", templates);
    Ok(())
}

/// Returns the name of a tool with its arguments, the optional ones in brackets: `add a b [note]`.
fn signature(name: &str, schema: &serde_json::Map<String, Value>) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let required: HashSet<_> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut signature = name.to_owned();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, _) in properties.into_iter().flatten() {
        signature += &if required.contains(&**key) {
            format!(" {key}")
        } else {
            format!(" [{key}]")
        };
    }
    signature
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::signature;

    #[test]
    fn optional_arguments_are_in_brackets() {
        let schema = json!({"properties": {"a": {}, "b": {}, "c": 1}, "required": ["c", "a", 1]});
        let schema = schema.as_object().unwrap();
        assert_eq!(signature("add", schema), "add a [b] c");
        assert_eq!(signature("add", &Map::new()), "add");
    }

    /// A comparison of each with each takes minutes.
    #[test]
    fn many_arguments_cost_what_their_bytes_cost() {
        let name = |number: u32| format!("argument{number:06}");
        let properties: Map<_, _> = (0..100_000)
            .map(|number| (name(number), Value::Null))
            .collect();
        let required = Vec::from_iter((100_000..200_000).map(name));
        let schema = Map::from_iter([
            ("properties".to_owned(), properties.into()),
            ("required".to_owned(), required.into()),
        ]);
        assert_eq!(signature("t", &schema).len(), 1 + 100_000 * 17);
    }
}
