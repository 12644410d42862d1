//! Completions by handlers and by the values of enums.

use mcp_core::{Call, Fault, Service as _};
use mcp_server::{
    Args, CompletionError, CompletionRoute, Prefix, PromptExt as _, ResourceExt as _, Routes,
    Server, State,
};
use mcp_types::{
    CompleteParams, Completion, CompletionReference, JsonObject, Prompt, Resource, ResourceTemplate,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::kit::{complete, complete_reply, fault, reply, server};

/// Style of the greeting.
#[derive(Deserialize, JsonSchema)]
enum Tone {
    Kind,
    /// Not kind.
    Harsh,
    #[serde(rename = "half-hearted")]
    HalfHearted,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Review {
    file: String,
    tone: Option<Tone>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Repo {
    owner: String,
    tone: Tone,
}

#[derive(Deserialize, JsonSchema)]
struct Known {
    tone: Option<String>,
}

const REPO: &str = "git://{owner}/{tone}";

fn reviews() -> Server {
    let files = |Prefix(prefix): Prefix, Args(known): Args<Known>| async move {
        let tone = known.tone.unwrap_or_default();
        vec![format!("{prefix}.rs"), format!("{prefix}-{tone}")]
    };
    server(
        Server::new("test", "1.0.0")
            .prompt(
                Prompt::new("review")
                    .handler(|_: Args<Review>| "")
                    .completion("file", files),
            )
            .resource(Resource::new("t:plain").read(|| ""))
            .template(ResourceTemplate::new(REPO).read(|_: Args<Repo>| ""))
            .completion(CompletionRoute::template(
                REPO,
                "owner",
                |prefix: Prefix| {
                    (0..250)
                        .map(|n| format!("{}{n}", &*prefix))
                        .collect::<Vec<_>>()
                },
            )),
    )
}

fn review() -> CompletionReference {
    CompletionReference::prompt("review")
}

fn repo() -> CompletionReference {
    CompletionReference::template(REPO)
}

// spec: COMP-01
#[test]
fn handler_suggests_values_for_prompts_and_templates() {
    let server = reviews();
    assert_eq!(
        complete(&server, review(), "file", "li").values,
        ["li.rs", "li-"]
    );
    let mut known = JsonObject::new();
    known.insert("tone".to_owned(), "Kind".into());
    let params = CompleteParams::new(review(), "file", "li").context(known);
    let reply = format!("{:?}", complete_reply(&server, params));
    assert!(reply.contains("li-Kind"), "{reply}");
    assert!(server.profile().capabilities.completions.is_some());
}

// spec: COMP-03
#[test]
fn more_than_100_suggestions_are_truncated() {
    let found = complete(&reviews(), repo(), "owner", "x");
    assert_eq!(
        (found.values.len(), found.total, found.has_more),
        (100, Some(250), Some(true))
    );
    assert_eq!(found.values[99], "x99");

    let mut many = Completion::new(["a"]);
    many.values = vec!["a".to_owned(); 101];
    let server = reviews().completion(CompletionRoute::template(REPO, "tone", move || {
        many.clone()
    }));
    let found = complete(&server, repo(), "tone", "");
    assert_eq!(
        (found.values.len(), found.total, found.has_more),
        (100, Some(101), Some(true))
    );
}

#[test]
fn enum_argument_is_completed_without_handler() {
    let server = reviews();
    for reference in [review(), repo()] {
        for (typed, values) in [
            ("", &["Kind", "half-hearted", "Harsh"][..]),
            ("h", &["half-hearted", "Harsh"]),
            ("HA", &["half-hearted", "Harsh"]),
            ("kind", &["Kind"]),
            ("kinder", &[]),
        ] {
            let mut found = complete(&server, reference.clone(), "tone", typed).values;
            let mut values = values.to_vec();
            found.sort();
            values.sort_unstable();
            assert_eq!(found, values, "{typed:?}");
        }
    }
}

#[test]
fn unknown_reference_is_rejected_and_unknown_argument_has_no_values() {
    let reviews_server = reviews();
    assert_eq!(
        complete(&reviews_server, review(), "other", "x"),
        Completion::default()
    );
    assert_eq!(
        complete(
            &reviews_server,
            CompletionReference::template("t:plain"),
            "x",
            ""
        ),
        Completion::default()
    );
    for (reference, expected) in [
        (
            CompletionReference::prompt("x"),
            "`params.ref`: unknown prompt: x",
        ),
        (
            CompletionReference::template("x"),
            "`params.ref`: unknown resource template: x",
        ),
    ] {
        let reply = complete_reply(&reviews_server, CompleteParams::new(reference, "a", ""));
        assert_eq!(fault(reply), Fault::bad_params(expected));
    }
    let none = server(Server::new("test", "1.0.0").prompt(Prompt::new("review").handler(|| "")));
    let call = Call::Complete(CompleteParams::new(review(), "a", "").into());
    assert!(matches!(
        fault(reply(&none, call)),
        Fault::NoSuchMethod { .. }
    ));
}

#[test]
fn error_in_a_completion_becomes_a_fault() {
    let server = reviews().completion(CompletionRoute::prompt("review", "tone", || {
        Err::<Vec<String>, CompletionError>("no index".into())
    }));
    let reply = complete_reply(&server, CompleteParams::new(review(), "tone", ""));
    assert_eq!(fault(reply), Fault::internal("no index"));
}

#[test]
fn check_reports_completions_without_owner_or_argument() {
    let none = || Vec::<String>::new();
    let server = reviews()
        .completion(CompletionRoute::prompt("review", "files", none))
        .completion(CompletionRoute::prompt("preview", "file", none))
        .completion(CompletionRoute::prompt("review", "file", none))
        .completion(CompletionRoute::template("git://x", "file", none));
    assert_eq!(
        server.check().unwrap_err().problems(),
        [
            "the completion of `files` of the prompt `review`: it has no argument `files`",
            "the completion of `file` of the prompt `preview`: there is no such prompt `preview`",
            "two completions of `file` of the prompt `review`",
            "the completion of `file` of the resource template `git://x`: there is no such resource template `git://x`",
        ]
    );
}

/// A prompt and a template with completions of their own, which take a state.
fn own_completions() -> (mcp_server::PromptRoute, mcp_server::TemplateRoute) {
    let suggest = |Prefix(prefix): Prefix, State(end): State<&'static str>| vec![prefix + end];
    let prompt = Prompt::new("review").handler(|_: Args<Review>| "");
    let template = ResourceTemplate::new(REPO).read(|_: Args<Repo>| "");
    (
        prompt.completion("file", suggest),
        template.completion("owner", suggest),
    )
}

#[test]
fn own_completion_follows_its_prompt_into_nested_routers() {
    let (prompt, template) = own_completions();
    let routes = Routes::new().state(".rs").prompt(prompt).template(template);
    let server = server(Server::new("test", "1.0.0").nest("code", routes));
    let prompt = CompletionReference::prompt("code_review");
    assert_eq!(
        complete(&server, prompt.clone(), "file", "a").values,
        ["a.rs"]
    );
    assert_eq!(complete(&server, repo(), "owner", "b").values, ["b.rs"]);
    // Other arguments have the values of their types.
    assert_eq!(complete(&server, prompt, "tone", "k").values, ["Kind"]);
    let unknown = complete_reply(&server, CompleteParams::new(review(), "file", "a"));
    assert!(matches!(fault(unknown), Fault::BadParams { .. }));
}

#[test]
fn own_completion_comes_and_goes_with_its_prompt() {
    let server = server(Server::new("test", "1.0.0").state("!"));
    let (prompts, templates) = (server.prompts(), server.templates());
    let declares = || server.profile().capabilities.completions.is_some();
    assert!(!declares());
    let (prompt, template) = own_completions();
    prompts.add(prompt).unwrap();
    templates.add(template).unwrap();
    assert!(declares());
    assert_eq!(complete(&server, review(), "file", "a").values, ["a!"]);
    assert_eq!(complete(&server, repo(), "owner", "a").values, ["a!"]);
    prompts.remove("review");
    let gone = complete_reply(&server, CompleteParams::new(review(), "file", "a"));
    assert!(matches!(fault(gone), Fault::BadParams { .. }));
    templates.remove(REPO);
    assert!(!declares());
}

#[test]
fn check_reports_mistakes_in_own_completions() {
    let none = || Vec::<String>::new();
    let (prompt, _) = own_completions();
    let prompt = prompt.completion("files", none).completion("file", none);
    let problems = [
        "the completion of `file` of the prompt `review` takes `State<&str>`, which is missing; add `.state(…)`",
        "the completion of `files` of the prompt `review`: it has no argument `files`",
        "two completions of `file` of the prompt `review`",
    ];
    let plain = Server::new("test", "1.0.0");
    let prompts = plain.prompts();
    let added = prompts.add(prompt.clone()).unwrap_err().to_string();
    for problem in problems {
        assert!(added.contains(problem), "{added}");
    }
    let server = plain.prompt(prompt);
    assert_eq!(server.check().unwrap_err().problems(), problems);

    // One of the prompt, one of the server.
    let (prompt, _) = own_completions();
    let server = Server::new("test", "1.0.0").state("!").prompt(prompt);
    let server = server.completion(CompletionRoute::prompt("review", "file", none));
    assert_eq!(server.check().unwrap_err().problems(), [problems[2]]);
}
