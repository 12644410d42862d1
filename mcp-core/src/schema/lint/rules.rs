//! The kinds of lints, their severity, and the clients that they concern.

/// A client, or the model behind it, whose lints are of interest.
///
/// The lints are known reactions of these clients at the time of the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LintProfile {
    /// Claude models, Claude Desktop and Claude Code.
    Claude,
    /// OpenAI models and Codex.
    OpenAi,
    /// Gemini models and their command line.
    Gemini,
    /// Kimi models.
    Kimi,
    /// GitHub Copilot in Visual Studio Code.
    Copilot,
    /// The editor Zed.
    Zed,
    /// The Python framework LlamaIndex.
    LlamaIndex,
    /// The Python framework smolagents.
    Smolagents,
}

/// The severity of a [`Lint`](super::Lint).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Severity {
    /// Some clients use the tool with restrictions.
    Note,
    /// Some clients drop the tool, or all tools of its server.
    Warning,
}

/// A kind of lint.
pub(super) struct Rule {
    pub(super) severity: Severity,
    pub(super) profiles: &'static [LintProfile],
    pub(super) clients: &'static str,
    pub(super) reason: &'static str,
    pub(super) fix: &'static str,
}

/// Declares rules: severity, profiles, clients, reason and fix.
macro_rules! rules {
    ($(
        $name:ident = $severity:ident [$($profile:ident),*]:
            $clients:literal, $reason:literal, $fix:literal;
    )*) => {
        $(pub(super) const $name: &Rule = &Rule {
            severity: Severity::$severity,
            profiles: &[$(LintProfile::$profile),*],
            clients: $clients,
            reason: $reason,
            fix: $fix,
        };)*
    };
}

rules! {
    NAME = Warning []: "many clients",
        "drop a tool whose name is not 1 to 128 letters, digits, `_`, `-` or `.`", "rename it";
    DOTTED = Warning [Claude, OpenAi, Copilot]: "Claude Desktop, Copilot, Cursor and Codex",
        "drop a tool whose name has a `.`", "use `_` or `-`";
    LONG = Warning [Claude, OpenAi, Copilot]: "Claude and OpenAI models",
        "take names of at most 64 characters, those that the client puts in front included",
        "shorten it";
    ROOT_TYPE = Warning []: "clients of the TypeScript SDK",
        "refuse the whole list when an input schema is not `\"type\": \"object\"`",
        "make the arguments an object";
    ROOT_COMBINATOR = Warning [Claude, OpenAi]: "Claude and OpenAI models",
        "refuse the whole list when `anyOf`, `oneOf` or `allOf` is at the root of a schema",
        "move it into a property, or say it in the description";
    NO_PROPERTIES = Note [OpenAi]: "OpenAI models",
        "refuse an object without `properties`", "add `\"properties\": {}`";
    DIALECT = Warning [Claude]: "Claude models",
        "refuse every dialect but 2020-12", "leave `$schema` out";
    REFERENCE = Warning [Copilot, Gemini, Zed]: "LM Studio, Copilot in Visual Studio Code and Zed",
        "lose tools whose schema has a `$ref`, or what it refers to", "write the schema in place";
    RECURSIVE = Warning [LlamaIndex, Smolagents]: "LlamaIndex and smolagents",
        "lose all tools of a server when a `$ref` leads back to a schema around it",
        "write the schema in place, to a fixed depth";
    TOO_LARGE = Warning []: "clients and validators",
        "refuse a schema that is so large or so deep, or has so many references in a row",
        "make it smaller or flatter; only then its parts are checked for other lints";
    MALFORMED = Warning [Claude]: "Claude Code",
        "loses all tools when a keyword has a value of the wrong type, such as `null`",
        "leave the keyword out";
    FORMAT = Note [Gemini]: "clients with a strict validator",
        "refuse a `format` that JSON Schema does not know", "leave it out, or use `pattern`";
    TYPES = Note [Gemini]: "Gemini models",
        "read only one of several types", "leave the property out of `required` instead of `null`";
    SECRET = Warning []: "proxies",
        "see and log what headers repeat, and by its name this is a secret",
        "do not repeat it in a header";
    UNCHECKED = Warning []: "every client",
        "may send arguments that break the schema: it was given by hand, so that no type checks it",
        "give the server a validator, such as `.validate_with(mcp::schema::JsonSchema)`";
    PATTERN = Warning []: "every client",
        "may send text that breaks the pattern, which uses what the checker does not know",
        "simplify it";
    PROPERTY_NAME = Warning [Claude]: "Claude models",
        "refuse the whole list when a property is not 1 to 64 letters, digits, `_`, `-` or `.`",
        "rename it";
    NO_ITEMS = Warning [Copilot, OpenAi, Gemini]: "Copilot, OpenAI and Gemini models",
        "refuse an array without `items`", "say what the elements are";
    UNTYPED = Warning []: "language models",
        "often send a text with JSON for a property of any type",
        "give it a type of its own, such as a struct, or `serde_json::Map` for any object";
    ENUM_TYPE = Note [Gemini]: "Gemini models",
        "accept only strings in an `enum`", "list the values in the description";
    TYPE_BESIDE_ANY = Warning [Kimi]: "Kimi models",
        "refuse `type` beside `anyOf`", "move `type` into the alternatives";
    CONDITIONAL = Warning [Zed]: "Zed",
        "drops a tool whose schema has `if`, `then` or `else`", "say it in the description";
    RERUN = Note []: "clients since 2026-07-28",
        "run a tool that asks again from its beginning with each answer",
        "put side effects before a question into `Ask::once`, or mark the tool `read_only` or `idempotent`";
}
