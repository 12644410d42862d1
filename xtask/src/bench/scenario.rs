//! The measured loads and their candidates.

/// A measured program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// A minimal HTTP server without an SDK: the upper limit of the speed.
    Limit,
    /// The SDK's server.
    Server,
    /// The SDK's server at another commit.
    Earlier,
    /// The server with rmcp.
    RmcpServer,
    /// The SDK's client.
    Client,
    /// The client with rmcp.
    RmcpClient,
}

impl Program {
    pub(crate) fn binary(self) -> &'static str {
        match self {
            Self::Limit => "bench-limit",
            Self::Server | Self::Earlier => "bench-server",
            Self::Client => "bench-client",
            Self::RmcpServer => "rmcp-server",
            Self::RmcpClient => "rmcp-client",
        }
    }

    pub(crate) fn is_rmcp(self) -> bool {
        matches!(self, Self::RmcpServer | Self::RmcpClient)
    }
}

/// A program with its flags and a label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) label: &'static str,
    pub(crate) program: Program,
    pub(crate) flags: &'static [&'static str],
}

const fn candidate(
    label: &'static str,
    program: Program,
    flags: &'static [&'static str],
) -> Candidate {
    Candidate {
        label,
        program,
        flags,
    }
}

const LIMIT: Candidate = candidate("limit", Program::Limit, &[]);
const MCP: Candidate = candidate("mcp", Program::Server, &[]);
const RMCP: Candidate = candidate("rmcp", Program::RmcpServer, &[]);
const LIMIT_SSE: Candidate = candidate("limit", Program::Limit, &["--sse"]);
const MCP_SSE: Candidate = candidate("mcp", Program::Server, &["--sse"]);
const LIMIT_COALESCED: Candidate = candidate("limit, coalesced", Program::Limit, &["--coalesce"]);
const MCP_STATELESS: Candidate = candidate("mcp", Program::Server, &["--stateless"]);
const RMCP_STATELESS: Candidate =
    candidate("rmcp", Program::RmcpServer, &["--stateless", "--json"]);
const RMCP_JSON: Candidate = candidate("rmcp", Program::RmcpServer, &["--json"]);

const MODERN: &[Candidate] = &[LIMIT, MCP, RMCP_JSON];
const SESSION: &[Candidate] = &[LIMIT, MCP, RMCP];
const SESSION_SSE: &[Candidate] = &[LIMIT_SSE, MCP_SSE, RMCP];
const STATELESS: &[Candidate] = &[LIMIT, MCP_STATELESS, RMCP_STATELESS];
const STREAMS: &[Candidate] = &[LIMIT, LIMIT_COALESCED, MCP, RMCP];
/// Candidates of loads that the limit does not support.
const SERVERS: &[Candidate] = &[MCP, RMCP];
const CLIENTS: &[Candidate] = &[
    candidate("reqwest", Program::Client, &["--bare"]),
    candidate("mcp", Program::Client, &[]),
    candidate(
        "rmcp, pooled",
        Program::RmcpClient,
        &["--modern", "--pooled"],
    ),
    candidate("rmcp", Program::RmcpClient, &["--modern"]),
];

/// The kind of a load.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Load {
    /// `bench-load PORT` with these arguments.
    Http(&'static [&'static str]),
    /// `bench-load pipe` with these arguments.
    Pipe(&'static [&'static str]),
    /// Open sessions, whose memory is measured.
    Sessions { count: usize, streams: bool },
    /// The candidates are clients of the minimal server, with this number of tasks.
    Clients { tasks: &'static str },
}

/// One load on several candidates. The others are compared with the first one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    /// The name for `--only`.
    pub(crate) group: &'static str,
    pub(crate) label: &'static str,
    pub(crate) load: Load,
    pub(crate) candidates: &'static [Candidate],
    /// Number of tools in addition to the three that every server has.
    pub(crate) listed_tools: &'static str,
    /// Worker threads of the candidates.
    pub(crate) workers: &'static str,
}

const fn http(
    group: &'static str,
    label: &'static str,
    candidates: &'static [Candidate],
    arguments: &'static [&'static str],
) -> Scenario {
    Scenario {
        group,
        label,
        load: Load::Http(arguments),
        candidates,
        listed_tools: "0",
        workers: "1",
    }
}

const fn with(load: Load, scenario: Scenario) -> Scenario {
    Scenario { load, ..scenario }
}

pub(crate) const SCENARIOS: &[Scenario] = &[
    http(
        "call",
        "call, 1 conn.",
        MODERN,
        &["call", "--connections", "1"],
    ),
    http(
        "call",
        "call, 16 conn.",
        MODERN,
        &["call", "--connections", "16"],
    ),
    http(
        "call",
        "call, 64 conn.",
        MODERN,
        &["call", "--connections", "64"],
    ),
    Scenario {
        listed_tools: "30",
        ..http(
            "tools",
            "call, 33 tools",
            MODERN,
            &["call", "--connections", "16"],
        )
    },
    http(
        "session",
        "session, JSON, 16",
        SESSION,
        &["call", "--era", "session", "--connections", "16"],
    ),
    http(
        "session",
        "session, JSON, 64",
        SESSION,
        &["call", "--era", "session", "--connections", "64"],
    ),
    http(
        "session",
        "session, SSE, 16",
        SESSION_SSE,
        &["call", "--era", "session", "--connections", "16"],
    ),
    http(
        "session",
        "session, SSE, 64",
        SESSION_SSE,
        &["call", "--era", "session", "--connections", "64"],
    ),
    http(
        "stateless",
        "legacy, stateless, 16",
        STATELESS,
        &["call", "--era", "stateless", "--connections", "16"],
    ),
    http(
        "cycle",
        "open and end, 16",
        SESSION,
        &["cycle", "--connections", "16"],
    ),
    http(
        "progress",
        "progress, 1000 events",
        STREAMS,
        &["progress", "--connections", "2"],
    ),
    Scenario {
        listed_tools: "1000",
        ..http(
            "list1000",
            "list, 1003 tools",
            MODERN,
            &["list", "--connections", "4", "--tools", "1003"],
        )
    },
    http(
        "large",
        "large, 1 MiB echo",
        MODERN,
        &["big", "--connections", "2"],
    ),
    with(
        Load::Pipe(&["--outstanding", "16"]),
        http("stdio", "stdio, 16 waiting", MODERN, &[]),
    ),
    with(
        Load::Pipe(&["--outstanding", "1"]),
        http("stdio", "stdio, 1 waiting", MODERN, &[]),
    ),
    with(
        Load::Pipe(&["--era", "session", "--outstanding", "16"]),
        http("stdio", "stdio session, 16", SESSION, &[]),
    ),
    Scenario {
        workers: "2",
        ..http(
            "workers",
            "call, 2 threads",
            SERVERS,
            &["call", "--connections", "64"],
        )
    },
    with(
        Load::Clients { tasks: "16" },
        http("client", "client, 16 tasks", CLIENTS, &[]),
    ),
    with(
        Load::Clients { tasks: "1" },
        http("client", "client, 1 task", CLIENTS, &[]),
    ),
    with(
        Load::Sessions {
            count: 10_000,
            streams: false,
        },
        http("sessions", "idle session", SERVERS, &[]),
    ),
    with(
        Load::Sessions {
            count: 400,
            streams: true,
        },
        http("sessions", "session with GET", SERVERS, &[]),
    ),
];
