//! Agent programs that list tools once, in front of `mcp gateway` with many published servers. Lists of the last run are in
//! the first list, and servers without them are named.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use serde_json::{Map, Value, json};

use super::cases::{Cases, MCP, with};
use super::definitions::listing_server;
use super::hosts::{HOSTS, start};
use super::peers::{Obstacle, Started};
use super::servers::PeerServer;
use crate::process;
use crate::result::Result;

const TABLE: &str = include_str!("agents.txt");
/// Hosts that list tools once.
const AGENTS: [&str; 3] = ["LangChain JS", "Gemini CLI", "Claude Code"];
const NAME: &str = "mcp gateway with published servers";
/// Our program that counts the tools of a server.
const COUNT: &str = "tool-definitions";
/// Servers that list their tools at the same time.
const WORKERS: usize = 4;

/// `$0` is `mcp`, `$1` a file of servers, `$2` a new folder. The client's list is the gateway's first one.
const FIRST: &str = r#"file="$1" folder="$2"; mkdir -p "$folder"; export XDG_CACHE_HOME="$folder"
"$0" list --json -- bash -c 'exec "$0" gateway "$1" --stdio 2> "$2/list.log"' "$0" "$file" "$folder"
echo; echo LOG; cat "$folder/list.log"
echo; echo SEARCH
exec "$0" call search_tools 'queries:=["xyzzy"]' -- "$0" gateway "$file" --stdio --tools search"#;

/// A server with its call.
struct Called<'a> {
    name: &'a str,
    command: Value,
    call: Value,
    expected: &'a str,
}

/// Adds the cases. Lists the tools of all servers, so that the gateway's list can be compared.
pub(super) fn add(cases: &mut Cases<'_>, servers: &[PeerServer]) -> Result<()> {
    let agents = HOSTS.iter().filter(|(host, ..)| AGENTS.contains(host));
    let agents: Vec<_> = agents
        .map(|&(host, program, launch)| (format!("{host} -> {NAME}"), program, launch))
        .collect();
    let (all, missing) = (
        format!("our client -> {NAME}, all in the first list"),
        format!("our client -> {NAME}, no stored lists"),
    );
    let names = agents.iter().map(|(name, ..)| name);
    if !names
        .chain([&all, &missing])
        .any(|name| cases.selects(name))
    {
        return Ok(());
    }
    let folder = cases.peers.folder("agents");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let prepared = prepare(cases, servers, &folder);
    let obstacle = prepared.as_ref().err().cloned();
    let Ok(prepared) = prepared else {
        for name in agents
            .into_iter()
            .map(|(name, ..)| name)
            .chain([all, missing])
        {
            let start = obstacle.clone().map_or(Ok(Command::new("true")), Err);
            cases.add(name, start, "");
        }
        return Ok(());
    };
    let counts = prepared.counts.clone();
    let list = with(Command::new("cat"), [prepared.list]);
    cases.add_checked(all, Ok(list), move |list| difference(&counts, list));
    let counts = prepared.counts.clone();
    let bash = ["-euo", "pipefail", "-c", FIRST];
    let first = with(Command::new("bash"), bash);
    let first = with(
        first,
        [cases.binary(MCP), prepared.hanging, folder.join("new")],
    );
    cases.add_checked(missing, Ok(first), move |output| unnamed(&counts, output));
    for (name, program, launch) in agents {
        let start = start(
            cases,
            &name,
            program,
            launch,
            &prepared.steps,
            &prepared.gateway,
        );
        let (counts, expected) = (prepared.counts.clone(), prepared.expected.clone());
        cases.add_checked(name, start, move |output| {
            problem(&counts, &expected, output)
        });
    }
    Ok(())
}

/// Returns the problem with the output of an agent: its tools, and the results of all calls.
fn problem(counts: &BTreeMap<String, usize>, expected: &[&str], output: &str) -> Option<String> {
    let text = output.split_once("RESULT ");
    let Some((tools, results)) = text.and_then(|(_, text)| text.split_once(" RESULTS ")) else {
        return Some("the model received no results".to_owned());
    };
    let mut expected = expected.iter();
    let missing = expected.find(|part| !results.contains(**part));
    let missing = missing.map(|part| format!("no result contains {part:?}"));
    difference(counts, tools).or(missing)
}

