//! Entries mean the same in the file of each host.

use std::collections::BTreeMap;

use clap::ValueEnum as _;
use mcp::group::ServerSpec;
use proptest::prelude::*;

use super::{Host, Launch, insert};
use crate::config;

/// Parts of texts: those of references in each syntax, and what surrounds them.
const PARTS: [&str; 26] = [
    "$HOME",
    "{env:HOME}",
    "$",
    "{",
    "}",
    "env:",
    "file:",
    "input:",
    "HOME",
    "PATH",
    "~/",
    ":-",
    "%",
    "\\",
    "\"",
    "'",
    "\n",
    "\t",
    "a",
    "5",
    " ",
    "(",
    "`",
    "#",
    "=",
    "\u{202e}",
];

fn text() -> impl Strategy<Value = String> {
    let parts = prop::collection::vec(prop::sample::select(&PARTS[..]), 0..6);
    parts.prop_map(|parts| parts.concat())
}

fn launch() -> impl Strategy<Value = Launch> {
    // A colon ends the name of a header.
    let pair =
        || (text(), text()).prop_map(|(name, value)| (format!("N{name}").replace(':', "."), value));
    let pairs = || prop::collection::vec(pair(), 0..2);
    prop_oneof![
        (text(), prop::collection::vec(text(), 0..3), pairs()).prop_map(|(command, args, env)| {
            let command = format!("c{command}");
            Launch::Program { command, args, env }
        }),
        (text(), pairs()).prop_map(|(rest, headers)| {
            let url = url::Url::parse(&format!("http://127.0.0.1:9/{rest}")).unwrap();
            let url = url.into();
            Launch::Url { url, headers }
        }),
    ]
}

/// Reads the entry of a settings file as the host does.
fn read_back(host: Host, text: &str) -> Result<ServerSpec, String> {
    let path = std::env::temp_dir().join(format!("mcp-entries-{}-{host:?}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let mut places = config::locations().into_iter();
    let mut place = places
        .find(|place| place.owner == host.owner() && !place.is_project)
        .unwrap();
    place.path.clone_from(&path);
    let read = place.read();
    std::fs::remove_file(path).unwrap();
    let entry = read.map_err(|error| error.to_string())?.remove(0);
    assert!(entry.variables.is_empty(), "{:?}", entry.variables);
    entry.spec.map_err(|error| error.to_string())
}

/// Returns the entry as the host understands it, with pairs in the order of their names.
fn understood(host: Host, text: &str) -> Result<Launch, String> {
    let launch = match read_back(host, text)? {
        ServerSpec::Command { args, .. }
            if host == Host::ClaudeDesktop && args.first().is_some_and(|word| word == "proxy") =>
        {
            let pairs = args.chunks(2).skip(1);
            let headers = pairs.filter_map(|pair| pair.get(1)?.split_once(": "));
            Launch::Url {
                url: args[1].clone(),
                headers: headers
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect(),
            }
        }
        ServerSpec::Command {
            command, args, env, ..
        } => Launch::Program { command, args, env },
        ServerSpec::Url { url, headers, .. } => Launch::Url { url, headers },
        other => return Err(format!("{other:?}")),
    };
    Ok(sorted(launch))
}

fn sorted(mut launch: Launch) -> Launch {
    let (Launch::Program { env: pairs, .. } | Launch::Url { headers: pairs, .. }) = &mut launch;
    let unique: BTreeMap<_, _> = pairs.drain(..).collect();
    pairs.extend(unique);
    launch
}

proptest! {
    #[test]
    fn entry_without_references_means_the_same_to_each_host(launch in launch()) {
        prop_assume!(launch.expanded().is_none());
        for host in Host::value_variants() {
            let entry = host.entry("shop", &launch).unwrap();
            let written = insert(*host, "", "shop", &entry, false).unwrap();
            let understood = understood(*host, &written);
            prop_assert_eq!(&understood, &Ok(sorted(launch.clone())), "{:?}: {}", host, written);
        }
    }
}
