//! Tests of forms and their answers.

use serde_json::{Value, json};

use super::{
    BooleanSchema, Choice, Choices, ElicitAction, ElicitParams, ElicitResult, ElicitUrlParams,
    EnumSchema, FormSchema, MultiSelectSchema, NumberSchema, PrimitiveSchema, StringFormat,
    StringSchema,
};
use crate::extra::JsonObject;

fn object(value: Value) -> JsonObject {
    serde_json::from_value(value).unwrap()
}

fn colours() -> Vec<Choice> {
    vec![Choice::new("#f00", "Red"), Choice::new("#0f0", "Green")]
}

fn form() -> FormSchema {
    FormSchema::new()
        .required("name", StringSchema::new().min_length(2).max_length(4))
        .required("mail", StringSchema::new().format(StringFormat::Email))
        .optional(
            "age",
            NumberSchema::integer()
                .minimum(18)
                .maximum(99.5)
                .default_value(20),
        )
        .optional("share", NumberSchema::number().default_value(0.5))
        .optional(
            "news",
            BooleanSchema::new().title("News").default_value(false),
        )
        .optional("colour", EnumSchema::new(colours()).default_value("#f00"))
        .optional("size", EnumSchema::new(["S", "M"]))
        .optional(
            "days",
            MultiSelectSchema::new(["Mo", "Tu", "We"])
                .min_items(1)
                .max_items(2)
                .default_value(["Mo"]),
        )
}

// spec: ELIC-04
#[test]
fn form_round_trips_with_fields_in_order() {
    let form = form();
    let value = serde_json::to_value(&form).unwrap();
    assert_eq!(
        serde_json::from_value::<FormSchema>(value.clone()).unwrap(),
        form
    );
    let text = value.to_string();
    assert_eq!(serde_json::from_str::<FormSchema>(&text).unwrap(), form);
    let names: Vec<_> = form.fields().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "name", "mail", "age", "share", "news", "colour", "size", "days"
        ]
    );
    assert_eq!(value["required"], json!(["name", "mail"]));
    assert_eq!(value["properties"]["age"]["minimum"], json!(18));
    assert_eq!(
        value["properties"]["days"]["items"],
        json!({"type": "string", "enum": ["Mo", "Tu", "We"]})
    );
    let (_, news) = form.fields().find(|(name, _)| *name == "news").unwrap();
    assert_eq!(news.title(), Some("News"));
}

#[test]
fn choices_round_trip_in_every_form() {
    for (value, choices) in [
        (
            json!({"type": "string", "enum": ["a"]}),
            Choices::from(["a"]),
        ),
        (
            json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}),
            Choices::from(vec![Choice::new("a", "A")]),
        ),
        (
            json!({"type": "string", "enum": ["a"], "enumNames": ["A"]}),
            Choices::Legacy {
                values: vec!["a".to_owned()],
                titles: vec!["A".to_owned()],
            },
        ),
    ] {
        let field: PrimitiveSchema = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(field, EnumSchema::new(choices).into());
        assert_eq!(serde_json::to_value(&field).unwrap(), value);
    }
    let titled = Choices::from(colours());
    let pairs = [("#f00", "Red"), ("#0f0", "Green")];
    assert_eq!(titled.iter().collect::<Vec<_>>(), pairs);
    let legacy = Choices::Legacy {
        values: vec!["#f00".to_owned(), "#0f0".to_owned()],
        titles: vec!["Red".to_owned(), "Green".to_owned()],
    };
    assert_eq!(legacy.iter().collect::<Vec<_>>(), pairs);
    let multi = MultiSelectSchema::new(legacy);
    let value = serde_json::to_value(&multi).unwrap();
    assert_eq!(
        value["items"]["anyOf"][0],
        json!({"const": "#f00", "title": "Red"})
    );
    // The value replaces a missing title.
    let short = Choices::Legacy {
        values: vec!["a".to_owned()],
        titles: vec![],
    };
    assert_eq!(short.iter().collect::<Vec<_>>(), [("a", "a")]);
}

