//! Processes that share a [`FileStore`]. Each process is this test program again, with [`program`] as
//! its only test.

use std::env;
use std::process::{ExitStatus, Stdio};

use futures_util::future::join_all;
use mcp_auth::{FileStore, ManualRedirect, OAuth};
use tokio::process::{Child, Command};

use crate::world::{Folder, REDIRECT_URI, World, follow, post};

const SERVER: &str = "MCP_AUTH_TEST_SERVER";
const FOLDER: &str = "MCP_AUTH_TEST_FOLDER";
/// Requests that a process sends at once.
const REQUESTS: usize = 5;

/// Sends requests with the tokens of the shared store, in a process of its own.
#[tokio::test]
#[ignore = "a program that the other tests start"]
async fn program() {
    let (server, folder) = (env::var(SERVER).unwrap(), env::var(FOLDER).unwrap());
    let oauth = OAuth::interactive("test")
        .redirect(ManualRedirect::new(REDIRECT_URI, follow))
        .store(FileStore::new(folder));
    let authorizer = oauth.authorizer(&server).unwrap();
    let all = join_all((0..REQUESTS).map(|_| post(&authorizer, &server))).await;
    assert!(all.into_iter().all(|status| status.unwrap() == 200));
}

fn start(world: &World, folder: &Folder) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "processes::program", "--ignored"])
        .env(SERVER, &world.server)
        .env(FOLDER, &folder.0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

async fn run(world: &World, folder: &Folder) -> ExitStatus {
    start(world, folder).wait().await.unwrap()
}

/// Logs in, and lets the access token expire.
async fn log_in(world: &World, folder: &Folder) {
    let oauth = world.interactive().store(FileStore::new(&folder.0));
    world.login(&oauth).await;
    world.expire_access();
}

/// Kills a process while the server keeps the response of a path.
async fn kill_while_held(world: &World, folder: &Folder, path: &'static str) {
    world.set(|inner| inner.holds = Some(path));
    let mut process = start(world, folder);
    world.held.notified().await;
    process.kill().await.unwrap();
    world.set(|inner| inner.holds = None);
}

fn logins(world: &World) -> usize {
    world.inner.lock().logins.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_at_once_refresh_an_expired_token_once() {
    let (world, folder) = (World::start().await, Folder::new("processes"));
    log_in(&world, &folder).await;
    for round in 1..4 {
        let all = join_all((0..4).map(|_| run(&world, &folder))).await;
        assert!(all.iter().all(ExitStatus::success), "{all:?}");
        assert_eq!(world.refreshes(), round);
        world.expire_access();
    }
    assert_eq!(logins(&world), 1);
    world.assert_no_mistakes();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_killed_before_it_uses_a_rotated_token_loses_nothing() {
    let (world, folder) = (World::start().await, Folder::new("killed-after"));
    log_in(&world, &folder).await;
    kill_while_held(&world, &folder, "/mcp").await;
    assert!(run(&world, &folder).await.success());
    assert_eq!((world.refreshes(), logins(&world)), (1, 1));
    world.assert_no_mistakes();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_killed_before_it_receives_a_rotated_token_leads_to_one_login() {
    // Nobody knows the new token, and the lock of the killed process holds nobody up.
    let (world, folder) = (World::start().await, Folder::new("killed-before"));
    log_in(&world, &folder).await;
    kill_while_held(&world, &folder, "/token").await;
    assert!(run(&world, &folder).await.success());
    assert_eq!(logins(&world), 2);
}
