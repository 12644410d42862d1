//! The method table's rows, grouped by the side that may send the method.
//!
//! A row has the method, the type of its parameters without `_meta`, its name in messages, its kind, and what
//! differs from the usual row. Parameters of type `JsonObject` have no members of their own, or their
//! type is in another crate.

/// Calls the macro `$use` with the rows.
macro_rules! method_table {
    ($use:ident) => {
        $use! {
            Client {
                /// `tools/call`
                CallTool(CallToolParams) = "tools/call", Request.named("name").may_require_input();
                /// `tools/list`
                ListTools(Page) = "tools/list", Request.cacheable();
                /// `resources/read`
                ReadResource(ReadResourceParams) = "resources/read", Request.named("uri").cacheable().may_require_input();
                /// `resources/list`
                ListResources(Page) = "resources/list", Request.cacheable();
                /// `resources/templates/list`
                ListResourceTemplates(Page) = "resources/templates/list", Request.cacheable();
                /// `prompts/get`
                GetPrompt(GetPromptParams) = "prompts/get", Request.named("name").may_require_input();
                /// `prompts/list`
                ListPrompts(Page) = "prompts/list", Request.cacheable();
                /// `completion/complete`
                Complete(CompleteParams) = "completion/complete", Request;
                /// `server/discover`
                Discover(JsonObject) = "server/discover", Request.since(V2026_07_28).cacheable();
                /// `subscriptions/listen`
                Listen(ListenParams) = "subscriptions/listen", Request.since(V2026_07_28);
                /// `initialize`
                Initialize(InitializeParams) = "initialize", Request.legacy();
                /// `notifications/initialized`
                Initialized(JsonObject) = "notifications/initialized", Notification.legacy();
                /// `logging/setLevel`
                SetLevel(SetLevelParams) = "logging/setLevel", Request.legacy();
                /// `resources/subscribe`
                Subscribe(SubscribeParams) = "resources/subscribe", Request.legacy();
                /// `resources/unsubscribe`
                Unsubscribe(SubscribeParams) = "resources/unsubscribe", Request.legacy();
                /// `notifications/roots/list_changed`
                RootsChanged(JsonObject) = "notifications/roots/list_changed", Notification.legacy();
                /// `tasks/update` (tasks extension).
                UpdateTask(UpdateTaskParams) = "tasks/update", Request.since(V2026_07_28).named("taskId").of_extension();
                /// `skills/list` (skills extension).
                ListSkills(Page) = "skills/list", Request.cacheable().of_extension();
                /// `skills/get` (skills extension).
                GetSkill(JsonObject) = "skills/get", Request.cacheable().of_extension();
                /// `resources/directory/read` (skills extension). Its result has no `ttlMs`, although it is a list.
                ReadDirectory(JsonObject) = "resources/directory/read", Request.of_extension();
            }
            Server {
                /// `notifications/subscriptions/acknowledged`
                SubscriptionAcknowledged(SubscriptionAcknowledged) = "notifications/subscriptions/acknowledged", Notification.since(V2026_07_28);
                /// `notifications/message`
                LogMessage(LogMessage) = "notifications/message", Notification;
                /// `notifications/tools/list_changed`
                ToolsChanged(JsonObject) = "notifications/tools/list_changed", Notification;
                /// `notifications/prompts/list_changed`
                PromptsChanged(JsonObject) = "notifications/prompts/list_changed", Notification;
                /// `notifications/resources/list_changed`
                ResourcesChanged(JsonObject) = "notifications/resources/list_changed", Notification;
                /// `notifications/resources/updated`
                ResourceUpdated(ResourceUpdated) = "notifications/resources/updated", Notification;
                /// `roots/list`. In the modern era it is part of a result.
                ListRoots(JsonObject) = "roots/list", Request.legacy();
                /// `sampling/createMessage`. In the modern era it is part of a result.
                CreateMessage(CreateMessageParams) = "sampling/createMessage", Request.legacy();
                /// `elicitation/create`. In the modern era it is part of a result.
                Elicit(ElicitParams) = "elicitation/create", Request.since(V2025_06_18).legacy();
                /// `notifications/elicitation/complete`
                ElicitationComplete(ElicitationComplete) = "notifications/elicitation/complete", Notification.since(V2025_11_25).legacy();
                /// `notifications/tasks` (tasks extension).
                TaskChanged(Task) = "notifications/tasks", Notification.since(V2026_07_28).of_extension();
            }
            Both {
                /// `notifications/progress`
                Progress(ProgressParams) = "notifications/progress", Notification;
                /// `notifications/cancelled`
                Cancelled(Cancelled) = "notifications/cancelled", Notification;
                /// `ping`
                Ping(JsonObject) = "ping", Request.legacy();
                /// `tasks/get` (experimental in 2025-11-25, later the tasks extension).
                GetTask(TaskParams) = "tasks/get", Request.since(V2025_11_25).named("taskId").of_extension();
                /// `tasks/cancel` (experimental in 2025-11-25, later the tasks extension).
                CancelTask(TaskParams) = "tasks/cancel", Request.since(V2025_11_25).named("taskId").of_extension();
                /// `tasks/result`
                TaskResult(TaskParams) = "tasks/result", Request.since(V2025_11_25).legacy().of_extension();
                /// `tasks/list`
                ListTasks(Page) = "tasks/list", Request.since(V2025_11_25).legacy().of_extension();
                /// `notifications/tasks/status`
                TaskStatus(LegacyTask) = "notifications/tasks/status", Notification.since(V2025_11_25).legacy().of_extension();
            }
        }
    };
}

pub(crate) use method_table;
