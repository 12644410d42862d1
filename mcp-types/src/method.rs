//! Table of methods: kind, sender, revisions and required capability of each method.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/schema>, `docs/spec/revisions.md` §1.

use std::fmt;

use crate::ProtocolVersion::{self, V2024_11_05, V2025_06_18, V2025_11_25, V2026_07_28};

/// Kind of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MethodKind {
    /// The message has an id and expects a response.
    Request,
    /// The message is never answered.
    Notification,
}

/// Side that may send a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sender {
    /// Only the client.
    Client,
    /// Only the server.
    Server,
    /// Both sides.
    Both,
}

/// Capability that the receiver of a method has to declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Capability {
    /// The server's `tools`.
    Tools,
    /// The server's `resources`.
    Resources,
    /// The server's `prompts`.
    Prompts,
    /// The server's `completions`.
    Completions,
    /// The server's `logging`.
    Logging,
    /// The client's `roots`.
    Roots,
    /// The client's `sampling`.
    Sampling,
    /// The client's `elicitation`.
    Elicitation,
    /// The receiver's experimental `tasks` of 2025-11-25.
    Tasks,
}

/// Row of the method table.
#[derive(Debug)]
#[non_exhaustive]
pub struct MethodSpec {
    /// The method.
    pub method: Method,
    /// Name of the method in messages.
    pub name: &'static str,
    /// Request or notification.
    pub kind: MethodKind,
    /// Side that may send the method in the legacy era, or in the only era that defines it.
    pub sender: Sender,
    /// First revision that defines the method.
    pub since: ProtocolVersion,
    /// Last revision that defines the method.
    pub until: ProtocolVersion,
    /// Parameter that modern HTTP clients mirror in the header `Mcp-Name`.
    // spec: HTTP-SM-07, HTTP-SM-08
    pub name_param: Option<&'static str>,
    /// `true` if complete results carry `ttlMs` and `cacheScope` in the modern era.
    // spec: CACHE-01
    pub cacheable: bool,
    /// `true` if a modern result may request input.
    // spec: MRTR-02
    pub may_require_input: bool,
    /// Capability that the receiver has to declare.
    pub capability: Option<Capability>,
    /// `true` for methods of official extensions and experimental tasks (2025-11-25), which a
    /// server without them does not have.
    pub of_extension: bool,
}

impl MethodSpec {
    /// Returns `true` if `version` defines the method.
    pub const fn exists_in(&self, version: ProtocolVersion) -> bool {
        version.within(self.since, self.until)
    }

    const fn row(method: Method, name: &'static str, kind: MethodKind, sender: Sender) -> Self {
        Self {
            method,
            name,
            kind,
            sender,
            since: V2024_11_05,
            until: ProtocolVersion::LATEST,
            name_param: None,
            cacheable: false,
            may_require_input: false,
            capability: None,
            of_extension: false,
        }
    }

    const fn since(mut self, version: ProtocolVersion) -> Self {
        self.since = version;
        self
    }

    const fn until(mut self, version: ProtocolVersion) -> Self {
        self.until = version;
        self
    }

    const fn legacy(self) -> Self {
        self.until(ProtocolVersion::LATEST_LEGACY)
    }

    const fn named(mut self, param: &'static str) -> Self {
        self.name_param = Some(param);
        self
    }

    const fn cacheable(mut self) -> Self {
        self.cacheable = true;
        self
    }

    const fn may_require_input(mut self) -> Self {
        self.may_require_input = true;
        self
    }

    const fn of_extension(mut self) -> Self {
        self.of_extension = true;
        self
    }

    const fn needs(mut self, capability: Capability) -> Self {
        self.capability = Some(capability);
        self
    }
}

