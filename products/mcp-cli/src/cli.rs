//! The definitions of commands and flags.
//!
//! | module | contents |
//! |---|---|
//! | `server` | how a command line names a server, and the address of one |
//! | `lifecycle` | commands around a server's life: `new`, `dev`, `test`, `install`, `uninstall`, `pack` |

mod lifecycle;
mod server;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use self::lifecycle::{
    DevArgs, EntryArgs, InstallArgs, NewArgs, PackArgs, Template, TestArgs, UninstallArgs,
};
pub(crate) use self::server::{ListenAddress, ServerArgs, TargetArgs};

/// Calls, lists and inspects servers of the Model Context Protocol
#[derive(Debug, Parser)]
#[command(
    name = "mcp",
    version,
    disable_help_subcommand = true,
    after_help = "A target is a URL, a name from an `mcp.json`, or a command after `--`.\n\nExit codes: 0 success, 1 usage or a difference, 3 login, 4 unreachable, 5 server, 6 tool, 130 Ctrl-C.\n\nExamples:\n  mcp call shop add a=1 b=2\n  mcp doctor -- ./my-server"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Every command's flags.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Print one JSON document; an error is one JSON line on standard error
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print no progress, logs and notes
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List tools, prompts, resources and templates
    #[command(
        override_usage = "mcp list [OPTIONS] <TARGET>\n       mcp list [OPTIONS] -- <COMMAND>...",
        after_help = "Examples:\n  mcp list http://127.0.0.1:8000/mcp\n  mcp list shop --json\n  mcp list -- npx -y @modelcontextprotocol/server-everything"
    )]
    List(TargetArgs),
    /// Call a tool
    #[command(
        override_usage = "mcp call [OPTIONS] <TARGET> <TOOL> [KEY=VALUE]...\n       mcp call [OPTIONS] <TOOL> [KEY=VALUE]... -- <COMMAND>...",
        after_help = "Values are typed by the schema of the tool; KEY:=JSON passes JSON.\n\nExamples:\n  mcp call shop add a=1 b=2\n  mcp call shop order --args-json '{\"items\": [1, 2]}'\n  echo '{\"a\": 1}' | mcp call shop add --args-json -"
    )]
    Call(CallArgs),
    /// Read a resource
    #[command(
        override_usage = "mcp read [OPTIONS] <TARGET> <URI>\n       mcp read [OPTIONS] <URI> -- <COMMAND>...",
        after_help = "Example:\n  mcp read shop disks://all"
    )]
    Read(ContentArgs),
    /// Get a prompt
    #[command(
        override_usage = "mcp prompt [OPTIONS] <TARGET> <PROMPT> [KEY=VALUE]...\n       mcp prompt [OPTIONS] <PROMPT> [KEY=VALUE]... -- <COMMAND>...",
        after_help = "Example:\n  mcp prompt shop review pr=12"
    )]
    Prompt(ContentArgs),
    /// Complete an argument of a prompt or resource template
    #[command(
        override_usage = "mcp complete [OPTIONS] <TARGET> <PROMPT|TEMPLATE> <KEY=PREFIX> [KEY=VALUE]...",
        after_help = "The first KEY is completed; the others are its context.\n\nExample:\n  mcp complete shop review language=ru"
    )]
    Complete(TargetArgs),
    /// Print changes of lists and resources until Ctrl-C
    #[command(
        override_usage = "mcp listen [OPTIONS] <TARGET> [URI]...\n       mcp listen [OPTIONS] [URI]... -- <COMMAND>...",
        after_help = "With --json, every change is one line.\n\nExample:\n  mcp listen shop disks://all"
    )]
    Listen(ListenArgs),
    /// Get, watch and cancel calls that run as tasks
    #[command(
        subcommand,
        after_help = "`mcp call --task` starts a task. The extension has no list of tasks.\n\nExamples:\n  mcp call shop render --task\n  mcp tasks watch shop 786512e29e0d4c1a"
    )]
    Tasks(TasksCommand),
    /// List and show a server's skills
    #[command(
        subcommand,
        after_help = "Examples:\n  mcp skills list shop\n  mcp skills show shop refunds"
    )]
    Skills(SkillsCommand),
    /// Check that a server responds, and print the response time
    #[command(
        override_usage = "mcp ping [OPTIONS] <TARGET>\n       mcp ping [OPTIONS] -- <COMMAND>...",
        after_help = "Example:\n  mcp ping https://mcp.example.com/mcp --timeout 2"
    )]
    Ping(TargetArgs),
    /// Print the identity, protocol version and capabilities of a server
    #[command(
        override_usage = "mcp info [OPTIONS] <TARGET>\n       mcp info [OPTIONS] -- <COMMAND>...",
        after_help = "Example:\n  mcp info shop --json"
    )]
    Info(TargetArgs),
    /// Show a server in the browser: call, read, answer, and see every message
    #[command(
        override_usage = "mcp inspect [OPTIONS] <TARGET>\n       mcp inspect [OPTIONS] -- <COMMAND>...",
        after_help = "The page is for this machine only. Its URL contains a token that lets one browser in. Ctrl-C ends.\n\nExamples:\n  mcp inspect https://mcp.example.com/mcp\n  mcp inspect -- npx -y @modelcontextprotocol/server-everything"
    )]
    Inspect(InspectArgs),
    /// Examine each step of a connection, and name the cure for a failure
    #[command(
        override_usage = "mcp doctor [OPTIONS] <TARGET>\n       mcp doctor [OPTIONS] -- <COMMAND>...",
        after_help = "Steps: resolve, connect, tls, http, login, negotiation, tools, latency, headers, clock. The first\nfailed step decides the exit code. Nothing is changed on the server, and no secret is printed.\n\nExamples:\n  mcp doctor https://mcp.example.com/mcp\n  mcp doctor shop --json\n  mcp doctor -- npx -y @modelcontextprotocol/server-everything"
    )]
    Doctor(TargetArgs),
    /// Test a server before its release: schemas, calls, mistakes, sessions, memory
    #[command(
        override_usage = "mcp test [OPTIONS] <TARGET>\n       mcp test [OPTIONS] -- <COMMAND>...",
        after_help = "Checks: connection (as `mcp doctor`), schemas, examples (each tool with arguments made from its\nschema), arguments (missing, of a wrong type, huge, nested), cancellation, sessions (ten at the same\ntime), memory (of a command, on Linux). Tools that are not marked read-only are called after a\nquestion, or with --yes: use data that may change. The exit code is 1 when a finding is an error.\n\nExamples:\n  mcp test -- ./my-server\n  mcp test http://127.0.0.1:8000/mcp --read-only\n  mcp test --yes --junit report.xml -- ./my-server --database test.db",
        mut_arg("yes", |arg| arg.help("Call all tools, and use servers of project files, without a question")),
        mut_arg("timeout", |arg| arg.default_value("10"))
    )]
    Test(TestArgs),
    /// Print the tools, prompts, resources and capabilities of a server as stable JSON
    #[command(
        override_usage = "mcp snapshot [OPTIONS] <TARGET>\n       mcp snapshot [OPTIONS] -- <COMMAND>...",
        after_help = "`mcp diff` compares two snapshots.\n\nExamples:\n  mcp snapshot shop > shop.json\n  mcp snapshot shop -o shop.json"
    )]
    Snapshot(SnapshotArgs),
    /// Compare two snapshots, or a snapshot with a server: breaking, compatible, cosmetic
    #[command(
        override_usage = "mcp diff [OPTIONS] <OLD> <NEW>\n       mcp diff [OPTIONS] <OLD> <TARGET>\n       mcp diff [OPTIONS] <OLD> -- <COMMAND>...",
        after_help = "The exit code is 1 when a change is breaking.\n\nExamples:\n  mcp diff old.json new.json\n  mcp diff shop.json shop\n  mcp diff shop.json --json -- ./shop"
    )]
    Diff(DiffArgs),
    /// Generate typed Rust code from a server's catalog
    #[command(
        subcommand,
        after_help = "Examples:\n  mcp gen rust shop -o src/shop.rs\n  mcp gen rust shop -o src/shop.rs --check\n  mcp gen rust-server shop.json -o src/shop.rs"
    )]
    Gen(GenCommand),
    /// Record the session of a client with a server as a file
    #[command(
        override_usage = "mcp record [OPTIONS] --output <FILE> <TARGET>\n       mcp record [OPTIONS] --output <FILE> -- <COMMAND>...",
        after_help = "Clients start it as a server on standard streams. The file has one message per line; it contains\narguments and results, but no headers and tokens.\n\nExamples:\n  mcp record -o session.jsonl shop\n  mcp list -- mcp record -o session.jsonl -- ./shop"
    )]
    Record(RecordArgs),
    /// Serve a recorded session, or compare a server with it
    #[command(
        override_usage = "mcp replay <FILE>\n       mcp replay [OPTIONS] <FILE> --against <TARGET>\n       mcp replay [OPTIONS] <FILE> --against -- <COMMAND>...",
        after_help = "Without --against, the command is a server on standard streams that answers the recorded requests. With\n--against, it sends them to the target; the exit code is 1 when a response differs. `_meta`,\n`serverInfo` and `requestState` are not compared.\n\nExamples:\n  mcp list -- mcp replay session.jsonl\n  mcp replay session.jsonl --against shop --ignore timestamp"
    )]
    Replay(ReplayArgs),
    /// Create a crate with a server, or with a client of servers
    #[command(
        after_help = "The crate compiles, runs and passes its tests at once.\n\nExamples:\n  mcp new shop\n  mcp new shop --template http\n  mcp new work/agent --template agent --sdk ../rust-sdk"
    )]
    New(NewArgs),
    /// Build and restart a server after each change of its sources, behind a connection that stays
    #[command(
        override_usage = "mcp dev [OPTIONS]\n       mcp dev [OPTIONS] -- <COMMAND>...",
        after_help = "`cargo run`, the default, is built first: a call after a change waits for the new program, and gets the\nerrors of a build that has failed. Other commands are started again. A change counts unless\n.gitignore names the file, it is a *.log, or a part of its path begins with a dot.\n\nThe command serves standard streams, or HTTP at a URL of this machine that it prints on standard error.\nThe variable ADDRESS gives it a free port (127.0.0.1:0). If it demands a token, it gets the one that it\nprints there as `Authorization: Bearer TOKEN`, or that of --header: at that port of 127.0.0.1, or at --url.\nOn Linux, a program that this command has not started gets neither; elsewhere, the address alone decides.\n\nThe client stays connected, and is notified of changed lists. With --json, every step is one JSON line\non standard error: building, broken, unchanged, ready, ended, loop, listening,\ninspector.\n\nExamples:\n  mcp dev --http --inspect\n  mcp dev -- cargo run --bin shop -- --fast\n  mcp dev --dir ../shop -- uv run server.py\n  mcp install --host claude-code --name shop -- mcp dev --dir ~/shop"
    )]
    Dev(DevArgs),
    /// Enter a server into a host's settings, such as Claude Code or VS Code
    #[command(
        override_usage = "mcp install [OPTIONS] --host <HOST> <TARGET>\n       mcp install [OPTIONS] --host <HOST> -- <COMMAND>...",
        after_help = "Hosts: claude-code, claude-desktop, cline, codex, copilot-cli, cursor, gemini-cli, goose, opencode,\nqwen-code, vscode, windsurf, zed.\n\nA secret stays in the environment: `--env NAME` and `--header 'Name: ${NAME}'` write a reference to\nthe variable, as the host spells it. The old file is kept beside the new one as FILE.mcp-backup.\n\nHosts start programs in other folders, so paths are whole ones. The entry of a NAME is refused if a\nhost would read it in another way: with `cwd`, `envFile`, a path of this folder, or text such as $NAME.\n\nExamples:\n  mcp install --host claude-code -- target/release/shop --fast\n  mcp install --host codex --env SHOP_KEY -- npx -y shop-mcp\n  mcp install https://mcp.example.com/mcp --host vscode --project --dry-run"
    )]
    Install(InstallArgs),
    /// Remove a server from a host's settings
    #[command(
        after_help = "Hosts: claude-code, claude-desktop, cline, codex, copilot-cli, cursor, gemini-cli, goose, opencode,\nqwen-code, vscode, windsurf, zed.\n\nExamples:\n  mcp uninstall shop --host claude-code\n  mcp uninstall shop --host cursor --project --dry-run"
    )]
    Uninstall(UninstallArgs),
    /// Pack a program as an MCPB bundle, and describe it for the MCP registry
    #[command(
        override_usage = "mcp pack [OPTIONS] -- <COMMAND>...",
        after_help = "The program is started once: name, version and tools are those of the server. `--env NAME` is a value\nthat the user is asked for when the bundle is installed, `--env NAME=value` a fixed one.\n\nExamples:\n  mcp pack --author Ada -- target/release/shop\n  mcp pack --env SHOP_KEY --registry-name io.github.ada/shop --url https://example.com/shop.mcpb -- ./shop"
    )]
    Pack(PackArgs),
    /// List the servers in this machine's configuration files
    #[command(
        after_help = "Files in the current folder and the user's own: mcp.json, and those of Claude Code, Claude Desktop, Cline,\nCodex, Copilot CLI, Cursor, Gemini CLI, Goose, opencode, Qwen Code, VS Code, Windsurf and Zed. Places\nwithout servers are listed at the end. Server names can be used as TARGET.\n\nExamples:\n  mcp servers\n  mcp servers --config ./mcp.json --json"
    )]
    Servers {
        /// Read this file only
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
    /// Connect a client on standard streams with a server over HTTP
    #[command(
        after_help = "Clients that start servers as programs reach a remote server with it. The first request that\nneeds a login opens the login page. Client and server must share a revision of the protocol.\n\nExamples:\n  mcp proxy https://mcp.example.com/mcp\n  mcp proxy https://mcp.example.com/mcp --header 'X-Team: shop' --ignore-tool 'delete*'"
    )]
    Proxy(ProxyArgs),
    /// Serve a server on standard streams over HTTP, for clients of every revision
    #[command(
        override_usage = "mcp serve [OPTIONS] <TARGET>\n       mcp serve [OPTIONS] -- <COMMAND>...",
        after_help = "Client and server may use different revisions. A call whose client can be asked has its own process\nwhile it runs, if the server is older than 2026-07-28; with --one-process all calls share one.\n\nExamples:\n  mcp serve -- npx -y @modelcontextprotocol/server-everything\n  mcp serve shop --listen 0.0.0.0:8000 --allow-host mcp.example.com"
    )]
    Serve(ServeArgs),
    /// Serve all servers of a configuration file as one
    #[command(
        after_help = "Tools and prompts are named `server__tool`. A server that ends is started again. The file is a TOML\nfile, with names, filters, limits and authorization, or an `mcp.json`; its commands are run without a\nquestion. Changes in the file are applied while the gateway runs. Servers with a stored login\n(`mcp login`) are called with it. Their lists are kept for the next start, until a login or logout.\n\nExamples:\n  mcp gateway gateway.toml\n  mcp gateway mcp.json --stdio --hide-tool 'files__write_*'"
    )]
    Gateway(GatewayArgs),
    /// Show the tools and prompts that a lock file holds back with their changes, and approve them
    #[command(
        after_help = "`mcp gateway --pin FILE` writes the file at its first start. Later it holds tools and prompts that\ntheir servers change or add, and offers them within a second after they are approved. With\n`--pin-new hold` it also holds those of new servers.\n\nExamples:\n  mcp pin mcp.lock\n  mcp pin mcp.lock files__read_file@DIGEST"
    )]
    Pin(PinArgs),
    /// Log in to a server, and keep the token
    #[command(
        after_help = "Tokens are files that only the user can read. With MCP_CREDENTIALS=keychain they are encrypted\nwith a key of the keychain. Other commands use them.\n\nThe flags for providers are also members of `oauth` in the entry of an mcp.json: clientId, clientSecret,\nscopes, redirectUri, callbackPort, issuer, resource, omitResource, allowMissingPkce, account. In a file of\nthe current folder, those that decide about the token need an approval, also with --yes.\n\nExamples:\n  mcp login https://mcp.example.com/mcp\n  mcp login https://mcp.example.com/mcp --client-id ID --client-secret='${SECRET}' \\\n    --redirect-uri http://localhost:8765/callback"
    )]
    Login(LoginArgs),
    /// Revoke and remove a server's token
    #[command(after_help = "Example:\n  mcp logout https://mcp.example.com/mcp")]
    Logout(RemoteArgs),
    /// Print the login status for a server
    #[command(
        override_usage = "mcp whoami [OPTIONS] <URL|NAME>",
        after_help = "Example:\n  mcp whoami https://mcp.example.com/mcp"
    )]
    Whoami(TargetArgs),
    /// Print a completion script for a shell
    #[command(
        after_help = "In bash, zsh and fish, tools, arguments, prompts and resources of servers that `mcp list` or `mcp call` has\nseen are completed, too: from a file in the folder for caches, without a connection.\n\nExamples:\n  mcp completions bash > ~/.local/share/bash-completion/completions/mcp\n  mcp completions zsh > ~/.zfunc/_mcp"
    )]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the candidates for the last word; completion scripts call it
    #[command(hide = true, after_help = "Example:\n  mcp candidates -- call shop ad")]
    Candidates {
        /// The words after the name of the program
        #[arg(last = true, value_name = "WORD")]
        words: Vec<String>,
    },
    /// Print the manual page
    #[command(after_help = "Example:\n  mcp man | man -l -")]
    Man,
}

