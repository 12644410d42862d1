//! Rust types as forms.

use expect_test::{Expect, expect};
use mcp_macros::Elicit;
use mcp_server::{Elicit, ElicitChoice};
use mcp_types::JsonObject;
use serde_json::{Value, json};

/// At the table.
#[derive(Debug, PartialEq, Elicit)]
#[elicit(crate = mcp_server)]
struct Booking {
    /// Names of the guests
    #[elicit(title = "Name", length = 1..=40, default = "Ada")]
    name: String,
    #[elicit(range = 1..=12, default = 2)]
    guests: u8,
    #[elicit(format = "email", description = "where to write to")]
    mail: Option<String>,
    #[elicit(name = "vip", default = false)]
    is_vip: bool,
    table: Table,
    #[elicit(default = Mood::Loud)]
    mood: Option<Mood>,
    #[elicit(length = 1.., default = vec![Mood::Quiet])]
    moods: Vec<Mood>,
    #[elicit(range = -0.5..)]
    tip: f64,
    #[elicit(range = ..=7)]
    r#type: Option<i64>,
}

#[derive(Debug, PartialEq, Elicit)]
#[elicit(crate = mcp_server)]
enum Table {
    /// At the window
    Window,
    #[elicit(name = "garden", title = "In the garden")]
    Garden,
    Cellar,
}

#[derive(Debug, PartialEq, Elicit)]
#[elicit(crate = mcp_server)]
enum Mood {
    Quiet,
    Loud,
}

/// Attributes of serde and schemars.
#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema, Elicit)]
#[elicit(crate = mcp_server)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Contact {
    #[schemars(length(min = 1, max = 40), title = "Name")]
    full_name: String,
    #[serde(rename = "mail", default)]
    #[schemars(email, description = "where to write to")]
    e_mail: String,
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 12))]
    guests: u8,
    #[serde(default)]
    phone_number: Option<String>,
    #[serde(skip)]
    visits: u32,
    #[serde(default)]
    call_by: CallBy,
}

#[derive(Debug, Default, PartialEq, serde::Deserialize, schemars::JsonSchema, Elicit)]
#[elicit(crate = mcp_server)]
#[serde(rename_all = "kebab-case")]
enum CallBy {
    #[default]
    PhoneCall,
    #[serde(rename = "sms", alias = "text")]
    TextMessage,
    #[serde(skip)]
    Pigeon,
}

fn two() -> u8 {
    2
}

#[test]
fn serde_and_schemars_attributes_apply_to_forms() {
    let form = serde_json::to_value(Contact::form()).unwrap();
    assert_eq!(
        form["properties"],
        json!({
            "fullName": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 40},
            "mail": {
                "type": "string",
                "description": "where to write to",
                "format": "email",
                "default": "",
            },
            "guests": {"type": "integer", "minimum": 1, "maximum": 12, "default": 2},
            "phoneNumber": {"type": "string"},
            "callBy": {"type": "string", "enum": ["phone-call", "sms"], "default": "phone-call"},
        })
    );
    let answers = json!({"fullName": "Ada", "mail": "a@b", "guests": 3, "callBy": "sms"});
    let from_form = Contact::from_answers(serde_json::from_value(answers.clone()).unwrap());
    assert_eq!(from_form.unwrap(), serde_json::from_value(answers).unwrap());
    assert_eq!(CallBy::Pigeon.as_text(), "Pigeon");
    assert_eq!(CallBy::from_text("Pigeon"), None);
}

fn check(form: impl serde::Serialize, expected: &Expect) {
    expected.assert_eq(&serde_json::to_string_pretty(&form).unwrap());
}

#[test]
fn form_from_a_type_has_fields_and_options() {
    check(
        Booking::form(),
        &expect![[r#"
            {
              "type": "object",
              "properties": {
                "name": {
                  "type": "string",
                  "title": "Name",
                  "description": "Names of the guests",
                  "minLength": 1,
                  "maxLength": 40,
                  "default": "Ada"
                },
                "guests": {
                  "type": "integer",
                  "minimum": 1,
                  "maximum": 12,
                  "default": 2
                },
                "mail": {
                  "type": "string",
                  "description": "where to write to",
                  "format": "email"
                },
                "vip": {
                  "type": "boolean",
                  "default": false
                },
                "table": {
                  "type": "string",
                  "oneOf": [
                    {
                      "const": "Window",
                      "title": "At the window"
                    },
                    {
                      "const": "garden",
                      "title": "In the garden"
                    },
                    {
                      "const": "Cellar",
                      "title": "Cellar"
                    }
                  ]
                },
                "mood": {
                  "type": "string",
                  "enum": [
                    "Quiet",
                    "Loud"
                  ],
                  "default": "Loud"
                },
                "moods": {
                  "type": "array",
                  "minItems": 1,
                  "items": {
                    "type": "string",
                    "enum": [
                      "Quiet",
                      "Loud"
                    ]
                  },
                  "default": [
                    "Quiet"
                  ]
                },
                "tip": {
                  "type": "number",
                  "minimum": -0.5
                },
                "type": {
                  "type": "integer",
                  "maximum": 7
                }
              },
              "required": [
                "name",
                "guests",
                "vip",
                "table",
                "moods",
                "tip"
              ]
            }"#]],
    );
}

fn object(value: Value) -> JsonObject {
    value.as_object().unwrap().clone()
}

#[test]
fn answers_are_decoded_into_type() {
    let full = json!({
        "name": "Bo", "guests": 3.0, "mail": "bo@example.com", "vip": true, "table": "garden",
        "mood": "Quiet", "moods": ["Loud", "Quiet"], "tip": 1, "type": -3, "more": {},
    });
    let booking = Booking::from_answers(object(full)).unwrap();
    assert_eq!(
        booking,
        Booking {
            name: "Bo".to_owned(),
            guests: 3,
            mail: Some("bo@example.com".to_owned()),
            is_vip: true,
            table: Table::Garden,
            mood: Some(Mood::Quiet),
            moods: vec![Mood::Loud, Mood::Quiet],
            tip: 1.0,
            r#type: Some(-3),
        }
    );
}

#[test]
fn mismatched_answer_names_field() {
    #[derive(Debug, Elicit)]
    #[elicit(crate = mcp_server)]
    struct Wide {
        #[expect(dead_code, reason = "it is never read")]
        big: u64,
        #[expect(dead_code, reason = "it is never read")]
        table: Option<Table>,
    }

    for (answers, problem) in [
        (json!({}), "`big` is missing"),
        (json!({"big": "1"}), "`big` must be a whole number"),
        (json!({"big": 1.5}), "`big` must be a whole number"),
        (json!({"big": -1}), "`big` is -1, which is out of range"),
        (
            json!({"big": 1, "table": "Roof"}),
            "`table` is \"Roof\", which is not a choice",
        ),
        (json!({"big": 1, "table": 3}), "`table` must be a text"),
    ] {
        let error = Wide::from_answers(object(answers)).unwrap_err();
        assert_eq!(error.to_string(), problem);
    }
    let big = json!({"big": u64::MAX});
    assert!(Wide::from_answers(object(big)).is_ok());
    let form = serde_json::to_value(Wide::form()).unwrap();
    assert_eq!(
        form["properties"]["big"],
        json!({"type": "integer", "minimum": 0})
    );
}

#[test]
fn struct_without_fields_is_empty_form() {
    #[derive(Elicit)]
    #[elicit(crate = mcp_server)]
    struct Nothing {}

    assert_eq!(Nothing::form().fields().len(), 0);
    assert!(Nothing::from_answers(JsonObject::new()).is_ok());
}
