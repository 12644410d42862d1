//! A document, and its parts that requests need. Each is read when it is needed, so that a malformed one takes no others with it.

use http::Method;
use mcp_types::shorten;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::Value;

use super::error::OpenApiError;
use super::usable::LeftOutLog;

/// Longest chain of references between path items, or between components.
const MAX_STEPS: usize = 16;
/// Most bytes of the path items that references copy, all together.
const MAX_COPIED: usize = 32 << 20;

/// Most characters of the service's name, and of its version.
const MAX_INFO: usize = 300;
/// Most characters of a version in an error.
const MAX_VERSION: usize = 20;

/// The members of a path item that are operations.
const METHODS: [&str; 8] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace",
];

/// A document. The schemas of its components are usable.
#[derive(Debug)]
pub(super) struct Document {
    json: Value,
    pub(super) left_out: LeftOutLog,
}

/// An operation with its place.
#[derive(Debug)]
pub(super) struct Route<'a> {
    pub(super) path: &'a str,
    pub(super) method: Method,
    pub(super) operation: &'a Value,
    /// The parameters that all operations of the path have.
    pub(super) parameters: Option<&'a Value>,
}

/// A parameter without its schema.
#[derive(Debug, Deserialize)]
pub(super) struct Parameter<'a> {
    pub(super) name: &'a str,
    #[serde(rename = "in")]
    pub(super) location: ParameterIn,
    pub(super) description: Option<&'a str>,
    pub(super) required: Option<bool>,
    pub(super) style: Option<ParameterStyle>,
    pub(super) explode: Option<bool>,
}

/// The place of a parameter in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ParameterIn {
    Path,
    Query,
    Header,
    Cookie,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ParameterStyle {
    Matrix,
    Label,
    Form,
    Simple,
    SpaceDelimited,
    PipeDelimited,
    DeepObject,
}

/// Parses a document of at most `max_bytes` in JSON or YAML.
pub(super) fn parse(text: &str, max_bytes: usize) -> Result<Document, OpenApiError> {
    if text.len() > max_bytes {
        return Err(OpenApiError::TooLong(max_bytes));
    }
    let malformed = |error: &dyn std::fmt::Display| OpenApiError::Malformed(error.to_string());
    let text = text.trim_start_matches('\u{feff}');
    let mut json: Value = if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|error| malformed(&error))?
    } else {
        serde_saphyr::from_str_with_options(text, yaml(max_bytes))
            .map_err(|error| malformed(&error))?
    };
    let version = |name| {
        let version = json.get(name).and_then(Value::as_str);
        shorten(version.unwrap_or_default(), MAX_VERSION)
    };
    let (version, swagger) = (version("openapi"), version("swagger"));
    if !version.starts_with("3.") {
        return Err(OpenApiError::Version(if swagger.is_empty() {
            format!("OpenAPI {version:?}")
        } else {
            format!("Swagger {swagger}")
        }));
    }
    let left_out = LeftOutLog::default();
    if let Some(Value::Object(schemas)) = json.pointer_mut("/components/schemas") {
        for (name, schema) in schemas {
            *schema = left_out.usable(format_args!("components schemas {name}"), schema);
        }
    }
    Ok(Document { json, left_out })
}

/// Returns the rules of YAML 1.2, by which `NO`, `on`, `y`, `012` and `1_000` are text, and the limits of a
/// document of this length.
fn yaml(max_bytes: usize) -> serde_saphyr::Options {
    serde_saphyr::options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        budget: serde_saphyr::budget! {
            max_events: max_bytes,
            max_nodes: max_bytes,
            max_total_scalar_bytes: max_bytes,
        },
    }
}

impl Document {
    /// Returns the text of a member of `info`.
    pub(super) fn info(&self, name: &str, otherwise: &str) -> String {
        match self.json.get("info").and_then(|info| info.get(name)) {
            Some(Value::String(text)) => shorten(text, MAX_INFO).into_owned(),
            Some(Value::Number(number)) => number.to_string(),
            _ => otherwise.to_owned(),
        }
    }

