//! Elicitation. A form field that an older revision does not have becomes the nearest older one, and
//! its value is converted back.

use std::sync::Arc;

use mcp_types::{
    Choices, ClientCapabilities, ElicitParams, ElicitResult, FormSchema, JsonObject,
    MultiSelectSchema, PrimitiveSchema, ProtocolVersion, StringSchema,
};
use serde_json::Value;

use super::narrowed::Narrow;
use crate::message::Fault;

/// The separator of several values in one text.
const SEPARATOR: char = ',';

/// Checks that the revision has forms, or URLs. Some clients of older revisions have URLs, too, and declare them.
// spec: ELIC-02
pub(super) fn check(
    params: &ElicitParams,
    to: ProtocolVersion,
    declared: Option<&ClientCapabilities>,
) -> Result<(), Fault> {
    let capabilities = ClientCapabilities::default();
    let declares_url = declared.is_some_and(ClientCapabilities::allows_url);
    let (exists, required) = match params {
        ElicitParams::Form(_) => (to.has_elicitation(), capabilities.with_elicitation()),
        ElicitParams::Url(_) => (
            to.has_url_elicitation() || declares_url,
            capabilities.with_url_elicitation(),
        ),
        _ => return Ok(()),
    };
    if exists {
        return Ok(());
    }
    Err(Fault::MissingCapability {
        required: Arc::new(required),
    })
}

impl Narrow for ElicitParams {
    fn narrow(&mut self, to: ProtocolVersion) {
        let task = match self {
            Self::Form(form) => {
                if !to.has_url_elicitation() {
                    *form = form.clone().without_mode();
                    form.requested_schema.narrow(to);
                }
                &mut form.task
            }
            Self::Url(url) => {
                if !to.has_elicitation_id() {
                    // spec: ELIC-08
                    url.elicitation_id = None;
                }
                &mut url.task
            }
            _ => return,
        };
        if !to.has_experimental_tasks() {
            *task = None;
        }
    }
}

// spec: ELIC-05, ELIC-06
impl Narrow for FormSchema {
    fn narrow(&mut self, to: ProtocolVersion) {
        if to.has_url_elicitation() {
            return;
        }
        self.dialect = None;
        for (_, field) in self.fields_mut() {
            match field {
                PrimitiveSchema::String(field) => field.default = None,
                PrimitiveSchema::Number(field) => field.default = None,
                PrimitiveSchema::Enum(field) => {
                    field.default = None;
                    field.choices = to_legacy(&field.choices);
                }
                PrimitiveSchema::MultiSelect(choice) => *field = to_text_field(choice).into(),
                _ => {}
            }
        }
    }
}

/// Converts titled choices into two lists, the only form of titles in older revisions.
fn to_legacy(choices: &Choices) -> Choices {
    match choices {
        Choices::Titled(choices) => Choices::Legacy {
            values: choices.iter().map(|choice| choice.value.clone()).collect(),
            titles: choices.iter().map(|choice| choice.title.clone()).collect(),
        },
        other => other.clone(),
    }
}

/// Converts a field with several values into a text field with a list of them.
fn to_text_field(choice: &MultiSelectSchema) -> StringSchema {
    let values: Vec<_> = choice.choices.iter().map(|(value, _)| value).collect();
    let hint = format!("Any of these, separated by commas: {}", values.join(", "));
    let mut field = StringSchema::new();
    field.title.clone_from(&choice.title);
    field.description(match &choice.description {
        Some(description) => format!("{description} ({hint})"),
        None => hint,
    })
}

/// Older revisions have no lists in answers. Only accepted forms have content.
// spec: ELIC-09, META-17
impl Narrow for ElicitResult {
    fn narrow(&mut self, to: ProtocolVersion) {
        if !self.is_accepted() {
            self.content = None;
        }
        if to.is_modern() {
            self.meta = None;
        }
        let values = self.content.iter_mut().flat_map(JsonObject::values_mut);
        for value in values.filter(|_| !to.has_url_elicitation()) {
            if let Value::Array(texts) = value {
                let texts: Vec<_> = texts.iter().filter_map(Value::as_str).collect();
                *value = texts.join(", ").into();
            }
        }
    }
}

/// Converts the answer to a narrowed form into an answer to the original one: a text becomes a list
/// where the original field has several values.
pub(in crate::wire) fn widen_answer(
    original: &ElicitParams,
    answer: &mut ElicitResult,
    from: ProtocolVersion,
) {
    let (ElicitParams::Form(form), Some(content)) = (original, &mut answer.content) else {
        return;
    };
    if from.has_url_elicitation() {
        return;
    }
    for (name, field) in form.requested_schema.fields() {
        if let PrimitiveSchema::MultiSelect(_) = field
            && let Some(value) = content.get_mut(name)
            && let Some(text) = value.as_str()
        {
            let texts = text.split(SEPARATOR).map(str::trim);
            let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
            *value = texts.into();
        }
    }
}