/// The commands of `tasks`.
#[derive(Debug, Subcommand)]
pub(crate) enum TasksCommand {
    /// Print a task's state
    #[command(
        override_usage = "mcp tasks get [OPTIONS] <TARGET> <ID>",
        after_help = "Example:\n  mcp tasks get shop 786512e29e0d4c1a"
    )]
    Get(TargetArgs),
    /// Print each state of a task until it ends, and its result
    #[command(
        override_usage = "mcp tasks watch [OPTIONS] <TARGET> <ID>",
        after_help = "With --json, every state is one line. Ctrl-C stops watching, and the task continues.\n\nExample:\n  mcp tasks watch shop 786512e29e0d4c1a"
    )]
    Watch(ContentArgs),
    /// Cancel a task, and print its state
    #[command(
        override_usage = "mcp tasks cancel [OPTIONS] <TARGET> <ID>",
        after_help = "Example:\n  mcp tasks cancel shop 786512e29e0d4c1a"
    )]
    Cancel(TargetArgs),
}

/// The commands of `gen`.
#[derive(Debug, Subcommand)]
pub(crate) enum GenCommand {
    /// Generate a client: a struct with a method for each tool, prompt, resource and template
    #[command(
        override_usage = "mcp gen rust [OPTIONS] <TARGET|SNAPSHOT>\n       mcp gen rust [OPTIONS] -- <COMMAND>...",
        after_help = "The program needs `mod shop;` and the crate omnimcp with the feature client, and http or stdio for\nits server. With --check the exit code is 1 when the server has changes that break the file.\n\nExamples:\n  mcp gen rust shop -o src/shop.rs\n  mcp gen rust shop.json -o src/shop.rs --name Store\n  mcp gen rust -o src/shop.rs --check -- ./shop"
    )]
    Rust(GenArgs),
    /// Generate a trait for servers, and a function that serves an implementation
    #[command(
        override_usage = "mcp gen rust-server [OPTIONS] <TARGET|SNAPSHOT>\n       mcp gen rust-server [OPTIONS] -- <COMMAND>...",
        after_help = "The program needs `mod shop;` and the crate omnimcp with the feature server, and http or stdio.\n\nExample:\n  mcp gen rust-server shop.json -o src/shop.rs"
    )]
    RustServer(GenArgs),
}

