//! Tools and a prompt that request input from the client.

use mcp::prelude::*;
use mcp::types::{
    BooleanSchema, Choice, Choices, EnumSchema, FormSchema, JsonObject, MultiSelectSchema,
    NumberSchema, StringFormat, StringSchema,
};
use mcp::{AskError, ToolError};

pub(crate) struct InputRequests;

#[derive(Elicit)]
struct Name {
    name: String,
}

#[derive(Elicit)]
struct Consent {
    ok: bool,
}

#[derive(Elicit)]
struct Color {
    color: String,
}

#[derive(Elicit)]
struct Context {
    context: String,
}

/// Formats the action and the content of an answer.
fn format_answer(answer: Answer<JsonObject>) -> String {
    let (action, content) = match answer {
        Answer::Accept(content) => ("accept", content),
        Answer::Decline => ("decline", JsonObject::new()),
        Answer::Cancel => ("cancel", JsonObject::new()),
    };
    let content = serde_json::Value::from(content);
    format!("action={action}, content={content}")
}

fn user_form() -> FormSchema {
    let email = StringSchema::new().format(StringFormat::Email);
    FormSchema::new()
        .required("username", StringSchema::new().description("User's name"))
        .required("email", email.description("User's email address"))
}

async fn name(ask: &Ask, key: &'static str) -> Result<String, AskError> {
    let answer = ask.form::<Name>(key, "What is your name?").await?;
    let name = answer.accepted().map(|accepted| accepted.name);
    Ok(name.unwrap_or_else(|| "stranger".to_owned()))
}

/// Three choices with titles.
fn titled_choices() -> Vec<Choice> {
    let title = |number: usize| Choice::new(format!("value{number}"), format!("Option {number}"));
    (1..=3).map(title).collect()
}

#[mcp::server(routes = routes)]
impl InputRequests {
    /// Requests a message of the language model
    #[tool]
    async fn test_sampling(
        ask: Ask,
        /** The prompt to send to the language model */
        prompt: String,
    ) -> Result<String, ToolError> {
        let sampling = Sampling::user(prompt).max_tokens(100);
        let answer = ask.sample("sampling", sampling).await?;
        Ok(format!("LLM response: {}", answer.content.text()))
    }

    /// Requests a user name and an email address
    #[tool]
    async fn test_elicitation(
        ask: Ask,
        /** The message to show to the user */
        message: String,
    ) -> Result<String, ToolError> {
        let answer = ask.raw_form("user", message, user_form()).await?;
        Ok(format!("User response: {}", format_answer(answer)))
    }

    /// Requests a form with default values of every type
    #[tool]
    async fn test_elicitation_sep1034_defaults(ask: Ask) -> Result<String, ToolError> {
        let status = EnumSchema::new(["active", "inactive", "pending"]);
        let form = FormSchema::new()
            .optional("name", StringSchema::new().default_value("John Doe"))
            .optional("age", NumberSchema::integer().default_value(30))
            .optional("score", NumberSchema::number().default_value(95.5))
            .optional("status", status.default_value("active"))
            .optional("verified", BooleanSchema::new().default_value(true));
        let message = "Please review and update the form fields with defaults";
        let answer = ask.raw_form("defaults", message, form).await?;
        Ok(format!("Elicitation completed: {}", format_answer(answer)))
    }

    /// Requests a form with enums of every kind
    #[tool]
    async fn test_elicitation_sep1330_enums(ask: Ask) -> Result<String, ToolError> {
        let plain = ["option1", "option2", "option3"];
        // The suite answers with a value of this enum only.
        let values = ["opt1", "opt2", "opt3"];
        let legacy = Choices::Legacy {
            values: values.map(str::to_owned).into(),
            titles: values.map(str::to_uppercase).into(),
        };
        let form = FormSchema::new()
            .optional("untitledSingle", EnumSchema::new(plain))
            .optional("titledSingle", EnumSchema::new(titled_choices()))
            .optional("legacyEnum", EnumSchema::new(legacy))
            .optional("untitledMulti", MultiSelectSchema::new(plain))
            .optional("titledMulti", MultiSelectSchema::new(titled_choices()));
        let message = "Please select options from the enum fields";
        let answer = ask.raw_form("enums", message, form).await?;
        Ok(format!("Elicitation completed: {}", format_answer(answer)))
    }

