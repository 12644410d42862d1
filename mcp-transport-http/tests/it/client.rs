//! The client's channel against a server that writes its bytes by hand.

use std::error::Error as _;
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use mcp_core::{Channel, ChannelError, Frame, MirroredHeaders, OutgoingRequest};
use mcp_transport_http::client::{HttpChannel, HttpClient};
use mcp_types::{Method, ProtocolVersion, RequestId};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// Timeout of each step of a test.
const PATIENCE: Duration = Duration::from_secs(20);

/// Packets that the server writes for one request.
type Packets = Vec<&'static [u8]>;

#[derive(Default)]
struct Seen {
    /// Head and body of every request, with the number of its connection.
    requests: Mutex<Vec<(usize, String)>>,
    /// A client has closed its connection.
    closed: Notify,
}

/// A server that writes `answers[n]` for the n-th request, whatever the connection. A connection
/// stays open until the client closes it, unless the answer is to be cut off.
struct Raw {
    url: String,
    seen: Arc<Seen>,
}

impl Raw {
    async fn start(answers: Vec<Packets>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp?key=hidden", listener.local_addr().unwrap());
        let seen = Arc::new(Seen::default());
        let answers = Arc::new(Mutex::new(answers.into_iter()));
        let shared = seen.clone();
        tokio::spawn(async move {
            for number in 0.. {
                let Ok((stream, _)) = listener.accept().await else {
                    return;
                };
                stream.set_nodelay(true).unwrap();
                let (seen, answers) = (shared.clone(), answers.clone());
                tokio::spawn(async move {
                    let next = || answers.lock().unwrap().next();
                    connection(stream, number, &seen, next).await;
                    seen.closed.notify_one();
                });
            }
        });
        Self { url, seen }
    }

    fn channel(&self) -> HttpChannel {
        HttpChannel::new(&self.url).unwrap()
    }

    /// The connection of every request so far.
    fn connections(&self) -> Vec<usize> {
        self.seen
            .requests
            .lock()
            .unwrap()
            .iter()
            .map(|(number, _)| *number)
            .collect()
    }

    fn request(&self) -> String {
        self.seen
            .requests
            .lock()
            .unwrap()
            .first()
            .unwrap()
            .1
            .clone()
    }
}

/// Ends the connection after the packets before it.
const CUT: &[u8] = b"<cut>";

async fn connection(
    mut stream: TcpStream,
    number: usize,
    seen: &Seen,
    next: impl Fn() -> Option<Packets>,
) {
    while let Some(request) = read_request(&mut stream).await {
        seen.requests.lock().unwrap().push((number, request));
        for packet in next().unwrap_or_default() {
            if packet == CUT {
                return;
            }
            if stream.write_all(packet).await.is_err() {
                return;
            }
            // Lets the packet travel on its own.
            sleep(Duration::from_millis(2)).await;
        }
    }
}

/// A request with a `Content-Length`; `None` when the client has closed.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut text = Vec::new();
    loop {
        if stream.read_buf(&mut text).await.ok()? == 0 {
            return None;
        }
        let Some(end) = text.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&text[..end]).to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().unwrap());
        if text.len() == end + 4 + length {
            return Some(String::from_utf8(text).unwrap());
        }
    }
}

