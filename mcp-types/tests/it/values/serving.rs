//! Requests of a client to its server, and the results.

use super::*;

pub(super) fn add(cases: &mut Cases) {
    tools(cases);
    resources_and_prompts(cases);
    utilities(cases);
}

fn tools(cases: &mut Cases) {
    let arguments = RawObject::from_text(r#"{"a": 1}"#).unwrap();
    let mut call = CallToolParams::new("add", Some(arguments));
    let mut list = ListToolsResult::from(vec![tool(), Tool::new("b")]);
    list.next_cursor = Some(Cursor::new("2"));
    list.meta = Some(extra());
    cases
        .span(R1, R5)
        .request("ListToolsRequest", Method::ListTools, &Page::default())
        .request(
            "ListToolsRequest",
            Method::ListTools,
            &Page::from(Cursor::new("2")),
        )
        .result("ListToolsResult", &ListToolsResult::default())
        .result("ListToolsResult", &list)
        .request(
            "CallToolRequest",
            Method::CallTool,
            &CallToolParams::new("a", None),
        )
        .request("CallToolRequest", Method::CallTool, &call)
        .result("CallToolResult", &CallToolResult::default())
        .result(
            "CallToolResult",
            &CallToolResult::new(vec![text(), embedded()]).meta("a", 1),
        )
        .result("CallToolResult", &CallToolResult::error("no"));
    let structured = |value: Value| CallToolResult::from_json(&value).unwrap();
    cases
        .span(R3, R5)
        .result("CallToolResult", &CallToolResult::new(vec![link()]))
        .result("CallToolResult", &structured(json!({"sum": 3})));
    let mut task = TaskMetadata::default();
    task.ttl = Some(1);
    call.task = Some(task);
    cases
        .span(R4, R4)
        .request("CallToolRequest", Method::CallTool, &call);
    cases.span(R5, R5);
    for value in [json!(null), json!([1]), json!("x"), json!(0.5)] {
        cases.result("CallToolResult", &structured(value));
    }
}

fn resources_and_prompts(cases: &mut Cases) {
    let mut resources = ListResourcesResult::from(vec![resource(), Resource::new("a:b")]);
    resources.next_cursor = Some(Cursor::new("2"));
    let mut templates = ListResourceTemplatesResult::from(vec![template()]);
    templates.meta = Some(extra());
    let mut prompts = ListPromptsResult::from(vec![prompt()]);
    prompts.next_cursor = Some(Cursor::new("2"));
    let read = ReadResourceResult::from(vec![text_contents(), blob_contents()]).meta("a", 1);
    let arguments = RawObject::from_text(r#"{"a": "x"}"#).unwrap();
    let messages = [
        PromptMessage::new(Role::User, text()),
        PromptMessage::new(Role::Assistant, embedded()),
    ];
    let got = GetPromptResult::new(messages)
        .description("Reviews.")
        .meta("a", 1);
    let uri = SubscribeParams::from("file:///a");
    cases
        .span(R1, R5)
        .request(
            "ListResourcesRequest",
            Method::ListResources,
            &Page::from(Cursor::new("2")),
        )
        .result("ListResourcesResult", &ListResourcesResult::default())
        .result("ListResourcesResult", &resources)
        .request(
            "ListResourceTemplatesRequest",
            Method::ListResourceTemplates,
            &Page::default(),
        )
        .result(
            "ListResourceTemplatesResult",
            &ListResourceTemplatesResult::default(),
        )
        .result("ListResourceTemplatesResult", &templates)
        .request(
            "ReadResourceRequest",
            Method::ReadResource,
            &ReadResourceParams::from("a:b"),
        )
        .result("ReadResourceResult", &ReadResourceResult::default())
        .result("ReadResourceResult", &read)
        .request("ListPromptsRequest", Method::ListPrompts, &Page::default())
        .result("ListPromptsResult", &ListPromptsResult::default())
        .result("ListPromptsResult", &prompts)
        .request(
            "GetPromptRequest",
            Method::GetPrompt,
            &GetPromptParams::new("a", None),
        )
        .request(
            "GetPromptRequest",
            Method::GetPrompt,
            &GetPromptParams::new("a", Some(arguments)),
        )
        .result("GetPromptResult", &GetPromptResult::default())
        .result("GetPromptResult", &got)
        .plain("PromptMessage", &PromptMessage::new(Role::User, "hi"));
    cases.span(R3, R5).plain(
        "PromptMessage",
        &PromptMessage::new(Role::Assistant, link()),
    );
    cases
        .span(R1, R4)
        .request("SubscribeRequest", Method::Subscribe, &uri)
        .request("UnsubscribeRequest", Method::Unsubscribe, &uri);
}

fn utilities(cases: &mut Cases) {
    let prompt = CompletionReference::prompt("review");
    let resource = CompletionReference::template("file:///{path}");
    let complete = |reference: &CompletionReference| {
        CompleteParams::new(reference.clone(), "path", "s").context(object(json!({"root": "/"})))
    };
    let mut completed = CompleteResult::from(Completion::new(["a", "b"]).total(7));
    completed.meta = Some(extra());
    let mut message = LogMessage::new(LoggingLevel::Notice, json!({"a": 1}));
    message.logger = Some("db".to_owned());
    message.meta = Some(extra());
    let progress = ProgressUpdate::new(1.0).of(2.5).message("half");
    let token = ProgressToken::from("t");
    let mut told = ProgressParams::new(token.clone(), progress);
    told.meta = Some(extra());
    let mut cancelled = Cancelled::from(7);
    cancelled.reason = Some("enough".to_owned());
    cases
        .span(R1, R5)
        .plain("PromptReference", &prompt)
        .request("CompleteRequest", Method::Complete, &complete(&prompt))
        .request("CompleteRequest", Method::Complete, &complete(&resource))
        .result("CompleteResult", &CompleteResult::default())
        .result(
            "CompleteResult",
            &CompleteResult::from((0..300).map(|n| n.to_string()).collect::<Vec<_>>()),
        )
        .result("CompleteResult", &completed)
        .note(
            "LoggingMessageNotification",
            Method::LogMessage,
            &LogMessage::new(LoggingLevel::Debug, Value::Null),
        )
        .note("LoggingMessageNotification", Method::LogMessage, &message)
        .note(
            "ProgressNotification",
            Method::Progress,
            &ProgressParams::new(token, ProgressUpdate::new(0.5)),
        )
        .note("ProgressNotification", Method::Progress, &told)
        .note(
            "CancelledNotification",
            Method::Cancelled,
            &Cancelled::from("a"),
        )
        .note("CancelledNotification", Method::Cancelled, &cancelled);
    cases.span(R1, R2).plain("ResourceReference", &resource);
    cases
        .span(R3, R5)
        .plain("ResourceTemplateReference", &resource);
    let level = SetLevelParams::from(LoggingLevel::Alert);
    cases
        .span(R1, R4)
        .request("SetLevelRequest", Method::SetLevel, &level);
    // Only this revision allows a missing id, for tasks.
    cases.span(R4, R4).note(
        "CancelledNotification",
        Method::Cancelled,
        &Cancelled::default(),
    );
}
