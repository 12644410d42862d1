//! Commands and errors without a server.

use crate::kit::mcp;

#[test]
fn unreachable_server_has_exit_code_4() {
    // The port of a listener that is gone.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let run = mcp(&["list", &url, "--json"]);
    assert_eq!((run.code, &*run.out), (4, ""), "{run:?}");
    assert_eq!(run.json_error()["kind"], "unreachable");
    assert_eq!(run.err.lines().count(), 1, "{run:?}");
    let run = mcp(&["list", "--", "no-such-program-here"]);
    assert_eq!(run.code, 4, "{run:?}");
}

#[test]
fn address_without_a_scheme_has_a_hint() {
    let run = mcp(&["list", "127.0.0.1:8000/mcp"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.err.contains("(http://127.0.0.1:8000/mcp)"), "{run:?}");
}

#[test]
fn server_that_demands_a_login_has_exit_code_3() {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let read = stream.read(&mut [0; 8192]);
            drop(read);
            let response =
                "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            drop(stream.write_all(response.as_bytes()));
            // Unread bytes would reset the connection before the response is read.
            drop(stream.shutdown(std::net::Shutdown::Write));
            drop(std::io::copy(&mut stream, &mut std::io::sink()));
        }
    });
    let run = mcp(&["list", &url, "-H", "Authorization: Bearer s3cret"]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.err.contains("--header"), "{run:?}");
    assert!(!run.err.contains("s3cret"), "{run:?}");
}

#[test]
fn wrong_command_lines_have_exit_code_1() {
    for words in [
        &["list"][..],
        &["list", "nobody"],
        &["list", "http://127.0.0.1:1/mcp", "more"],
        &["list", "--protocol", "1999-01-01", "--", "x"],
        &["list", "--timeout", "0", "--", "x"],
        &["list", "--header", "a: b", "--", "x"],
        &["list", "http://127.0.0.1:1/mcp", "--header", "s3cret"],
        &["list", "http://127.0.0.1:1/mcp", "--env", "A=s3cret"],
        &["lst"],
        &[],
    ] {
        let run = mcp(words);
        assert_eq!((run.code, &*run.out), (1, ""), "{words:?}: {run:?}");
        assert!(
            !run.err.is_empty() && !run.err.contains("s3cret"),
            "{run:?}"
        );
    }
    let run = mcp(&["lst", "--json"]);
    assert_eq!(run.json_error()["code"], 1, "{run:?}");
}

#[test]
fn completions_and_manual_name_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let run = mcp(&["completions", shell]);
        assert!(run.code == 0 && run.out.contains("listen"), "{run:?}");
    }
    let run = mcp(&["man"]);
    assert!(run.out.contains(".TH mcp 1"), "{run:?}");
}