    /// Requests a form while the response is streamed
    #[tool]
    async fn test_streaming_elicitation(ask: Ask) -> Result<String, ToolError> {
        let answer = ask.raw_form("user", "Who are you?", user_form()).await?;
        Ok(format_answer(answer))
    }

    /// Requests a name
    #[tool]
    async fn test_input_required_result_elicitation(ask: Ask) -> Result<String, ToolError> {
        Ok(format!("Hello, {}!", name(&ask, "user_name").await?))
    }

    /// Requests a message of the language model
    #[tool]
    async fn test_input_required_result_sampling(ask: Ask) -> Result<String, ToolError> {
        let sampling = Sampling::user("What is the capital of France?").max_tokens(100);
        let answer = ask.sample("capital_question", sampling).await?;
        Ok(answer.content.text())
    }

    /// Requests the roots
    #[tool]
    async fn test_input_required_result_list_roots(ask: Ask) -> Result<String, ToolError> {
        let roots = ask.roots("client_roots").await?;
        let roots: Vec<_> = roots.into_iter().map(|root| root.uri).collect();
        Ok(format!("Roots: {}", roots.join(", ")))
    }

    /// Stores a value in the request state until the user confirms
    #[tool]
    async fn test_input_required_result_request_state(ask: Ask) -> Result<String, ToolError> {
        let ticket = ask.once("ticket", || async { 7 }).await?;
        let consent = ask.form::<Consent>("confirm", "Please confirm").await?;
        let ok = consent.accepted().is_some_and(|accepted| accepted.ok);
        Ok(format!("state-ok: ticket {ticket}, confirmed: {ok}"))
    }

    /// Requests elicitation, sampling and roots in one round
    #[tool]
    async fn test_input_required_result_multiple_inputs(ask: Ask) -> Result<String, ToolError> {
        let sampling = Sampling::user("Generate a greeting").max_tokens(50);
        let requests = (
            ask.form::<Name>("user_name", "What is your name?"),
            ask.sample("greeting", sampling),
            ask.roots("client_roots"),
        );
        let (name, greeting, roots) = ask.all(requests).await?;
        let name = name
            .accepted()
            .map(|accepted| accepted.name)
            .unwrap_or_default();
        let greeting = greeting.content.text();
        Ok(format!("{greeting} {name}, with {} roots", roots.len()))
    }

    /// Requests input in two rounds
    #[tool]
    async fn test_input_required_result_multi_round(ask: Ask) -> Result<String, ToolError> {
        let name = name(&ask, "step1").await?;
        let color = ask.form::<Color>("step2", "What is your favorite color?");
        let color = color.await?.accepted().map(|accepted| accepted.color);
        Ok(format!("{name} likes {}", color.unwrap_or_default()))
    }

    /// Detects a modified request state
    #[tool]
    async fn test_input_required_result_tampered_state(ask: Ask) -> Result<String, ToolError> {
        let consent = ask.form::<Consent>("confirm", "Please confirm").await?;
        let ok = consent.accepted().is_some_and(|accepted| accepted.ok);
        Ok(format!("confirmed: {ok}"))
    }

    /// Requests only input that the client declares
    #[tool]
    async fn test_input_required_result_capabilities(
        ask: Ask,
        client: ClientInfo,
    ) -> Result<String, ToolError> {
        if client.capabilities().allows_form() {
            return Ok(name(&ask, "user_name").await?);
        }
        let sampling = Sampling::user("Make up a name").max_tokens(20);
        Ok(ask.sample("name", sampling).await?.content.text())
    }

    /// A prompt that requests its context from the user
    #[prompt]
    async fn test_input_required_result_prompt(ask: Ask) -> Result<String, PromptError> {
        let message = "What context should the prompt use?";
        let context = ask.form::<Context>("user_context", message).await?;
        let context = context
            .accepted()
            .map(|accepted| accepted.context)
            .unwrap_or_default();
        Ok(format!("Use this context: {context}"))
    }
}
