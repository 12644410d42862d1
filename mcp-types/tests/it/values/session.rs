//! Values of sessions, subscriptions, tasks and errors.

use super::{Cases, R1, R4, R5, Shape, client, extra, info, server};
use mcp_types::codes::{self, MissingCapabilities, RequiredElicitations, UnsupportedVersion};
use mcp_types::legacy_tasks::{
    CreateTaskResult, LegacyTask, ListTasksResult, RelatedTask, TaskMetadata, TaskParams,
    TaskStatus,
};
use mcp_types::meta::keys;
use mcp_types::{
    Cursor, DiscoverResult, ElicitUrlParams, ErrorObject, InitializeParams, InitializeResult,
    ListenParams, ListenResult, Meta, Method, Page, PlainNotification, ProtocolVersion, RequestId,
    ResourceUpdated, SubscriptionAcknowledged, SubscriptionFilter,
};
use serde_json::json;

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
    let mut result = InitializeResult::new(version, server(), info());
    result.instructions = Some("Be kind.".to_owned());
    let nothing = PlainNotification::default();
    cases
        .span(R1, R4)
        .request("InitializeRequest", Method::Initialize, &params)
        .result("InitializeResult", &result)
        .note("InitializedNotification", Method::Initialized, &nothing)
        .request("PingRequest", Method::Ping, &nothing)
        .result("EmptyResult", &nothing);
    let mut discovered = DiscoverResult::default();
    discovered.supported_versions = vec![ProtocolVersion::LATEST.to_string()];
    discovered.capabilities = server();
    discovered.instructions = Some("Be kind.".to_owned());
    cases
        .span(R5, R5)
        .request("DiscoverRequest", Method::Discover, &nothing)
        .result("DiscoverResult", &DiscoverResult::default())
        .result("DiscoverResult", &discovered)
        .result("EmptyResult", &nothing);
}

fn subscriptions(cases: &mut Cases) {
    let id = RequestId::from("listen");
    let mut tagged = PlainNotification::default();
    tagged.meta = Some(Meta::default().with(keys::SUBSCRIPTION_ID, id.clone()));
    let filter = SubscriptionFilter::new()
        .tools_changed()
        .prompts_changed()
        .resources_changed()
        .resource("file:///a")
        .task("t");
    let mut updated = ResourceUpdated::from("file:///a");
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
    let subscription = Meta::default().with(keys::SUBSCRIPTION_ID, id.clone());
    let mut acknowledged = SubscriptionAcknowledged::default();
    acknowledged.notifications = filter.clone();
    acknowledged.meta = Some(subscription.clone());
    let mut end = ListenResult::default();
    end.meta = Some(subscription);
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
            &ListenParams::from(filter),
        )
        .result("SubscriptionsListenResult", &end)
        .note(
            "SubscriptionsAcknowledgedNotification",
            Method::SubscriptionAcknowledged,
            &acknowledged,
        );
}

fn errors(cases: &mut Cases) {
    let plain = |code| ErrorObject::new(code, "No.");
    let missing = plain(codes::INVALID_PARAMS).with_data(&json!({"uri": "a:b"}));
    cases
        .span(R5, R5)
        .plain("Error", &missing)
        .plain("InvalidParamsError", &missing)
        .plain("ParseError", &plain(codes::PARSE_ERROR))
        .plain("InvalidRequestError", &plain(codes::INVALID_REQUEST))
        .plain("MethodNotFoundError", &plain(codes::METHOD_NOT_FOUND))
        .plain("InternalError", &plain(codes::INTERNAL_ERROR));
    let capability = plain(codes::MISSING_CLIENT_CAPABILITY);
    let mut data = MissingCapabilities::default();
    data.required_capabilities = client();
    let capability = capability.with_data(&data);
    let version = plain(codes::UNSUPPORTED_PROTOCOL_VERSION);
    let mut data = UnsupportedVersion::default();
    data.supported = vec![ProtocolVersion::LATEST.to_string()];
    data.requested = "1".to_owned();
    let version = version.with_data(&data);
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
    let mut data = RequiredElicitations::default();
    data.elicitations.push(url);
    let error = plain(codes::URL_ELICITATION_REQUIRED).with_data(&data);
    cases
        .span(R4, R4)
        .add("URLElicitationRequiredError", Shape::Error, &error);
}

fn tasks(cases: &mut Cases) {
    let plain = json!({
        "taskId": "t",
        "status": "working",
        "createdAt": "2025-11-25T10:00:00Z",
        "lastUpdatedAt": "2025-11-25T10:00:00Z",
        "ttl": null,
    });
    let plain: LegacyTask = serde_json::from_value(plain).unwrap();
    let mut task = plain.clone();
    task.status = TaskStatus::InputRequired;
    task.status_message = Some("Waits.".to_owned());
    (task.ttl, task.poll_interval) = (Some(60_000), Some(500));
    let created = json!({"task": &task, "_meta": extra()});
    let created: CreateTaskResult = serde_json::from_value(created).unwrap();
    let mut list = ListTasksResult::default();
    list.tasks.push(task.clone());
    list.next_cursor = Some(Cursor::new("2"));
    let mut metadata = TaskMetadata::default();
    metadata.ttl = Some(1);
    let related: RelatedTask = serde_json::from_value(json!({"taskId": "t"})).unwrap();
    let id = TaskParams::from("t");
    cases
        .span(R4, R4)
        .plain("Task", &plain)
        .plain("Task", &task)
        .plain("TaskMetadata", &TaskMetadata::default())
        .plain("TaskMetadata", &metadata)
        .plain("RelatedTaskMetadata", &related)
        .result("CreateTaskResult", &created)
        .request("GetTaskRequest", Method::GetTask, &id)
        .result("GetTaskResult", &task)
        .request("CancelTaskRequest", Method::CancelTask, &id)
        .result("CancelTaskResult", &task)
        .request("GetTaskPayloadRequest", Method::TaskResult, &id)
        .request("ListTasksRequest", Method::ListTasks, &Page::default())
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
