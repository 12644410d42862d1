//! Formats of model providers: [`Provider`], and its [`Profile`] as data.

/// The interface of a model provider: the shape of definitions, calls and results.
///
/// # Examples
///
/// ```
/// use mcp::toolset::Provider;
///
/// let profile = Provider::OpenAiChat.profile();
/// assert_eq!(profile.max_tools, Some(128));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// Anthropic messages.
    Anthropic,
    /// OpenAI chat completions, and the many services with the same interface.
    OpenAiChat,
    /// OpenAI responses.
    OpenAiResponses,
    /// OpenAI responses with `strict`: arguments match the schema, which must be closed.
    OpenAiResponsesStrict,
    /// Gemini function calling.
    Gemini,
}

/// Limits of a provider for definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The document with the rules.
    pub document: &'static str,
    /// The month of the rules, such as `2026-11`.
    pub date: &'static str,
    /// Keywords of constraints and annotations that stay. The others become a part of the description.
    pub keywords: &'static [&'static str],
    /// Values of `format` that stay. `None`: all.
    pub formats: Option<&'static [&'static str]>,
    /// `type` may be a list.
    pub has_type_lists: bool,
    /// `null` is allowed by `nullable`, not by a type.
    pub has_nullable: bool,
    /// Values of `enum` are strings.
    pub has_string_enums_only: bool,
    /// Each schema has a type.
    pub needs_types: bool,
    /// Objects have all their properties and no others.
    pub is_strict: bool,
    /// Objects have at least one property. A tool without arguments has no schema.
    pub needs_properties: bool,
    /// Levels of objects and arrays.
    pub max_depth: usize,
    /// Characters of a description. `None`: not documented.
    pub max_description: Option<usize>,
    /// Tools of a request. `None`: not documented.
    pub max_tools: Option<usize>,
    /// MIME types of images in results. Others are lines of text.
    pub images: &'static [&'static str],
    /// MIME types of sounds in results. Others are lines of text.
    pub audio: &'static [&'static str],
}

/// Constraints and annotations of JSON Schema that have no other place in a profile.
const ALL_KEYWORDS: &[&str] = &[
    "title",
    "default",
    "examples",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "additionalProperties",
];

/// Depth of schemas where none is documented.
const MAX_DEPTH: usize = 32;

const ANTHROPIC: Profile = Profile {
    document: "https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use",
    date: "2026-11",
    keywords: ALL_KEYWORDS,
    formats: None,
    has_type_lists: true,
    has_nullable: false,
    has_string_enums_only: false,
    needs_types: false,
    needs_properties: false,
    is_strict: false,
    max_depth: MAX_DEPTH,
    max_description: None,
    max_tools: None,
    images: &["image/png", "image/jpeg", "image/gif", "image/webp"],
    audio: &[],
};

const OPENAI: Profile = Profile {
    document: "https://platform.openai.com/docs/guides/function-calling",
    max_description: Some(1024),
    max_tools: Some(128),
    ..ANTHROPIC
};

const OPENAI_CHAT: Profile = Profile {
    audio: &["audio/wav", "audio/x-wav", "audio/mpeg", "audio/mp3"],
    ..OPENAI
};

const OPENAI_STRICT: Profile = Profile {
    document: "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas",
    keywords: &[
        "title",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "pattern",
        "format",
        "minItems",
        "maxItems",
    ],
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    needs_types: true,
    is_strict: true,
    // Half of the 10 levels: OpenAI has counted each array as two.
    max_depth: 5,
    ..OPENAI
};

const GEMINI: Profile = Profile {
    document: "https://ai.google.dev/api/caching#Schema",
    keywords: &[
        "title",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    ],
    formats: Some(&["date-time", "enum", "float", "double", "int32", "int64"]),
    has_type_lists: false,
    has_nullable: true,
    has_string_enums_only: true,
    needs_types: true,
    needs_properties: true,
    max_tools: Some(512),
    images: &["image/png", "image/jpeg", "image/webp"],
    audio: &[
        "audio/wav",
        "audio/mp3",
        "audio/mpeg",
        "audio/aiff",
        "audio/aac",
        "audio/ogg",
        "audio/flac",
    ],
    ..ANTHROPIC
};

impl Provider {
    /// Returns what the provider accepts.
    pub fn profile(self) -> &'static Profile {
        match self {
            Self::Anthropic => &ANTHROPIC,
            Self::OpenAiChat => &OPENAI_CHAT,
            Self::OpenAiResponses => &OPENAI,
            Self::OpenAiResponsesStrict => &OPENAI_STRICT,
            Self::Gemini => &GEMINI,
        }
    }
}
