//! Ends of child processes on Windows. A process is alive while its connection to the test is open.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use mcp_core::Channel as _;
use mcp_transport_stdio::{ChildChannel, ServerCommand};

/// Environment variable with the address that child processes connect to.
const ADDRESS: &str = "MCP_TEST_ADDRESS";

/// Longer than every operation here, so that a hang fails the test.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The arguments that make this program run one of its tests as a child process.
fn only(test: &str) -> [String; 4] {
    let name = format!("windows::{test}");
    [
        name,
        "--exact".into(),
        "--ignored".into(),
        "--nocapture".into(),
    ]
}

fn connect() -> TcpStream {
    let address = std::env::var(ADDRESS).unwrap();
    TcpStream::connect(address).unwrap()
}

fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// Waits until a process has ended, which holds the other end.
fn assert_ended(mut connection: TcpStream) {
    connection.set_read_timeout(Some(TIMEOUT)).unwrap();
    match connection.read(&mut [0]) {
        Ok(read) => assert_eq!(read, 0),
        Err(error) => {
            let kind = error.kind();
            assert_eq!(kind, std::io::ErrorKind::ConnectionReset, "{error}");
        }
    }
}

#[test]
#[ignore = "a process of the other tests"]
fn process_that_waits() {
    let mut connection = connect();
    let _ = connection.read(&mut [0]);
}

#[test]
#[ignore = "a process of the other tests"]
fn process_with_a_child() {
    let program = std::env::current_exe().unwrap();
    let mut child = Command::new(program)
        .args(only("process_that_waits"))
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    process_that_waits();
    let _ = child.wait();
}

#[tokio::test]
#[ignore = "a process of the other tests"]
async fn process_with_a_server() {
    let program = std::env::current_exe().unwrap();
    let server = ServerCommand::new(program)
        .args(only("process_with_a_child"))
        .env(ADDRESS, std::env::var(ADDRESS).unwrap());
    let channel = ChildChannel::spawn(server).unwrap();
    process_that_waits();
    drop(channel);
}

#[tokio::test(flavor = "multi_thread")]
async fn closed_channel_ends_the_process_and_its_child() {
    let (listener, address) = listen();
    let server = ServerCommand::new(std::env::current_exe().unwrap())
        .args(only("process_with_a_child"))
        .env(ADDRESS, address)
        .close_timeout(Duration::from_millis(100));
    let channel = ChildChannel::spawn(server).unwrap();
    let ends = [(); 2].map(|()| listener.accept().unwrap().0);
    channel.close().await.unwrap();
    ends.into_iter().for_each(assert_ended);
}

#[test]
fn killed_program_ends_its_servers_and_their_children() {
    let (listener, address) = listen();
    let mut program = Command::new(std::env::current_exe().unwrap())
        .args(only("process_with_a_server"))
        .env(ADDRESS, address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let ends = [(); 3].map(|()| listener.accept().unwrap().0);
    program.kill().unwrap();
    program.wait().unwrap();
    ends.into_iter().for_each(assert_ended);
}