#[test]
fn unknown_field_and_unknown_mode_are_kept() {
    for value in [
        json!({"type": "object", "properties": {}}),
        json!({"type": ["string", "null"]}),
        json!({"type": "array", "items": {"type": "number"}}),
        json!({"title": "?"}),
    ] {
        let field: PrimitiveSchema = serde_json::from_value(value.clone()).unwrap();
        assert!(matches!(field, PrimitiveSchema::Other(_)), "{value}");
        assert_eq!(serde_json::to_value(&field).unwrap(), value);
    }
    let value = json!({"mode": "voice", "message": "Say yes", "language": "en"});
    let asked: ElicitParams = serde_json::from_value(value.clone()).unwrap();
    assert_eq!((asked.mode(), asked.message()), ("voice", "Say yes"));
    assert_eq!(serde_json::to_value(&asked).unwrap(), value);
    let action: ElicitAction = serde_json::from_str(r#""postpone""#).unwrap();
    assert_eq!(action.as_str(), "postpone");
}

// spec: ELIC-03
#[test]
fn mode_determines_the_elicitation_kind() {
    // spec: ELIC-04
    let schema = json!({"type": "object", "properties": {}});
    for mode in [None, Some(json!("form"))] {
        let mut value = json!({"message": "m", "requestedSchema": schema});
        if let Some(mode) = mode {
            value["mode"] = mode;
        }
        let asked: ElicitParams = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(asked.mode(), "form");
        // The mode is written only if it was present.
        assert_eq!(serde_json::to_value(&asked).unwrap(), value);
    }
    let url = ElicitUrlParams::new("m", "https://example.com/x").elicitation_id("e");
    let value = serde_json::to_value(ElicitParams::from(url.clone())).unwrap();
    assert_eq!(value["mode"], "url");
    assert_eq!(
        serde_json::from_value::<ElicitParams>(value).unwrap(),
        url.into()
    );

    for broken in [
        json!({"message": "m"}),
        json!({"mode": "form", "message": "m", "url": "https://example.com"}),
        json!({"mode": "url", "message": "m", "requestedSchema": schema}),
        json!({"message": "m", "requestedSchema": {"type": "array", "properties": {}}}),
        json!({"message": "m", "requestedSchema": {"type": "object"}}),
        json!({"message": "m", "requestedSchema": {"type": "object", "properties": {"a": 1}}}),
        json!([]),
    ] {
        assert!(
            serde_json::from_value::<ElicitParams>(broken.clone()).is_err(),
            "{broken}"
        );
    }
}

#[test]
fn form_with_too_many_fields_is_refused() {
    let fields: Vec<_> = (0..10_000).map(|n| format!(r#""f{n}":{{}}"#)).collect();
    let text = format!(
        r#"{{"type":"object","properties":{{{}}}}}"#,
        fields.join(",")
    );
    let error = serde_json::from_str::<FormSchema>(&text).unwrap_err();
    assert!(error.to_string().contains("too many fields"), "{error}");
}

#[test]
fn fill_defaults_adds_missing_answers() {
    let mut answers = object(json!({"name": "Ada", "mail": "a@b", "age": 30}));
    form().fill_defaults(&mut answers);
    let filled = json!({
        "name": "Ada", "mail": "a@b", "age": 30, "share": 0.5, "news": false, "colour": "#f00",
        "days": ["Mo"],
    });
    assert_eq!(Value::from(answers.clone()), filled);
    assert_eq!(form().check(&answers), Ok(()));
    let answer = ElicitResult::accept(answers);
    assert!(answer.is_accepted());
    assert_eq!(answer.parse::<Value>().unwrap(), filled);
}

#[test]
fn problem_in_an_answer_is_named_with_its_field() {
    for (change, problem) in [
        (json!({"name": null}), "`name` must be a text, not null"),
        (json!({"name": "A"}), "`name` has 1 characters; at least 2"),
        (
            json!({"name": "Äåøéu"}),
            "`name` has 5 characters; at most 4",
        ),
        (json!({"mail": "a@"}), "`mail` must be an address"),
        (json!({"mail": "a b@c"}), "`mail` must be an address"),
        (json!({"age": 1.5}), "`age` must be a whole number, not 1.5"),
        (
            json!({"age": "20"}),
            "`age` must be a whole number, not a text",
        ),
        (json!({"age": 17}), "`age` is 17; at least 18"),
        (json!({"age": 100}), "`age` is 100; at most 99.5"),
        (
            json!({"news": "no"}),
            "`news` must be true or false, not a text",
        ),
        (
            json!({"colour": "Red"}),
            r##"`colour` is "Red"; it must be one of #f00, #0f0"##,
        ),
        (
            json!({"colour": 7}),
            "`colour` must be a text, not a number",
        ),
        (
            json!({"days": "Mo"}),
            "`days` must be a list of texts, not a text",
        ),
        (
            json!({"days": [1]}),
            "`days` must be a list of texts, not a number",
        ),
        (json!({"days": ["Su"]}), "one of Mo, Tu, We"),
        (json!({"days": []}), "at least 1"),
        (json!({"days": ["Mo", "Tu", "We"]}), "at most 2"),
    ] {
        let mut answers = object(json!({"name": "Ada", "mail": "a@b"}));
        answers.extend(object(change));
        let error = form().check(&answers).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    let error = form().check(&JsonObject::new()).unwrap_err();
    assert_eq!(error.to_string(), "`name` is missing");
    // Unknown answers are not checked.
    let more = object(json!({"name": "Ada", "mail": "a@b", "extra": []}));
    assert_eq!(form().check(&more), Ok(()));
}

#[test]
fn check_validates_string_formats() {
    for (format, good, bad) in [
        (StringFormat::Uri, "mailto:a@b", "://x"),
        (StringFormat::Uri, "https://example.com/x", "no uri"),
        (StringFormat::Date, "2026-07-28", "28.7.2026"),
        (StringFormat::DateTime, "2026-07-28T12:00:00Z", "2026-07-28"),
    ] {
        let form = FormSchema::new().required("x", StringSchema::new().format(format));
        assert_eq!(form.check(&object(json!({"x": good}))), Ok(()));
        assert!(form.check(&object(json!({"x": bad}))).is_err(), "{bad}");
    }
    let other = StringSchema::new().format(StringFormat::from("iban"));
    let form = FormSchema::new().required("x", other);
    assert_eq!(form.check(&object(json!({"x": "?"}))), Ok(()));
}