/// Arguments of `gen`.
#[derive(Debug, Args)]
pub(crate) struct GenArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Write this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Compare the server with the file instead of writing it
    #[arg(long, requires = "output")]
    pub(crate) check: bool,
    /// Name of the struct or trait; default: the file's
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

/// The commands of `skills`.
#[derive(Debug, Subcommand)]
pub(crate) enum SkillsCommand {
    /// List the skills with their descriptions
    #[command(
        override_usage = "mcp skills list [OPTIONS] <TARGET>\n       mcp skills list [OPTIONS] -- <COMMAND>...",
        after_help = "Example:\n  mcp skills list shop"
    )]
    List(TargetArgs),
    /// Print a skill's verified instructions, or one of its files
    #[command(
        override_usage = "mcp skills show [OPTIONS] <TARGET> <NAME|URI> [FILE]\n       mcp skills show [OPTIONS] <NAME|URI> [FILE] -- <COMMAND>...",
        after_help = "Examples:\n  mcp skills show shop refunds\n  mcp skills show shop refunds references/limits.md"
    )]
    Show(TargetArgs),
    /// List the files of a skill with their sizes and digests
    #[command(
        override_usage = "mcp skills files [OPTIONS] <TARGET> <NAME|URI>\n       mcp skills files [OPTIONS] <NAME|URI> -- <COMMAND>...",
        after_help = "Example:\n  mcp skills files shop refunds"
    )]
    Files(TargetArgs),
}

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Protocol: `auto`, `legacy`, or a revision such as `2026-07-28`
    #[arg(long, value_name = "VERSION", default_value = "auto")]
    pub(crate) protocol: String,
    /// Compare the server with this snapshot (`mcp snapshot` writes one)
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// Answer sampling requests by this shell command (JSON in, text out), not by hand
    #[arg(long, value_name = "COMMAND")]
    pub(crate) sample_with: Option<String>,
    /// Listen at this port; 0 selects a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// Print the URL, and open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// Arguments of commands that print contents.
