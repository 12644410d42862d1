//! Values of sessions, subscriptions, tasks and errors.

use super::{Cases, R1, R4, R5, Shape, client, extra, info, server};
use mcp_types::codes::{
    self, MissingCapabilities, MissingResource, RequiredElicitations, UnsupportedVersion,
};
use mcp_types::legacy_tasks::{
    CreateTaskResult, LegacyTask, ListTasksResult, RelatedTask, TaskMetadata, TaskParams,
    TaskStatus,
};
use mcp_types::{
    Cursor, DiscoverResult, ElicitUrlParams, ErrorObject, InitializeParams, InitializeResult,
    ListenParams, ListenResult, Meta, Method, Page, PlainNotification, ProtocolVersion, RequestId,
    ResourceUpdated, SubscriptionAcknowledged, SubscriptionFilter,
};

pub(super) fn add(cases: &mut Cases) {
    lifecycle(cases);
    subscriptions(cases);
    errors(cases);
    tasks(cases);
}

fn lifecycle(cases: &mut Cases) {
    let version = ProtocolVersion::LATEST_LEGACY;
    let mut params = InitializeParams::new(version, client(), info());
    params.meta = Some(extra());
    let result = InitializeResult::new(version, server(), info());
    let nothing = PlainNotification::default();
    cases
        .span(R1, R4)
        .request("InitializeRequest", Method::Initialize, &params)
        .result(
            "InitializeResult",
            &result.instructions(Some("Be kind.".to_owned())),
        )
        .note("InitializedNotification", Method::Initialized, &nothing)
        .request("PingRequest", Method::Ping, &nothing)
        .result("EmptyResult", &nothing);
    let discovered = DiscoverResult::new(&ProtocolVersion::ALL, server());
    cases
        .span(R5, R5)
        .request("DiscoverRequest", Method::Discover, &nothing)
        .result("DiscoverResult", &DiscoverResult::default())
        .result(
            "DiscoverResult",
            &discovered.instructions(Some("Be kind.".to_owned())),
        )
        .result("EmptyResult", &nothing);
}

fn subscriptions(cases: &mut Cases) {
    let id = RequestId::from("listen");
    let tagged = PlainNotification::of(Meta::default().for_subscription(&id));
    let filter = SubscriptionFilter::new()
        .tools_changed()
        .prompts_changed()
        .resources_changed()
        .resource("file:///a")
        .task("t");
    let mut updated = ResourceUpdated::new("file:///a");
    updated.meta.clone_from(&tagged.meta);
    cases
        .span(R1, R5)
        .note("ToolListChangedNotification", Method::ToolsChanged, &tagged)
        .note(
            "PromptListChangedNotification",
            Method::PromptsChanged,
            &tagged,
        )
        .note(
            "ResourceListChangedNotification",
            Method::ResourcesChanged,
            &tagged,
        )
        .note(
            "ResourceUpdatedNotification",
            Method::ResourceUpdated,
            &updated,
        );
    let acknowledged = SubscriptionAcknowledged::new(&id, filter.clone());
    cases
        .span(R5, R5)
        .plain("SubscriptionFilter", &SubscriptionFilter::new())
        .plain("SubscriptionFilter", &filter)
        .request(
            "SubscriptionsListenRequest",
            Method::Listen,
            &ListenParams::default(),
        )
        .request(
            "SubscriptionsListenRequest",
            Method::Listen,
            &ListenParams::new(filter),
        )
        .result(
            "SubscriptionsListenResult",
            &ListenResult::new(&RequestId::from(7)),
        )
        .note(
            "SubscriptionsAcknowledgedNotification",
            Method::SubscriptionAcknowledged,
            &acknowledged,
        );
}

fn errors(cases: &mut Cases) {
    let plain = |code| ErrorObject::new(code, "No.");
    let missing = plain(codes::INVALID_PARAMS).with_data(&MissingResource::new("a:b"));
    cases
        .span(R5, R5)
        .plain("Error", &missing)
        .plain("InvalidParamsError", &missing)
        .plain("ParseError", &plain(codes::PARSE_ERROR))
        .plain("InvalidRequestError", &plain(codes::INVALID_REQUEST))
        .plain("MethodNotFoundError", &plain(codes::METHOD_NOT_FOUND))
        .plain("InternalError", &plain(codes::INTERNAL_ERROR));
    let capability = plain(codes::MISSING_CLIENT_CAPABILITY);
    let capability = capability.with_data(&MissingCapabilities::new(client()));
    let version = plain(codes::UNSUPPORTED_PROTOCOL_VERSION);
    let version = version.with_data(&UnsupportedVersion::new("1", &ProtocolVersion::ALL));
    let header = plain(codes::HEADER_MISMATCH);
    cases
        .add(
            "MissingRequiredClientCapabilityError",
            Shape::Error,
            &capability,
        )
        .add("UnsupportedProtocolVersionError", Shape::Error, &version)
        .add("HeaderMismatchError", Shape::Error, &header);
    let url = ElicitUrlParams::new("m", "https://example.com").elicitation_id("e");
    let error = plain(codes::URL_ELICITATION_REQUIRED).with_data(&RequiredElicitations::new([url]));
    cases
        .span(R4, R4)
        .add("URLElicitationRequiredError", Shape::Error, &error);
}

fn tasks(cases: &mut Cases) {
    let task = LegacyTask::new("t", "2025-11-25T10:00:00Z", Some(60_000))
        .status(TaskStatus::InputRequired)
        .message("Waits.")
        .poll_interval(500);
    let mut created = CreateTaskResult::new(task.clone());
    created.meta = Some(extra());
    let mut list = ListTasksResult::new(vec![task.clone()]);
    list.next_cursor = Some(Cursor::new("2"));
    let id = TaskParams::new("t");
    cases
        .span(R4, R4)
        .plain("Task", &LegacyTask::new("t", "2025-11-25T10:00:00Z", None))
        .plain("Task", &task)
        .plain("TaskMetadata", &TaskMetadata::new())
        .plain("TaskMetadata", &TaskMetadata::new().ttl(1))
        .plain("RelatedTaskMetadata", &RelatedTask::new("t"))
        .result("CreateTaskResult", &created)
        .request("GetTaskRequest", Method::GetTask, &id)
        .result("GetTaskResult", &task)
        .request("CancelTaskRequest", Method::CancelTask, &id)
        .result("CancelTaskResult", &task)
        .request("GetTaskPayloadRequest", Method::TaskResult, &id)
        .request("ListTasksRequest", Method::ListTasks, &Page::first())
        .result("ListTasksResult", &list)
        .note("TaskStatusNotification", Method::TaskStatus, &task);
    for status in [
        "working",
        "input_required",
        "completed",
        "failed",
        "cancelled",
    ] {
        cases.plain("TaskStatus", &TaskStatus::from(status));
    }
}
