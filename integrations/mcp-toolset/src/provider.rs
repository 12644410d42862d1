//! Formats of model providers: [`Provider`], and the [`Profile`] of each one as data.

/// The interface of a model provider: the shape of definitions, calls and results.
///
/// # Examples
///
/// ```
/// use mcp::toolset::Provider;
///
/// assert_eq!(Provider::OpenAiChat.max_tools(), Some(128));
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
pub(crate) struct Profile {
    /// Keywords of constraints and annotations that stay. The others become a part of the description. `None`: all.
    pub(crate) keywords: Option<&'static [&'static str]>,
    /// Values of `format` that stay. `None`: all.
    pub(crate) formats: Option<&'static [&'static str]>,
    /// `null` is allowed by `nullable`, not by a type.
    pub(crate) has_nullable: bool,
    /// Values of `enum` are strings.
    pub(crate) has_string_enums_only: bool,
    /// `anyOf` is the only field of its schema.
    pub(crate) has_sole_unions: bool,
    /// Patterns have no look-around, and nothing that only some engines of regular expressions know.
    pub(crate) has_plain_patterns: bool,
    /// Each schema has one type. Otherwise `type` may be missing, or a list.
    pub(crate) needs_types: bool,
    /// Objects have all their properties and no others.
    pub(crate) is_strict: bool,
    /// Objects have at least one property. A tool without arguments has no schema.
    pub(crate) needs_properties: bool,
    /// Levels of objects and arrays.
    pub(crate) max_depth: usize,
    /// Maximum length of a description, in characters. `None`: not documented.
    pub(crate) max_description: Option<usize>,
    /// Maximum number of tools in a request. `None`: not documented.
    pub(crate) max_tools: Option<usize>,
    /// Limits for all of a schema. `None`: not documented.
    pub(crate) limits: Option<SchemaLimits>,
    /// Maximum size of an image or a sound in a result, in bytes. Larger ones are lines of text.
    pub(crate) max_media_bytes: usize,
    /// Maximum width and height of an image in a result, in pixels. `None`: not documented. Larger ones are lines of text.
    pub(crate) max_image_side: Option<usize>,
    /// MIME types of images in results. Others are lines of text.
    pub(crate) images: &'static [&'static str],
    /// MIME types of sounds in results. Others are lines of text.
    pub(crate) audio: &'static [&'static str],
}

/// Limits of a provider for all of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchemaLimits {
    /// Maximum number of properties. A tool with more is left out.
    pub(crate) properties: usize,
    /// Maximum number of values in all enumerations. Further enumerations become a part of the description.
    pub(crate) values: usize,
    /// An enumeration of more values than the first number has strings with at most the second number of bytes.
    pub(crate) long_values: (usize, usize),
    /// Maximum size of the property names and the strings in enumerations, in bytes. A tool with more is left out.
    pub(crate) chars: usize,
}

/// Depth of schemas where none is documented.
const MAX_DEPTH: usize = 32;

// Read in 2026-11. "Error" is the text of an API error, as callers have reported it; it is in no document.
// Tool names have 64 characters of `A-Za-z0-9_-` for all: documented by Anthropic and OpenAI; Gemini also allows
// `.` and `:`, and its names start with a letter or `_`.

/// JSON Schema 2020-12, without a limit of tools or descriptions. Properties have 64 characters of `A-Za-z0-9_.-`
/// (error "Property keys should match pattern"). See
/// <https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use>.
const ANTHROPIC: Profile = Profile {
    keywords: None,
    formats: None,
    has_nullable: false,
    has_string_enums_only: false,
    has_sole_unions: false,
    has_plain_patterns: false,
    needs_types: false,
    needs_properties: false,
    is_strict: false,
    max_depth: MAX_DEPTH,
    max_description: None,
    max_tools: None,
    limits: None,
    // "5 MB per image", counted in base64; error "image exceeds 5 MB maximum". Newer models accept more.
    max_media_bytes: 3_750_000,
    // "Images larger than 8000x8000 px are rejected".
    max_image_side: Some(8000),
    images: &["image/png", "image/jpeg", "image/gif", "image/webp"],
    audio: &[],
};

/// <https://platform.openai.com/docs/guides/function-calling>
const OPENAI: Profile = Profile {
    // Error "string too long … maximum length 1024" of OpenAI and Azure. Newer models accept more.
    max_description: Some(1024),
    // Reference of chat completions: "A max of 128 functions are supported". Error of responses: "array too long".
    max_tools: Some(128),
    // Error "regex lookaround is not supported", also without `strict`; other patterns are compiled by Python.
    has_plain_patterns: true,
    // The documented total of a request is 50 MB, with all that it repeats.
    max_media_bytes: 10_000_000,
    max_image_side: None,
    ..ANTHROPIC
};

const OPENAI_CHAT: Profile = Profile {
    audio: &["audio/wav", "audio/mp3"],
    ..OPENAI
};

/// <https://platform.openai.com/docs/guides/structured-outputs#supported-schemas>
const OPENAI_STRICT: Profile = Profile {
    // The document has all of these but `title`, and the formats.
    keywords: Some(&[
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
    ]),
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
    limits: Some(SchemaLimits {
        properties: 5000,
        values: 1000,
        long_values: (250, 15_000),
        chars: 120_000,
    }),
    // Half of the documented 10 levels: errors have said "exceeds limit of 5".
    max_depth: 5,
    ..OPENAI
};

/// <https://ai.google.dev/api/caching#Schema>
const GEMINI: Profile = Profile {
    // The fields of `Schema`. Its `default` is ignored.
    keywords: Some(&[
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
    ]),
    // The newest document allows any. Errors have allowed `enum` and `date-time` only for strings.
    formats: Some(&["date-time", "enum", "float", "double", "int32", "int64"]),
    has_nullable: true,
    has_string_enums_only: true,
    // Error "When using any_of, it must be the only field set".
    has_sole_unions: true,
    has_plain_patterns: true,
    needs_types: true,
    needs_properties: true,
    // Reference of Vertex AI: "Maximum 512 function declarations". Error of both services.
    max_tools: Some(512),
    // The documented total of a request is 20 MB, with all that it repeats.
    max_media_bytes: 10_000_000,
    max_image_side: None,
    images: &["image/png", "image/jpeg", "image/webp"],
    audio: &[
        "audio/wav",
        "audio/mp3",
        "audio/aiff",
        "audio/aac",
        "audio/ogg",
        "audio/flac",
    ],
    ..ANTHROPIC
};

impl Provider {
    /// Returns the maximum number of tools in a request. `None`: not documented.
    pub fn max_tools(self) -> Option<usize> {
        self.profile().max_tools
    }

    /// Returns the maximum length of a description, in characters. `None`: not documented.
    pub fn max_description(self) -> Option<usize> {
        self.profile().max_description
    }

    /// Returns what the provider accepts.
    pub(crate) fn profile(self) -> &'static Profile {
        match self {
            Self::Anthropic => &ANTHROPIC,
            Self::OpenAiChat => &OPENAI_CHAT,
            Self::OpenAiResponses => &OPENAI,
            Self::OpenAiResponsesStrict => &OPENAI_STRICT,
            Self::Gemini => &GEMINI,
        }
    }
}