#[derive(Debug, Args)]
pub(crate) struct ContentArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Save images, audio and other bytes in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
}

/// Arguments of `call`.
#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    #[command(flatten)]
    pub(crate) content: ContentArgs,
    /// Arguments as a JSON object; `-` reads it from standard input
    #[arg(long, value_name = "JSON")]
    pub(crate) args_json: Option<String>,
    /// Print the task instead of its result, if the server makes it one
    #[arg(long)]
    pub(crate) task: bool,
}

/// Arguments of `proxy`.
#[derive(Debug, Args)]
pub(crate) struct ProxyArgs {
    #[command(flatten)]
    pub(crate) login: LoginArgs,
    /// Hide tools by name; `*` and `?` are wildcards
    #[arg(long, value_name = "PATTERN")]
    pub(crate) ignore_tool: Vec<String>,
}

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) target: ServerArgs,
    #[command(flatten)]
    pub(crate) listen: ListenAddress,
    /// Let all calls share one process or session
    #[arg(long)]
    pub(crate) one_process: bool,
}

/// Arguments of `gateway`.
#[derive(Debug, Clone, Args)]
pub(crate) struct GatewayArgs {
    /// The configuration file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) listen: ListenAddress,
    /// Serve standard streams instead of HTTP
    #[arg(long, conflicts_with_all = ["listen", "allow_host"])]
    pub(crate) stdio: bool,
    /// Keep the names of tools and prompts that no other server has
    #[arg(long)]
    pub(crate) plain_names: bool,
    /// List all tools, or three that find the others
    #[arg(long, value_name = "MODE")]
    pub(crate) tools: Option<ToolsArg>,
    /// Offer only what this lock file has; see `mcp pin`
    #[arg(long, value_name = "FILE")]
    pub(crate) pin: Option<PathBuf>,
    /// Approve or hold what new servers list
    #[arg(long, value_name = "MODE")]
    pub(crate) pin_new: Option<PinNewArg>,
    /// Let all calls of this server share one process or session
    #[arg(long, value_name = "SERVER")]
    pub(crate) one_process: Vec<String>,
    /// Let the first list wait so long for servers without stored lists
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=600))]
    pub(crate) first_list: Option<u64>,
    /// Hide tools by `server__tool`; `*` and `?` are wildcards
    #[arg(long, value_name = "PATTERN")]
    pub(crate) hide_tool: Vec<String>,
    /// Append each call to this file as a line of JSON; `-` is standard error
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// Serve a page with the servers' state to this machine; 0 is any port
    #[arg(long, value_name = "PORT")]
    pub(crate) admin_port: Option<u16>,
}

