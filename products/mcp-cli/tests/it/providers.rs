//! The provider laboratory by the command: `mcp login` at each provider, and cures that errors name.
//!
//! At most 40 processes are started.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcp::auth::{AuthError, FileStore, ManualRedirect, OAuth};
use mcp::prelude::*;
use serde_json::{Value, json};

use crate::facts::Facts;
use crate::kit::{Run, folder, mcp_in};
use crate::login::log_in_with;
use crate::provider_world::{GIVEN_SECRET, REDIRECT_URI, World};

/// The variable with the client secret.
const SECRET: &str = "LABORATORY_SECRET";

/// Runs a command beside the servers of the laboratory.
async fn beside<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(run).await.unwrap()
}

/// The user's members, with a redirect that a real listener can have.
fn members(world: &World, facts: &Facts) -> Value {
    let mut members = world.members();
    if members.get("redirectUri").is_some() {
        let uri = if facts.exact_redirect {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            facts.redirect_uri(free.local_addr().unwrap().port())
        } else {
            facts.redirect_uri(1).replace(":1/", "/")
        };
        world.set(|inner| inner.registered_redirect = facts.redirect_uri(1));
        if facts.exact_redirect {
            world.set(|inner| inner.registered_redirect = uri.clone());
        }
        members["redirectUri"] = json!(uri);
    }
    members
}

/// The members as flags.
fn flags(members: &Value) -> Vec<String> {
    let mut flags = Vec::new();
    for (member, flag) in [
        ("clientId", "--client-id"),
        ("redirectUri", "--redirect-uri"),
        ("allowMissingPkce", "--allow-missing-pkce"),
        ("issuer", "--issuer"),
    ] {
        if let Some(value) = members[member].as_str() {
            flags.extend([flag.to_owned(), value.to_owned()]);
        }
    }
    if members.get("clientSecret").is_some() {
        flags.push(format!("--client-secret=${{{SECRET}}}"));
    }
    if members.get("omitResource").is_some() {
        flags.push("--omit-resource".to_owned());
    }
    flags
}

/// Logs in with the words of a command line, which begin with `login`. Returns what is printed.
async fn log_in(home: &Path, words: Vec<String>) -> String {
    let home = home.to_owned();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp"));
    command
        .args(words)
        .arg("--no-browser")
        .env(SECRET, GIVEN_SECRET);
    beside(move || log_in_with(command, &home)).await
}

async fn run(folder: &Path, words: &[&str]) -> Run {
    let (folder, words) = (folder.to_owned(), words.iter().map(ToString::to_string));
    let words: Vec<String> = words.collect();
    beside(move || {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        mcp_in(&folder, &words, "")
    })
    .await
}

/// Calls the server as a program of the same user that opens no page.
async fn call_with_stored_login(world: &World, home: &Path) -> Result<String, mcp::client::Error> {
    let no_page = ManualRedirect::new(REDIRECT_URI, |_| async {
        Err(AuthError::Redirect("no page here".to_owned()))
    });
    let oauth = OAuth::interactive("mcp")
        .redirect(no_page)
        .store(FileStore::new(home.join(".local/share/mcp/credentials")));
    let client = Client::builder()
        .oauth(oauth)
        .connect(&*world.server)
        .await?;
    Ok(client.call("where", ()).await?.text())
}

fn words(first: &[&str], others: Vec<String>) -> Vec<String> {
    first
        .iter()
        .map(ToString::to_string)
        .chain(others)
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn login_command_logs_in_at_every_provider() {
    for facts in Facts::all() {
        let world = World::of(&facts).await;
        let name = facts.provider.to_lowercase().replace(' ', "-");
        let home: PathBuf = folder(&format!("provider_{name}")).join("home");
        let flags = flags(&members(&world, &facts));
        let printed = log_in(&home, words(&["login", &world.server], flags)).await;
        assert!(printed.contains("logged in at"), "{name}: {printed}");
        assert!(!printed.contains("canary"), "{name}: {printed}");
        // Twice: with the token, and with one that is refreshed with the stored client.
        for _ in 0..2 {
            let called = call_with_stored_login(&world, &home).await;
            assert_eq!(
                called.unwrap_or_else(|error| panic!("{name}: {error}")),
                "here"
            );
            if facts.refresh == crate::facts::Refresh::None {
                break;
            }
            world.expire_access();
        }
        assert_eq!(world.inner.lock().logins.len(), 1, "{name}");
        world.assert_no_mistakes();
    }
}

/// Returns the words of the command `mcp login` in an error.
fn cure(run: &Run) -> Vec<String> {
    let (_, cure) = run
        .err
        .split_once("`mcp login")
        .unwrap_or_else(|| panic!("{run:?}"));
    let cure = format!("login{}", cure.split('`').next().unwrap());
    cure.split(' ').map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cure_named_in_error_works() {
    for facts in Facts::three() {
        let world = World::of(&facts).await;
        let name = facts.provider.to_lowercase().replace(' ', "-");
        let folder = folder(&format!("provider_cure_{name}"));
        let home = folder.join("home");
        let mut members = members(&world, &facts);
        // One provider has an entry in a file, the others flags.
        let target = if facts.hides_pkce {
            let file = folder.join("servers.json");
            members["clientSecret"] = Value::Null;
            let entry = json!({"url": world.server, "oauth": members});
            std::fs::write(&file, json!({"mcpServers": {"lab": entry}}).to_string()).unwrap();
            vec![
                "lab".to_owned(),
                "--config".to_owned(),
                file.to_str().unwrap().to_owned(),
            ]
        } else {
            vec![world.server.clone()]
        };
        let mut call = vec!["call", &target[0], "where"];
        call.extend(target[1..].iter().map(String::as_str));
        let mut first = words(&["login"], target.clone());
        if !facts.hides_pkce {
            first.extend(flags(&members));
        }
        log_in(&home, first).await;
        let called = run(&folder, &call).await;
        assert_eq!(
            (called.code, called.out.trim()),
            (0, "here"),
            "{name}: {called:?}"
        );
        // A token that is revoked alone is refreshed; the next call finds no login.
        world.expire_access();
        assert_eq!(run(&folder, &call).await.code, 0, "{name}");
        world.revoke_all();
        let refused = run(&folder, &call).await;
        assert_eq!(refused.code, 3, "{name}: {refused:?}");
        // The client id, and the secret that was typed, are known.
        log_in(&home, cure(&refused)).await;
        let called = run(&folder, &call).await;
        assert_eq!(
            (called.code, called.out.trim()),
            (0, "here"),
            "{name}: {called:?}"
        );
        assert_eq!(world.inner.lock().logins.len(), 2, "{name}");
        world.assert_no_mistakes();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flags_that_a_provider_needs_are_named_by_the_errors() {
    let facts = Facts::all()
        .into_iter()
        .find(|facts| facts.hides_pkce && !facts.elsewhere);
    let facts = facts.unwrap();
    let world = World::of(&facts).await;
    let folder = folder("provider_flags");
    let error = run(&folder, &["login", &world.server, "--no-browser"]).await;
    assert!(error.err.contains("--client-id ID"), "{error:?}");
    let words = [
        "login",
        &world.server,
        "--no-browser",
        "--client-id",
        "given",
    ];
    let error = run(&folder, &words).await;
    let flag = format!("--allow-missing-pkce {}", world.issuer);
    assert!(error.err.contains(&flag), "{error:?}");
    assert!(error.err.contains("does not announce PKCE"), "{error:?}");
}
