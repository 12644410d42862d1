//! The measured loads and their candidates.

/// A measured program with its arguments and a label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) label: &'static str,
    pub(crate) program: &'static str,
    pub(crate) flags: &'static [&'static str],
}

const fn candidate(
    label: &'static str,
    program: &'static str,
    flags: &'static [&'static str],
) -> Candidate {
    Candidate {
        label,
        program,
        flags,
    }
}

/// A minimal HTTP server without an SDK: the upper limit of the speed.
pub(super) const LIMIT_PROGRAM: &str = "bench-limit";
/// The SDK's server.
pub(super) const SERVER_PROGRAM: &str = "bench-server";
const CLIENT_PROGRAM: &str = "bench-client";
const RMCP_SERVER: &str = "rmcp-server";
const RMCP_CLIENT: &str = "rmcp-client";

pub(super) const LIMIT: Candidate = candidate("limit", LIMIT_PROGRAM, &[]);
const MCP: Candidate = candidate("mcp", SERVER_PROGRAM, &[]);
const RMCP: Candidate = candidate("rmcp", RMCP_SERVER, &[]);
const LIMIT_SSE: Candidate = candidate("limit", LIMIT_PROGRAM, &["--sse"]);
const MCP_SSE: Candidate = candidate("mcp", SERVER_PROGRAM, &["--sse"]);
const LIMIT_COALESCED: Candidate = candidate("limit, coalesced", LIMIT_PROGRAM, &["--coalesce"]);
const MCP_STATELESS: Candidate = candidate("mcp", SERVER_PROGRAM, &["--stateless"]);
const RMCP_STATELESS: Candidate = candidate("rmcp", RMCP_SERVER, &["--stateless", "--json"]);
const RMCP_JSON: Candidate = candidate("rmcp", RMCP_SERVER, &["--json"]);

const MODERN: &[Candidate] = &[LIMIT, MCP, RMCP_JSON];
const SESSION: &[Candidate] = &[LIMIT, MCP, RMCP];
const SESSION_SSE: &[Candidate] = &[LIMIT_SSE, MCP_SSE, RMCP];
const STATELESS: &[Candidate] = &[LIMIT, MCP_STATELESS, RMCP_STATELESS];
const STREAMS: &[Candidate] = &[LIMIT, LIMIT_COALESCED, MCP, RMCP];
/// Candidates of loads that the limit does not support.
const SERVERS: &[Candidate] = &[MCP, RMCP];
const CLIENTS: &[Candidate] = &[
    candidate("reqwest", CLIENT_PROGRAM, &["--bare"]),
    candidate("mcp", CLIENT_PROGRAM, &[]),
    candidate("rmcp, pooled", RMCP_CLIENT, &["--modern", "--pooled"]),
    candidate("rmcp", RMCP_CLIENT, &["--modern"]),
];

/// The kind of a load.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Load {
    /// `bench-load PORT` with these arguments.
    Http(&'static str),
    /// `bench-load pipe` with these arguments.
    Pipe(&'static str),
    /// Open sessions, whose memory is measured.
    Sessions { count: usize, streams: bool },
    /// The candidates are clients of the minimal server, with this number of tasks.
    Clients(&'static str),
}

/// One load on several candidates. The others are compared with the first one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scenario {
    /// The name for `--only`.
    pub(crate) group: &'static str,
    pub(crate) label: &'static str,
    pub(crate) candidates: &'static [Candidate],
    pub(crate) load: Load,
    /// Number of tools in addition to the three that every server has.
    pub(crate) listed_tools: &'static str,
    /// Worker threads of the candidates.
    pub(crate) workers: &'static str,
}

const fn row(
    group: &'static str,
    label: &'static str,
    candidates: &'static [Candidate],
    load: Load,
) -> Scenario {
    Scenario {
        group,
        label,
        candidates,
        load,
        listed_tools: "0",
        workers: "1",
    }
}

const fn listing(listed_tools: &'static str, scenario: Scenario) -> Scenario {
    Scenario {
        listed_tools,
        ..scenario
    }
}

const CALL_16: Load = Load::Http("call --connections 16");
const CALL_64: Load = Load::Http("call --connections 64");
const SESSION_16: Load = Load::Http("call --era session --connections 16");
const SESSION_64: Load = Load::Http("call --era session --connections 64");
const STATELESS_16: Load = Load::Http("call --era stateless --connections 16");
const CYCLE_16: Load = Load::Http("cycle --connections 16");
const PROGRESS_2: Load = Load::Http("progress --connections 2");
const LIST_4: Load = Load::Http("list --connections 4 --tools 1003");
const PIPE_SESSION: Load = Load::Pipe("--era session --outstanding 16");
const IDLE: Load = Load::Sessions {
    count: 10_000,
    streams: false,
};
const WITH_GET: Load = Load::Sessions {
    count: 400,
    streams: true,
};

pub(crate) const SCENARIOS: &[Scenario] = &[
    row(
        "call",
        "call, 1 conn.",
        MODERN,
        Load::Http("call --connections 1"),
    ),
    row("call", "call, 16 conn.", MODERN, CALL_16),
    row("call", "call, 64 conn.", MODERN, CALL_64),
    listing("30", row("tools", "call, 33 tools", MODERN, CALL_16)),
    row("session", "session, JSON, 16", SESSION, SESSION_16),
    row("session", "session, JSON, 64", SESSION, SESSION_64),
    row("session", "session, SSE, 16", SESSION_SSE, SESSION_16),
    row("session", "session, SSE, 64", SESSION_SSE, SESSION_64),
    row(
        "stateless",
        "legacy, stateless, 16",
        STATELESS,
        STATELESS_16,
    ),
    row("cycle", "open and end, 16", SESSION, CYCLE_16),
    row("progress", "progress, 1000 events", STREAMS, PROGRESS_2),
    listing("1000", row("list1000", "list, 1003 tools", MODERN, LIST_4)),
    row(
        "large",
        "large, 1 MiB echo",
        MODERN,
        Load::Http("big --connections 2"),
    ),
    row(
        "stdio",
        "stdio, 16 waiting",
        MODERN,
        Load::Pipe("--outstanding 16"),
    ),
    row(
        "stdio",
        "stdio, 1 waiting",
        MODERN,
        Load::Pipe("--outstanding 1"),
    ),
    row("stdio", "stdio session, 16", SESSION, PIPE_SESSION),
    Scenario {
        workers: "2",
        ..row("workers", "call, 2 threads", MODERN, CALL_64)
    },
    row("client", "client, 16 tasks", CLIENTS, Load::Clients("16")),
    row("client", "client, 1 task", CLIENTS, Load::Clients("1")),
    row("sessions", "idle session", SERVERS, IDLE),
    row("sessions", "session with GET", SERVERS, WITH_GET),
];