/// Arguments of `pin`.
#[derive(Debug, Args)]
pub(crate) struct PinArgs {
    /// The lock file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Approve tools and prompts as they were shown: `server__tool@digest`
    #[arg(value_name = "NAME@DIGEST")]
    pub(crate) approve: Vec<String>,
}

/// The way in which clients find a gateway's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolsArg {
    List,
    Search,
}

/// The tools and prompts of a server at its first use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PinNewArg {
    Approve,
    Hold,
}

/// A server over HTTP, for commands without calls.
#[derive(Debug, Args)]
pub(crate) struct RemoteArgs {
    /// The server: a URL, or a name from an `mcp.json`
    #[arg(value_name = "URL|NAME")]
    pub(crate) server: String,
    /// Add a header to HTTP requests: `Name: value`
    #[arg(long, short = 'H', value_name = "HEADER")]
    pub(crate) header: Vec<String>,
    /// Keep this account's login apart from others at the same URL
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
    /// Find names in this file only
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Use servers of files in the current folder without a question
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Arguments of `login`.
#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    /// Only print the login page's address, and open no browser
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Receive the login's response on this port
    #[arg(long, value_name = "PORT", conflicts_with = "redirect_uri")]
    pub(crate) port: Option<u16>,
    /// Receive it at this registered URI, such as http://localhost:8765/callback
    #[arg(long, value_name = "URI")]
    pub(crate) redirect_uri: Option<String>,
    /// Ask for this scope instead of those that the server names
    #[arg(long, value_name = "SCOPE")]
    pub(crate) scope: Vec<String>,
    /// Use this registered client
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,
    /// Its secret: ='${NAME}' reads a variable, no value asks for it
    #[arg(
        long,
        value_name = "VARIABLE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        requires = "client_id"
    )]
    pub(crate) client_secret: Option<String>,
    /// Use this authorization server only
    #[arg(long, value_name = "URL")]
    pub(crate) issuer: Option<String>,
    /// Ask for a token for this resource instead of the server's own name
    #[arg(long, value_name = "RESOURCE")]
    pub(crate) resource: Option<String>,
    /// Send no resource, for providers that refuse it
    #[arg(long, conflicts_with = "resource")]
    pub(crate) omit_resource: bool,
    /// Accept that this authorization server does not announce PKCE
    #[arg(long, value_name = "ISSUER")]
    pub(crate) allow_missing_pkce: Option<String>,
}

/// Arguments of `snapshot`.
#[derive(Debug, Args)]
pub(crate) struct SnapshotArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Write this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The older snapshot's file
    #[arg(value_name = "OLD")]
    pub(crate) old: PathBuf,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

/// Arguments of `record`.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) target: ServerArgs,
    /// Write this file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Largest size of the file; later messages are not recorded
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub(crate) max_bytes: u64,
}

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The file of `mcp record`
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) target: ServerArgs,
    /// Send the recorded requests to the target, and compare its responses
    #[arg(long)]
    pub(crate) against: bool,
    /// Do not compare members with this name
    #[arg(long, value_name = "MEMBER", requires = "against")]
    pub(crate) ignore: Vec<String>,
    /// Time limit of each request in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    pub(crate) timeout: f64,
}

/// Arguments of `listen`.
#[derive(Debug, Args)]
pub(crate) struct ListenArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    /// Stop after this number of changes
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<usize>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    #[test]
    fn definitions_are_consistent() {
        Cli::command().debug_assert();
    }
}