/// The things that the cases share.
struct Prepared {
    /// The words that start the gateway whose lists are stored.
    gateway: Vec<PathBuf>,
    /// A file with the same servers and one that hangs.
    hanging: PathBuf,
    /// The gateway's list when it waited for all servers.
    list: PathBuf,
    /// The number of each server's tools.
    counts: BTreeMap<String, usize>,
    /// The calls of the agents' model, and a part of each result.
    steps: String,
    expected: Vec<&'static str>,
}

/// Writes the configuration of the gateway, and runs it once, so that its lists are stored.
fn prepare(cases: &Cases<'_>, servers: &[PeerServer], folder: &Path) -> Started<Prepared> {
    let failed = |error: std::io::Error| Obstacle::Failed(error.to_string());
    let called = called(cases, servers)?;
    let mcp = cases.binary(MCP);
    let counts = counts(&cases.binary(COUNT), &called)?;
    let mut entries: Map<String, Value> = called
        .iter()
        .map(|server| (server.name.to_owned(), server.command.clone()))
        .collect();
    let file = folder.join("mcp.json");
    fs::write(&file, json!({"mcpServers": entries}).to_string()).map_err(failed)?;
    let hanging = folder.join("hanging.json");
    let sleep = json!({"command": "sleep", "args": ["600"]});
    entries.insert("hanging".to_owned(), sleep);
    fs::write(&hanging, json!({"mcpServers": entries}).to_string()).map_err(failed)?;
    let cache = format!("XDG_CACHE_HOME={}", folder.join("cache").display());
    let gateway: Vec<PathBuf> = vec![
        "env".into(),
        cache.into(),
        mcp.clone(),
        "gateway".into(),
        file,
        "--stdio".into(),
    ];
    let listing = with(
        Command::new(mcp),
        ["list", "--json", "--timeout", "120", "--"],
    );
    let listing = with(listing, &gateway);
    let output = process::capture(&mut with(listing, ["--first-list", "120"]))?;
    let listed: Value = serde_json::from_str(&output)
        .map_err(|error| Obstacle::Failed(format!("the list of the gateway: {error}")))?;
    let list = folder.join("list.json");
    fs::write(&list, listed["tools"].to_string()).map_err(failed)?;
    let mut steps: Vec<Value> = called.iter().map(|server| server.call.clone()).collect();
    steps.push("report".into());
    Ok(Prepared {
        gateway,
        hanging,
        list,
        counts,
        steps: Value::from(steps).to_string(),
        expected: called.iter().map(|server| server.expected).collect(),
    })
}

/// The servers of the table.
fn called(cases: &Cases<'_>, servers: &[PeerServer]) -> Started<Vec<Called<'static>>> {
    let files = cases.peers.folder("files");
    let files = files.to_string_lossy();
    let repository = format!("{:?}", cases.peers.folder("repository"));
    let rows = TABLE.lines().filter(|row| !row.starts_with('#'));
    rows.map(|row| {
        let columns: Vec<&str> = row.split(" |").map(str::trim).collect();
        let [name, tool, arguments, expected] = columns[..] else {
            return Err(Obstacle::Failed(format!("not a call: {row}")));
        };
        let published = servers.iter().find(|server| server.name == name);
        let (words, variables) = match published {
            Some(server) => (server.words.clone()?, Map::new()),
            None => listing_server(cases, name)?,
        };
        let arguments = arguments
            .replace("$FILES", &files)
            .replace("$REPOSITORY", &repository);
        let arguments: Value = serde_json::from_str(&arguments)
            .map_err(|error| Obstacle::Failed(format!("{row}: {error}")))?;
        Ok(Called {
            name,
            command: json!({"command": words[0], "args": words[1..], "env": variables}),
            call: json!([format!("{name}__{tool}"), arguments]),
            expected,
        })
    })
    .collect()
}

/// Counts the tools of each server, as it lists them to a client without capabilities.
fn counts(program: &Path, servers: &[Called<'_>]) -> Result<BTreeMap<String, usize>> {
    let queue = Mutex::new(servers.iter());
    let next = || queue.lock().map_or(None, |mut queue| queue.next());
    let counts = Mutex::new(BTreeMap::new());
    let count = || -> std::result::Result<(), String> {
        while let Some(server) = next() {
            let words = [&json!([server.command["command"]]), &server.command["args"]];
            let words = words.into_iter().filter_map(Value::as_array).flatten();
            let words = words.filter_map(Value::as_str);
            let variables = server.command["env"].as_object().into_iter().flatten();
            let variables = variables
                .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()));
            let mut list = with(with(Command::new(program), variables), words);
            let name = server.name;
            let output = process::capture(&mut list).map_err(|error| format!("{name}: {error}"))?;
            let tools = output
                .lines()
                .find_map(|line| line.split_once(" tools, ")?.0.parse().ok());
            let tools: usize = tools.ok_or_else(|| format!("{name}: no number of tools"))?;
            let mut counts = counts.lock().map_err(|error| error.to_string())?;
            counts.insert(name.to_owned(), tools);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(count)).collect();
        let mut results = workers.into_iter().map(thread::ScopedJoinHandle::join);
        results.try_for_each(|result| result.unwrap_or_else(|_| Err("a list panicked".into())))
    })?;
    Ok(counts.into_inner()?)
}