/// Defines the enum and its table from one list.
macro_rules! methods {
    ($($(#[$doc:meta])* $method:ident = $name:literal, $kind:ident from $sender:ident $(. $fact:ident($($value:expr),*))*;)*) => {
        /// Method of the protocol or an official extension.
        ///
        /// # Examples
        ///
        /// ```
        /// use mcp::types::Method;
        ///
        /// let method = Method::from_name("tools/call").unwrap();
        /// assert_eq!(method, Method::CallTool);
        /// assert_eq!(method.spec().name_param, Some("name"));
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Method {
            $($(#[$doc])* $method,)*
        }

        impl Method {
            /// All methods.
            pub const ALL: &'static [Self] = &[$(Self::$method,)*];
        }

        /// Rows in the order of the enum.
        static TABLE: &[MethodSpec] = &[
            $(MethodSpec::row(Method::$method, $name, MethodKind::$kind, Sender::$sender)$(.$fact($($value),*))*,)*
        ];
    };
}

methods! {
    /// `tools/call`
    CallTool = "tools/call", Request from Client.named("name").may_require_input().needs(Capability::Tools);
    /// `tools/list`
    ListTools = "tools/list", Request from Client.cacheable().needs(Capability::Tools);
    /// `resources/read`
    ReadResource = "resources/read", Request from Client.named("uri").cacheable().may_require_input().needs(Capability::Resources);
    /// `resources/list`
    ListResources = "resources/list", Request from Client.cacheable().needs(Capability::Resources);
    /// `resources/templates/list`
    ListResourceTemplates = "resources/templates/list", Request from Client.cacheable().needs(Capability::Resources);
    /// `prompts/get`
    GetPrompt = "prompts/get", Request from Client.named("name").may_require_input().needs(Capability::Prompts);
    /// `prompts/list`
    ListPrompts = "prompts/list", Request from Client.cacheable().needs(Capability::Prompts);
    /// `completion/complete`
    Complete = "completion/complete", Request from Client.needs(Capability::Completions);
    /// `server/discover`
    Discover = "server/discover", Request from Client.since(V2026_07_28).cacheable();
    /// `subscriptions/listen`
    Listen = "subscriptions/listen", Request from Client.since(V2026_07_28);
    /// `notifications/subscriptions/acknowledged`
    SubscriptionAcknowledged = "notifications/subscriptions/acknowledged", Notification from Server.since(V2026_07_28);
    /// `notifications/progress`
    Progress = "notifications/progress", Notification from Both;
    /// `notifications/message`
    LogMessage = "notifications/message", Notification from Server;
    /// `notifications/cancelled`
    Cancelled = "notifications/cancelled", Notification from Both;
    /// `notifications/tools/list_changed`
    ToolsChanged = "notifications/tools/list_changed", Notification from Server.needs(Capability::Tools);
    /// `notifications/prompts/list_changed`
    PromptsChanged = "notifications/prompts/list_changed", Notification from Server.needs(Capability::Prompts);
    /// `notifications/resources/list_changed`
    ResourcesChanged = "notifications/resources/list_changed", Notification from Server.needs(Capability::Resources);
    /// `notifications/resources/updated`
    ResourceUpdated = "notifications/resources/updated", Notification from Server.needs(Capability::Resources);
    /// `initialize`
    Initialize = "initialize", Request from Client.legacy();
    /// `notifications/initialized`
    Initialized = "notifications/initialized", Notification from Client.legacy();
    /// `ping`
    Ping = "ping", Request from Both.legacy();
    /// `logging/setLevel`
    SetLevel = "logging/setLevel", Request from Client.legacy().needs(Capability::Logging);
    /// `resources/subscribe`
    Subscribe = "resources/subscribe", Request from Client.legacy().needs(Capability::Resources);
    /// `resources/unsubscribe`
    Unsubscribe = "resources/unsubscribe", Request from Client.legacy().needs(Capability::Resources);
    /// `notifications/roots/list_changed`
    RootsChanged = "notifications/roots/list_changed", Notification from Client.legacy().needs(Capability::Roots);
    /// `roots/list`. In the modern era it is part of a result.
    ListRoots = "roots/list", Request from Server.legacy().needs(Capability::Roots);
    /// `sampling/createMessage`. In the modern era it is part of a result.
    CreateMessage = "sampling/createMessage", Request from Server.legacy().needs(Capability::Sampling);
    /// `elicitation/create`. In the modern era it is part of a result.
    Elicit = "elicitation/create", Request from Server.since(V2025_06_18).legacy().needs(Capability::Elicitation);
    /// `notifications/elicitation/complete`
    ElicitationComplete = "notifications/elicitation/complete", Notification from Server.since(V2025_11_25).legacy().needs(Capability::Elicitation);
    /// `tasks/get` (experimental in 2025-11-25, later the tasks extension).
    GetTask = "tasks/get", Request from Both.since(V2025_11_25).named("taskId").needs(Capability::Tasks).of_extension();
    /// `tasks/cancel` (experimental in 2025-11-25, later the tasks extension).
    CancelTask = "tasks/cancel", Request from Both.since(V2025_11_25).named("taskId").needs(Capability::Tasks).of_extension();
    /// `tasks/result`
    TaskResult = "tasks/result", Request from Both.since(V2025_11_25).legacy().needs(Capability::Tasks).of_extension();
    /// `tasks/list`
    ListTasks = "tasks/list", Request from Both.since(V2025_11_25).legacy().needs(Capability::Tasks).of_extension();
    /// `tasks/update` (tasks extension).
    UpdateTask = "tasks/update", Request from Client.since(V2026_07_28).named("taskId").needs(Capability::Tasks).of_extension();
    /// `notifications/tasks/status`
    TaskStatus = "notifications/tasks/status", Notification from Both.since(V2025_11_25).legacy().needs(Capability::Tasks).of_extension();
    /// `notifications/tasks` (tasks extension).
    TaskChanged = "notifications/tasks", Notification from Server.since(V2026_07_28).needs(Capability::Tasks).of_extension();
    /// `skills/list` (skills extension).
    // spec: SKILL-16
    ListSkills = "skills/list", Request from Client.cacheable().of_extension();
    /// `skills/get` (skills extension).
    // spec: SKILL-18
    GetSkill = "skills/get", Request from Client.cacheable().of_extension();
    /// `resources/directory/read` (skills extension). Its result has no `ttlMs`, although it is a list.
    // spec: SKILL-19
    ReadDirectory = "resources/directory/read", Request from Client.of_extension();
}

impl Method {
    /// Returns the row of the table.
    pub const fn spec(self) -> &'static MethodSpec {
        &TABLE[self as usize]
    }

    /// Returns the name of the method in messages.
    pub const fn as_str(self) -> &'static str {
        self.spec().name
    }

    /// Returns the method with the given name.
    pub fn from_name(name: &str) -> Option<Self> {
        TABLE
            .iter()
            .find(|spec| spec.name == name)
            .map(|spec| spec.method)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::{Method, MethodKind};
    use crate::ProtocolVersion;

    #[test]
    fn row_of_method_has_its_name_and_kind() {
        for method in Method::ALL {
            assert_eq!(method.spec().method, *method);
            assert_eq!(Method::from_name(method.as_str()), Some(*method));
            let is_note = method.as_str().starts_with("notifications/");
            assert_eq!(
                method.spec().kind == MethodKind::Notification,
                is_note,
                "{method}"
            );
        }
        assert_eq!(Method::from_name("Tools/call"), None);
    }

    #[test]
    fn number_of_methods_depends_on_revision() {
        let count = |version| {
            Method::ALL
                .iter()
                .filter(|method| method.spec().exists_in(version))
                .count()
        };
        assert_eq!(
            ProtocolVersion::ALL.map(count),
            [
                8 + 7 + 3 + 2 + 2 + 3,
                15 + 13 + 3 - 2 + 2 + 3,
                15 + 9 + 1 + 3,
                15 + 9 + 3,
                15 + 9 + 3
            ],
        );
    }
}