    /// Returns the schema of a component.
    pub(super) fn schema(&self, name: &str) -> Option<&Value> {
        self.json.get("components")?.get("schemas")?.get(name)
    }

    /// Returns the operations of all paths.
    pub(super) fn routes(&self) -> Vec<Route<'_>> {
        let mut routes = Vec::new();
        let mut free = MAX_COPIED;
        let paths = self.json.get("paths").and_then(Value::as_object);
        for (path, item) in paths.into_iter().flatten() {
            let items = self.items(path, item, &mut free);
            let member = |name| items.iter().find_map(|item| item.get(name));
            routes.extend(METHODS.into_iter().filter_map(|name| {
                Some(Route {
                    path,
                    method: name.to_ascii_uppercase().parse().ok()?,
                    operation: member(name)?,
                    parameters: member("parameters"),
                })
            }));
        }
        routes
    }

    /// Returns a path item and those that its reference leads to. Members of the first ones win.
    fn items<'a>(&'a self, path: &str, item: &'a Value, free: &mut usize) -> Vec<&'a Value> {
        let mut items = vec![item];
        let mut next = self.next(item);
        while let Ok(Some(target)) = next
            && items.len() <= MAX_STEPS
        {
            // After the first item that does not fit none is measured: that costs what a copy costs.
            if *free > 0 {
                *free = free.saturating_sub(target.to_string().len());
            }
            next = if *free > 0 {
                items.push(target);
                self.next(target)
            } else {
                Err(format!("all references copy more than {MAX_COPIED} bytes"))
            };
        }
        if let Err(reason) = next {
            self.left_out.add(format_args!("paths {path}"), reason);
        }
        items
    }

    /// Returns a part of the document, or what the references in its place lead to.
    ///
    /// # Errors
    ///
    /// Returns the reason if a reference leads to nothing, or to another document, or more than 16 lead to one part.
    pub(super) fn resolve<'a>(&'a self, mut part: &'a Value) -> Result<&'a Value, String> {
        for _ in 0..=MAX_STEPS {
            match self.next(part)? {
                Some(next) => part = next,
                None => return Ok(part),
            }
        }
        Err(format!(
            "more than {MAX_STEPS} references lead to one component"
        ))
    }

    /// Returns what the reference in the place of a part leads to. `None`: it is not a reference.
    ///
    /// # Errors
    ///
    /// Returns the reason if the part is not an object, or the reference leads to nothing.
    pub(super) fn next(&self, part: &Value) -> Result<Option<&Value>, String> {
        let part = part.as_object().ok_or("not an object")?;
        let Some(reference) = part.get("$ref").and_then(Value::as_str) else {
            return Ok(None);
        };
        let pointer = reference.strip_prefix('#').map(percent_decode_str);
        let pointer = pointer.and_then(|pointer| pointer.decode_utf8().ok());
        let target = pointer.and_then(|pointer| self.json.pointer(&pointer));
        let missing = || format!("the reference {reference:?} names no component of the document");
        target.map(Some).ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use http::Method;
    use jsonschema::draft202012::meta::is_valid;
    use mcp_types::Tool;
    use serde_json::{Map, Value, json};
    use tracing::callsite::rebuild_interest_cache;
    use tracing::subscriber::with_default;
    use tracing_subscriber::fmt;

    use super::super::builder::{MAX_FAILED, OpenApi};
    use super::super::operation::{ApiOperation, MAX_TEXT};
    use super::{Document, MAX_COPIED, MAX_INFO, OpenApiError, parse};

    #[test]
    fn references_to_path_items_copy_a_bounded_amount() {
        const ITEM: usize = 1 << 20;
        const PATHS: usize = 200;
        let item = json!({"get": {"description": "x".repeat(ITEM), "responses": {}}});
        let paths: Map<String, Value> = (0..PATHS)
            .map(|number| {
                (
                    format!("/{number:03}"),
                    json!({"$ref": "#/components/pathItems/A"}),
                )
            })
            .collect();
        let document =
            json!({"openapi": "3.1.0", "paths": paths, "components": {"pathItems": {"A": item}}});
        let tools = tools(&document);
        assert_eq!(tools.len(), MAX_COPIED / ITEM - 1);
        let texts = tools
            .iter()
            .filter_map(|(_, tool)| tool.description.as_ref());
        let length: usize = texts.map(String::len).sum();
        assert!(length < MAX_COPIED + 2 * ITEM, "{length}");
    }

    #[test]
    fn schemas_from_3_0_are_converted_to_3_1() {
        let schema = json!({"a": {
            "type": "integer", "nullable": true, "minimum": 3, "exclusiveMinimum": true,
            "maximum": 9, "exclusiveMaximum": false,
        }, "b": {"nullable": true, "allOf": [{}]}, "c": {"nullable": true, "oneOf": [{}]}});
        let document = document(&with_schema(&json!({ "properties": schema })));
        let schema = &document.schema("odd").unwrap()["properties"];
        let expected = json!({"a": {
            "type": ["integer", "null"], "exclusiveMinimum": 3, "maximum": 9,
        }, "b": {"anyOf": [{"allOf": [{}]}, {"type": "null"}]}, "c": {"oneOf": [{}, {"type": "null"}]}});
        assert_eq!(schema, &expected);
    }

    #[test]
    fn other_versions_and_other_texts_are_refused() {
        let parse = |text: &str| parse(text, 1000);
        let refused = parse(r#"{"swagger": "2.0"}"#).unwrap_err();
        assert_eq!(refused, OpenApiError::Version("Swagger 2.0".to_owned()));
        assert!(
            refused
                .to_string()
                .starts_with("Swagger 2.0 is not supported")
        );
        assert!(matches!(parse("{"), Err(OpenApiError::Malformed(_))));
        assert!(matches!(
            parse(&" ".repeat(1001)),
            Err(OpenApiError::TooLong(1000))
        ));
        let yaml = "openapi: 3.1.0\ninfo: {title: a, version: '1'}\npaths: {}\n";
        assert_eq!(parse(yaml).unwrap().info("title", ""), "a");
    }

    fn document(document: &Value) -> Document {
        parse(&document.to_string(), 1 << 20).unwrap()
    }

    fn tools(document: &Value) -> Vec<(ApiOperation, Tool)> {
        OpenApi::parse(&document.to_string()).unwrap().operations()
    }

    /// Returns the paths and methods of the operations that are tools.
    fn operations(document: &Value) -> Vec<(String, Method)> {
        let tools = tools(document).into_iter();
        let places = tools.map(|(operation, _)| (operation.path, operation.method));
        places.collect()
    }

    #[test]
    fn schemas_are_written_in_the_forms_of_2020_12() {
        for (schema, expected) in [
            (
                json!({"type": ["string"], "nullable": true, "enum": ["a"]}),
                json!({"type": ["string", "null"], "enum": ["a", null]}),
            ),
            (
                json!({"type": "null", "nullable": true}),
                json!({"type": "null"}),
            ),
            (
                json!({"type": ["string", "string"]}),
                json!({"type": ["string"]}),
            ),
            (
                json!({"required": ["a", "b", "a"]}),
                json!({"required": ["a", "b"]}),
            ),
            (json!({"allOf": [], "enum": [], "type": "file"}), json!({})),
            (json!({"items": [{}], "multipleOf": 0}), json!({})),
            (
                json!({"properties": {"a": 7, "b": true}}),
                json!({"properties": {"a": {}, "b": true}}),
            ),
            (
                json!({"anyOf": [7, {"items": "x"}]}),
                json!({"anyOf": [{}, {}]}),
            ),
            (
                json!({"patternProperties": {"^x": {"minimum": 1, "exclusiveMinimum": true}}, "additionalProperties": false}),
                json!({"patternProperties": {"^x": {"exclusiveMinimum": 1}}, "additionalProperties": false}),
            ),
            // An `$id` would lead references away from the tool's `$defs`, and `not` of any value accepts none.
            (
                json!({"$id": "https://a", "$defs": {"a": {}}, "not": {"type": "file"}}),
                json!({}),
            ),
            (
                json!({"xml": {}, "x-a": 1, "default": [], "example": {"type": 7}}),
                json!({"x-a": 1, "default": [], "example": {"type": 7}}),
            ),
            (json!("x"), json!({})),
        ] {
            let document = document(&with_schema(&schema));
            assert_eq!(document.schema("odd").unwrap(), &expected, "{schema}");
            assert!(is_valid(&expected), "{schema}");
        }
    }

    #[test]
    fn parameters_are_found_by_reference_and_count_once() {
        let id =
            json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"}});
        let first = json!({"$ref": "#/paths/~1a~1%7Bid%7D/get/parameters/0"});
        let tools = tools(&json!({"openapi": "3.1.0", "paths": {
            "/a/{id}": {"get": {"parameters": [id]}},
            "/b/{id}": {"parameters": [first], "get": {"parameters": [first, first]}},
        }}));
        assert_eq!(tools.len(), 2);
        for (operation, tool) in tools {
            assert_eq!(operation.arguments.len(), 1);
            assert_eq!(tool.input_schema["required"], json!(["id"]));
        }
    }

    fn with_schema(schema: &Value) -> Value {
        json!({"openapi": "3.1.0", "info": {"title": "a"}, "paths": {
            "/good": {"get": {"responses": {}}},
            "/bad": {"get": {"parameters": 7, "responses": {}}, "post": {
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/odd"}}}},
                "responses": {},
            }},
            "/text": "none",
        }, "components": {"schemas": {"good": {"type": "string"}, "odd": schema}}})
    }

    #[test]
    fn malformed_parts_take_no_others_with_them() {
        let text = with_schema(&json!({
            "type": "object", "required": "a",
            "properties": {"b": {"type": "money", "description": "B"}, "c": {"minLength": "1", "type": "string"}},
        }));
        let document = document(&text);
        assert_eq!(document.info("version", "0"), "0");
        let expected = [("/good", Method::GET), ("/bad", Method::POST)];
        assert_eq!(
            operations(&text),
            expected.map(|(path, method)| (path.to_owned(), method))
        );
        let properties = json!({"b": {"description": "B"}, "c": {"type": "string"}});
        assert_eq!(
            document.schema("odd").unwrap(),
            &json!({"type": "object", "properties": properties})
        );
        assert!(document.schema("good").is_some());
    }

    #[test]
    fn draft_4_limits_are_converted_in_every_version() {
        let schema = json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true});
        let document = document(&with_schema(&schema));
        let odd = document.schema("odd").unwrap();
        assert_eq!(odd["exclusiveMinimum"].as_f64(), Some(1.0), "{odd}");
    }

    #[test]
    fn references_to_path_items_are_followed() {
        let mut operations = operations(
            &json!({"openapi": "3.1.0", "info": {"title": "a", "version": "1"}, "paths": {
            "/a": {"$ref": "#/components/pathItems/item", "description": "own"},
            "/b": {"$ref": "#/paths/~1a"},
            "/loop": {"$ref": "#/paths/~1loop"},
            "/operation": {"get": {"$ref": "#/components/pathItems/item/get"}},
        }, "components": {"pathItems": {"item": {"get": {"operationId": "x", "responses": {}}}}}}),
        );
        operations.sort_by(|one, other| one.0.cmp(&other.0));
        let paths: Vec<_> = operations.iter().map(|(path, _)| &**path).collect();
        assert_eq!(paths, ["/a", "/b"]);
    }

    #[test]
    fn yaml_is_read_as_version_1_2() {
        let yaml = "openapi: 3.0.3\ninfo: {title: NO, version: 1.0}\npaths: {}\ncomponents:\n  schemas:\n    \
                    y:\n      type: string\n      enum: [NO, on, y, 012, 1_000, true, 12]\n";
        let document = parse(yaml, 1000).unwrap();
        assert_eq!(document.info("title", ""), "NO");
        let expected = json!(["NO", "on", "y", "012", "1_000", true, 12]);
        assert_eq!(document.schema("y").unwrap()["enum"], expected);
    }

    /// Reading an operation that is left out takes as long as reading a tool.
    #[test]
    fn operations_that_are_left_out_are_bounded() {
        let malformed =
            (0..MAX_FAILED).map(|n| (format!("/{n:04}"), json!({"get": {"parameters": 7}})));
        let mut paths: Map<_, _> = malformed.collect();
        paths.insert("/z".to_owned(), json!({"get": {}}));
        let document = |paths: &Map<_, _>| json!({"openapi": "3.1.0", "paths": paths});
        assert_eq!(tools(&document(&paths)).len(), 0);
        paths.shift_remove("/0000");
        assert_eq!(tools(&document(&paths)).len(), 1);
    }

    /// Each parameter would be compared with all prefixes of the others.
    #[test]
    fn names_of_arguments_get_few_prefixes() {
        let place = |prefixes: usize, place: &str| json!({"name": format!("{}a", "header_".repeat(prefixes)), "in": place});
        for (count, expected) in [(8, 1), (9, 0)] {
            let mut parameters: Vec<_> = (0..count)
                .map(|prefixes| place(prefixes, "query"))
                .collect();
            parameters.push(place(0, "header"));
            let tools = tools(
                &json!({"openapi": "3.1.0", "paths": {"/": {"get": {"parameters": parameters}}}}),
            );
            assert_eq!(tools.len(), expected, "{count}");
        }
    }

    /// Many arguments with the same large schema share the steps through it.
    #[test]
    fn all_arguments_share_the_steps_through_their_schemas() {
        let reference = |level: usize| json!({"$ref": format!("#/components/schemas/L{level}")});
        let level = |level: usize| match level {
            15 => json!({}),
            _ => json!({"anyOf": [reference(level + 1), reference(level + 1)]}),
        };
        let levels: Map<_, _> = (0..16)
            .map(|number| (format!("L{number}"), level(number)))
            .collect();
        let list = json!({"type": "array"});
        let parameters = [("a", list.clone()), ("b", reference(0)), ("c", list)];
        let parameters =
            parameters.map(|(name, schema)| json!({"name": name, "in": "query", "schema": schema}));
        let tools = tools(&json!({
            "openapi": "3.1.0", "paths": {"/": {"get": {"parameters": parameters}}}, "components": {"schemas": levels},
        }));
        let accepts = tools[0].0.arguments.iter();
        let accepts: Vec<_> = accepts.map(|argument| argument.accepts_arrays).collect();
        assert_eq!(accepts, [true, false, false]);
    }

    /// The limit is for debug builds on slow machines: comparing each name with all others takes ten times as long.
    #[test]
    fn properties_of_the_other_direction_cost_linear_time() {
        let properties = (0..3_900).map(|n| (format!("p{n}"), json!({"readOnly": true})));
        let properties: Map<_, _> = properties.collect();
        let required: Vec<_> = (0..11_000).map(|n| format!("q{n}")).collect();
        let body = json!({"content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}}});
        let paths: Map<_, _> = (0..8)
            .map(|n| (format!("/{n}"), json!({"put": {"requestBody": body}})))
            .collect();
        let schema = json!({"properties": properties, "required": required});
        let start = std::time::Instant::now();
        let tools = tools(
            &json!({"openapi": "3.1.0", "paths": paths, "components": {"schemas": {"A": schema}}}),
        );
        assert_eq!(tools.len(), 8);
        let time = start.elapsed();
        assert!(time < std::time::Duration::from_secs(5), "{time:?}");
    }

    /// Clients refuse messages beyond their limits, with all tools in them.
    #[test]
    fn long_texts_are_cut() {
        let long = "x".repeat(300_000);
        let text = json!({"openapi": "3.1.0", "info": {"title": long}, "paths": {
            "/a": {"get": {"summary": long, "description": long}},
        }});
        assert_eq!(
            document(&text).info("title", "").chars().count(),
            MAX_INFO + 1
        );
        let tools = tools(&text);
        let texts = [&tools[0].1.title, &tools[0].1.description];
        for text in texts.into_iter().flatten() {
            assert_eq!(text.chars().count(), MAX_TEXT + 1);
        }
    }

    /// Clients could not read the list of tools.
    #[test]
    fn schemas_with_too_many_levels_take_no_others_with_them() {
        let deep = |levels: usize| {
            (0..levels).fold(
                json!({"type": "string"}),
                |inner, _| json!({"properties": {"c": inner}}),
            )
        };
        let level = |level: usize| json!({"properties": {"a": {"$ref": format!("#/components/schemas/L{}", level + 1)}}});
        let mut levels: Map<_, _> = (0..15)
            .map(|number| (format!("L{number}"), level(number)))
            .collect();
        levels.insert("L15".to_owned(), deep(46));
        let body = |name: &str| json!({"content": {"application/json": {"schema": {"$ref": format!("#/components/schemas/{name}")}}}});
        let tools = tools(&json!({"openapi": "3.1.0", "paths": {
            "/deep": {"put": {"requestBody": body("L0")}},
            "/flat": {"put": {"requestBody": body("L15")}},
            "/output": {"get": {"responses": {"200": body("L0")}}},
        }, "components": {"schemas": levels}}));
        assert_eq!(tools.len(), 2);
        let tools: Vec<_> = tools.into_iter().map(|(_, tool)| tool).collect();
        let text = json!({"jsonrpc": "2.0", "result": {"tools": tools}}).to_string();
        assert!(serde_json::from_str::<Value>(&text).is_ok());
    }

    /// Names, references and versions can be as long as the document.
    #[test]
    fn log_lines_and_errors_are_short() {
        const LONG: usize = 1 << 17;
        let long = "x".repeat(LONG);
        let text = json!({"openapi": "3.1.0", "paths": {
            &*long: {},
            format!("/{long}"): {"get": {"parameters": 7}},
            "/a": {"get": {"parameters": [{"$ref": long}]}},
            "/b": {"get": {"parameters": [{"name": long, "in": "query", "schema": {"type": 7}}]}},
        }})
        .to_string();
        let log = Arc::new(Mutex::new(Vec::new()));
        let writer = log.clone();
        let subscriber = fmt().with_writer(move || Log(writer.clone())).finish();
        with_default(subscriber, || {
            // Other tests may have decided that nobody reads these lines.
            OpenApi::parse(&text).unwrap().operations();
            rebuild_interest_cache();
            OpenApi::parse(&text).unwrap().operations()
        });
        let length = log.lock().unwrap().len();
        assert!((100..5_000).contains(&length), "{length}");
        for version in ["openapi", "swagger"] {
            let error = parse(&json!({version: long}).to_string(), 1 << 20).unwrap_err();
            assert!(error.to_string().len() < 200);
        }
    }

    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    proptest::proptest! {
        #[test]
        fn any_malformed_schema_is_repaired(schema in value()) {
            let text = with_schema(&schema);
            assert_eq!(operations(&text).len(), 2);
            let document = document(&text);
            assert!(document.schema("good").is_some());
            let odd = document.schema("odd").unwrap();
            proptest::prop_assert!(is_valid(odd), "{odd}");
            for (_, tool) in tools(&text) {
                let schema = Value::Object((*tool.input_schema).clone());
                proptest::prop_assert!(is_valid(&schema), "{schema}");
            }
        }
    }

    /// Generates JSON with the keywords of schemas.
    fn value() -> impl proptest::strategy::Strategy<Value = Value> {
        use proptest::prelude::*;
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3i64..3).prop_map(Value::from),
            prop_oneof![Just("string"), Just("x"), Just("#/components/schemas/good")]
                .prop_map(Value::from),
        ];
        let keywords = [
            "type",
            "$ref",
            "properties",
            "items",
            "anyOf",
            "required",
            "enum",
            "minimum",
            "x",
            "title",
        ];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::vec((prop::sample::select(keywords.to_vec()), inner), 0..4)
                    .prop_map(|members| {
                        members
                            .into_iter()
                            .map(|(key, value)| (key.to_owned(), value))
                            .collect::<Map<_, _>>()
                            .into()
                    }),
            ]
        })
    }
}