/// Returns the number of a server's tools in the names of a gateway.
fn listed(server: &str, output: &str) -> usize {
    output.matches(&format!("{server}__")).count()
}

/// Returns the first server whose tools are not all in the output.
fn difference(counts: &BTreeMap<String, usize>, output: &str) -> Option<String> {
    let mut counts = counts
        .iter()
        .map(|(name, &all)| (name, all, listed(name, output)));
    let (name, all, found) = counts.find(|&(_, all, found)| all == 0 || all != found)?;
    Some(format!("{found} tools of {name}, which has {all}"))
}

/// Returns the first server whose tools are missing without a word.
fn unnamed(counts: &BTreeMap<String, usize>, output: &str) -> Option<String> {
    let parts = output.split_once("\nLOG\n");
    let parts = parts.and_then(|(list, rest)| Some((list, rest.split_once("\nSEARCH\n")?)));
    let Some((list, (log, search))) = parts else {
        return Some("no log and search".to_owned());
    };
    if !search.contains("hanging") {
        return Some(format!(
            "search_tools does not name the server that hangs: {search}"
        ));
    }
    let names = log.lines().filter(|line| line.contains("still starting"));
    let names: Vec<&str> = names
        .filter_map(|line| line.split_once("server="))
        .flat_map(|(_, names)| names.split(", "))
        .collect();
    if !names.contains(&"hanging") {
        return Some(format!(
            "the log does not name the server that hangs: {names:?}"
        ));
    }
    let mut servers = counts.keys();
    let name = servers.find(|name| listed(name, list) == 0 && !names.contains(&name.as_str()))?;
    Some(format!("{name} is missing, and the log names {names:?}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{difference, unnamed};

    fn counts() -> BTreeMap<String, usize> {
        BTreeMap::from([("git".to_owned(), 2), ("time".to_owned(), 1)])
    }

    #[test]
    fn missing_tools_are_a_difference() {
        let found = |output| difference(&counts(), output);
        assert_eq!(found("git__a git__b mcp_shop_time__now"), None);
        let expected = "1 tools of git, which has 2".to_owned();
        assert_eq!(found("git__a time__now"), Some(expected));
    }

    #[test]
    fn missing_servers_must_be_named() {
        let (line, found) = (
            "WARN servers are still starting server=hanging, time",
            "hanging",
        );
        for (list, log, search, is_named) in [
            ("git__a", line, found, true),
            ("git__a", line, "{}", false),
            ("", line, found, false),
            ("git__a time__b", "", found, false),
        ] {
            let output = format!("{list}\nLOG\n{log}\nSEARCH\n{search}");
            assert_eq!(unnamed(&counts(), &output).is_none(), is_named, "{output}");
        }
        assert!(unnamed(&counts(), "git__a").is_some());
    }
}