fn out() -> OutgoingRequest {
    let mirror = MirroredHeaders::new(ProtocolVersion::LATEST, Method::ListTools.as_str(), None);
    OutgoingRequest::new(RequestId::from(1), r#"{"jsonrpc":"2.0"}"#, mirror)
}

async fn frames(channel: &HttpChannel) -> Vec<Result<Frame, ChannelError>> {
    timeout(PATIENCE, channel.call(out()).collect())
        .await
        .unwrap()
}

async fn messages(channel: &HttpChannel) -> Vec<String> {
    let text = |frame: Result<Frame, ChannelError>| {
        String::from_utf8(frame.unwrap().message.to_vec()).unwrap()
    };
    frames(channel).await.into_iter().map(text).collect()
}

async fn failure(channel: &HttpChannel) -> ChannelError {
    let mut frames = frames(channel).await;
    match frames.pop() {
        Some(Err(error)) => error,
        other => panic!("{other:?}"),
    }
}

const JSON: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
const CHUNKED_JSON: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
    transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n";
const EVENTS: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

#[tokio::test]
async fn a_post_with_the_headers_of_the_protocol() {
    let server = Raw::start(vec![vec![JSON]]).await;
    assert_eq!(messages(&server.channel()).await, ["{}"]);
    let request = server.request();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<_> = head.lines().collect();
    assert_eq!(lines.remove(0), "POST /mcp?key=hidden HTTP/1.1");
    lines.sort_unstable();
    let host = server
        .url
        .trim_start_matches("http://")
        .split('/')
        .next()
        .unwrap();
    let agent = concat!(
        "user-agent: omnimcp-transport-http/",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(
        lines,
        [
            "accept-encoding: identity",
            "accept: application/json, text/event-stream",
            "content-length: 17",
            "content-type: application/json",
            &format!("host: {host}"),
            "mcp-method: tools/list",
            "mcp-protocol-version: 2026-07-28",
            agent,
        ]
    );
    assert_eq!(body, r#"{"jsonrpc":"2.0"}"#);
}

#[tokio::test]
async fn events_over_many_packets() {
    let packets: Packets = vec![
        EVENTS,
        b"7\r\n: ping\n\r\n",
        b"8\r\ndata: {\"\r\n",
        b"b\r\na\":1}\r\n\r\nda\r\n",
        b"6\r\nta:{}\n\r\n1\r\n\n\r",
        b"\n0\r\n\r\n",
    ];
    let server = Raw::start(vec![packets]).await;
    assert_eq!(messages(&server.channel()).await, [r#"{"a":1}"#, "{}"]);
}

#[tokio::test]
async fn connections_are_used_again() {
    let end = b"e\r\ndata: 1234567\n\r\n1\r\n\n\r\n0\r\n\r\n".as_slice();
    let refused = b"HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno".as_slice();
    let accepted = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".as_slice();
    let nothing = b"HTTP/1.1 204 No Content\r\n\r\n".as_slice();
    let answers = vec![
        vec![JSON],
        vec![CHUNKED_JSON],
        vec![EVENTS, end],
        vec![refused],
        vec![nothing],
        vec![accepted],
        vec![JSON],
    ];
    let count = answers.len();
    let server = Raw::start(answers).await;
    let channel = server.channel();
    for _ in 0..count {
        frames(&channel).await;
    }
    assert_eq!(server.connections(), vec![0; count]);
}

#[tokio::test]
async fn dropping_the_call_closes_the_post() {
    // Before the answer has begun, and in the midst of its events.
    for packets in [vec![], vec![EVENTS, b"b\r\ndata: 123\n\n\r\n".as_slice()]] {
        let has_events = !packets.is_empty();
        let server = Raw::start(vec![packets]).await;
        let channel = server.channel();
        let mut call = channel.call(out());
        if has_events {
            let frame = timeout(PATIENCE, call.next())
                .await
                .unwrap()
                .unwrap()
                .unwrap();
            assert_eq!(&frame.message[..], b"123");
        }
        assert!(
            timeout(Duration::from_millis(50), call.next())
                .await
                .is_err()
        );
        assert_eq!(server.connections().len(), 1);
        drop(call);
        timeout(PATIENCE, server.seen.closed.notified())
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn answers_that_break_off() {
    for packets in [
        vec![CUT],
        vec![&JSON[..20], CUT],
        vec![&JSON[..JSON.len() - 1], CUT],
        vec![EVENTS, b"b\r\ndata: ", CUT],
        vec![b"SSH-2.0-OpenSSH_9.9\r\n", CUT],
    ] {
        let server = Raw::start(vec![packets.clone()]).await;
        let error = failure(&server.channel()).await;
        assert!(
            matches!(error, ChannelError::Broken { source: Some(_) }),
            "{packets:?} {error:?}"
        );
    }
}

#[tokio::test]
async fn redirects_stop_at_the_first_server() {
    let elsewhere = Raw::start(vec![vec![JSON]]).await;
    let answer = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
        elsewhere.url
    );
    let server = Raw::start(vec![vec![answer.leak().as_bytes()]]).await;
    let channel = server
        .channel()
        .header("authorization", "Bearer hidden")
        .unwrap();
    let error = failure(&channel).await.to_string();
    assert!(error.contains("307") && error.contains("/mcp;"), "{error}");
    assert!(!error.contains("hidden"), "{error}");
    assert!(elsewhere.connections().is_empty());
}

#[tokio::test]
async fn servers_that_are_not_there() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let channel = HttpChannel::new(format!("http://me:hidden@{address}/mcp?key=hidden")).unwrap();
    let error = failure(&channel).await;
    let ChannelError::Connect { peer, source } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(peer, &format!("http://{address}/mcp"));
    assert!(
        source.to_string().starts_with("Connection refused"),
        "{source}"
    );
    assert!(!format!("{error:?}").contains("hidden"), "{error:?}");
}

#[tokio::test]
async fn unknown_hosts() {
    let channel = HttpChannel::new("http://no-such-host.invalid/mcp").unwrap();
    let error = failure(&channel).await;
    // A proxy of the environment answers in its own way.
    assert!(
        matches!(
            error,
            ChannelError::Connect { .. } | ChannelError::Status { .. }
        ),
        "{error:?}"
    );
}

#[tokio::test]
async fn tls_is_there() {
    // The server is none of TLS: it reads the client's greeting and hangs up.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "https://localhost:{}/mcp",
        listener.local_addr().unwrap().port()
    );
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut hello = vec![0; 5];
        stream.read_exact(&mut hello).await.unwrap();
        let mut rest = vec![0; usize::from(hello[3]) << 8 | usize::from(hello[4])];
        stream.read_exact(&mut rest).await.unwrap();
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        (hello, rest)
    });
    let error = failure(&HttpChannel::new(&url).unwrap()).await;
    assert!(matches!(error, ChannelError::Connect { .. }), "{error:?}");
    let source = error.source().unwrap().to_string();
    assert!(source.contains("does not speak TLS"), "{source}");
    let (hello, rest) = server.await.unwrap();
    assert_eq!(hello[0], 0x16, "a handshake");
    let names = |name: &[u8]| rest.windows(name.len()).any(|window| window == name);
    assert!(names(b"localhost") && names(b"http/1.1"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn connecting_takes_no_longer_than_allowed() {
    // A full backlog: the kernel drops what comes, so that connecting hangs.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut filling = Vec::new();
    loop {
        match timeout(Duration::from_millis(200), TcpStream::connect(address)).await {
            Ok(Ok(stream)) => filling.push(stream),
            Ok(Err(error)) => panic!("{error}"),
            Err(_) => break,
        }
    }
    let http = HttpClient::builder()
        .connect_timeout(Duration::from_millis(100))
        .build()
        .unwrap();
    let channel = HttpChannel::with_service(format!("http://{address}/"), http).unwrap();
    let error = failure(&channel).await;
    let ChannelError::Connect { source, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(source.to_string(), "the request timed out");
}

#[tokio::test]
async fn proxy_gets_requests_to_other_machines_only() {
    let proxy = Raw::start(vec![vec![JSON]]).await;
    let http = HttpClient::builder().proxy(&proxy.url).build().unwrap();
    let channel = HttpChannel::with_service("http://mcp.example/a", http.clone()).unwrap();
    assert_eq!(messages(&channel).await, ["{}"]);
    assert!(
        proxy
            .request()
            .starts_with("POST http://mcp.example/a HTTP/1.1")
    );
    let server = Raw::start(vec![vec![JSON]]).await;
    let channel = HttpChannel::with_service(&server.url, http).unwrap();
    assert_eq!(messages(&channel).await, ["{}"]);
}

#[tokio::test]
async fn resolver_from_the_program_finds_and_refuses_names() {
    let server = Raw::start(vec![vec![JSON]]).await;
    let http = HttpClient::builder()
        .no_proxy()
        .resolve_with(|name| async move {
            match &*name {
                "mcp.example" => Ok(vec![Ipv4Addr::LOCALHOST.into()]),
                _ => Err(io::Error::other("this name is refused")),
            }
        })
        .build()
        .unwrap();
    let url = server.url.replace("127.0.0.1", "mcp.example");
    let channel = HttpChannel::with_service(url, http.clone()).unwrap();
    assert_eq!(messages(&channel).await, ["{}"]);
    let channel = HttpChannel::with_service("http://other.example/", http).unwrap();
    let ChannelError::Connect { source, .. } = failure(&channel).await else {
        panic!("the name was resolved")
    };
    assert_eq!(source.to_string(), "this name is refused");
}

#[tokio::test]
async fn name_with_a_refused_address_is_not_connected() {
    let server = Raw::start(vec![vec![JSON]]).await;
    let http = HttpClient::builder()
        .no_proxy()
        .resolve_with(|name| async move {
            let mut found = vec![Ipv4Addr::LOCALHOST.into()];
            if name == "two.example" {
                found.push(Ipv4Addr::new(10, 0, 0, 1).into());
            }
            Ok(found)
        })
        .check_addresses(|name, address| {
            if address.is_loopback() {
                return Ok(());
            }
            Err(io::Error::other(format!("{name} has a refused address")))
        })
        .build()
        .unwrap();
    let url = |name| server.url.replace("127.0.0.1", name);
    let channel = HttpChannel::with_service(url("two.example"), http.clone()).unwrap();
    let ChannelError::Connect { source, .. } = failure(&channel).await else {
        panic!("the client connected")
    };
    assert_eq!(source.to_string(), "two.example has a refused address");
    let channel = HttpChannel::with_service(url("one.example"), http).unwrap();
    assert_eq!(messages(&channel).await, ["{}"]);
}

#[tokio::test]
async fn addresses_from_the_operating_system_are_checked() {
    let server = Raw::start(vec![vec![JSON]]).await;
    let http = HttpClient::builder()
        .no_proxy()
        .check_addresses(|name, _| Err(io::Error::other(format!("{name} is refused"))))
        .build()
        .unwrap();
    let channel =
        HttpChannel::with_service(server.url.replace("127.0.0.1", "localhost"), http).unwrap();
    let ChannelError::Connect { source, .. } = failure(&channel).await else {
        panic!("the client connected")
    };
    assert_eq!(source.to_string(), "localhost is refused");
}

/// Serves one HTTPS response for `localhost`, with the certificate in `tls/server.pem`.
#[cfg(target_os = "linux")]
fn serve_tls() -> String {
    use std::io::{Read as _, Write as _};

    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use rustls::{ServerConfig, ServerConnection, StreamOwned};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "https://localhost:{}/",
        listener.local_addr().unwrap().port()
    );
    let certificate = CertificateDer::from_pem_slice(include_bytes!("tls/server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("tls/server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        // A client that does not trust the certificate ends the connection.
        let mut request = [0; 4096];
        if stream.read(&mut request).is_ok() {
            let _ = stream.write_all(JSON);
        }
    });
    url
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn added_root_certificate_is_trusted() {
    let root = include_bytes!("tls/root.pem");
    let http = HttpClient::builder().root_certificates(root).build();
    let channel = HttpChannel::with_service(serve_tls(), http.unwrap()).unwrap();
    assert_eq!(messages(&channel).await, ["{}"]);
    let error = failure(&HttpChannel::new(serve_tls()).unwrap()).await;
    assert!(matches!(error, ChannelError::Connect { .. }), "{error:?}");
}
