//! Sessions that make room for others.

use super::*;
use crate::server::{SessionEnd, SessionEvent};

const SECOND: Duration = Duration::from_secs(1);

/// Creates an endpoint, and the ids of its evicted sessions.
fn limited(sessions: Sessions) -> (Endpoint, Arc<Mutex<Vec<String>>>) {
    let evicted = Arc::<Mutex<Vec<String>>>::default();
    let seen = evicted.clone();
    let endpoint = endpoint().0.allowed_hosts(["localhost"]).sessions(sessions);
    let endpoint = endpoint.on_session(move |event| {
        if let SessionEvent::Closed { id, reason } = event
            && reason == SessionEnd::Evicted
        {
            seen.lock().unwrap().push(id.to_owned());
        }
    });
    (endpoint, evicted)
}

/// Opens a session whose client does not complete the handshake.
async fn begin(mut peer: Peer) -> Peer {
    let got = peer.send(initialize("2025-11-25")).await;
    assert_eq!(got.status, 200);
    peer.session = got.header(names::MCP_SESSION_ID.as_str());
    tokio::time::sleep(SECOND).await;
    peer
}

async fn open(peer: Peer) -> Peer {
    let peer = peer.begin().await;
    tokio::time::sleep(SECOND).await;
    peer
}

fn from(endpoint: &Endpoint, address: &str) -> Peer {
    let mut peer = Peer::new(endpoint);
    peer.address = Some(address.parse().unwrap());
    peer
}

fn of(endpoint: &Endpoint, subject: &str) -> Peer {
    let mut peer = Peer::new(endpoint);
    peer.principal = Some(Principal::new("issuer", subject));
    peer
}

fn ids<'a>(peers: impl IntoIterator<Item = &'a Peer>) -> Vec<String> {
    let ids = peers.into_iter().map(|peer| peer.session.clone().unwrap());
    ids.collect()
}

#[tokio::test(start_paused = true)]
async fn oldest_session_that_is_not_ready_makes_room_first() {
    // spec: SESS-13
    let (endpoint, evicted) = limited(Sessions::in_memory().max(4));
    let idle = open(Peer::new(&endpoint)).await;
    let first = begin(Peer::new(&endpoint)).await;
    let second = begin(of(&endpoint, "ada")).await;
    let busy = open(Peer::new(&endpoint)).await;
    let third = begin(Peer::new(&endpoint)).await;
    assert_eq!(*evicted.lock().unwrap(), ids([&first]));
    assert_eq!(first.tool(1, "echo").await.refusal().await, (404, -32001));
    open(Peer::new(&endpoint)).await;
    open(Peer::new(&endpoint)).await;
    assert_eq!(*evicted.lock().unwrap(), ids([&first, &second, &third]));
    for peer in [&idle, &busy] {
        assert_eq!(peer.tool(1, "echo").await.status, 200);
    }
    assert_eq!(endpoint.session_count(), 4);
}

/// Some clients never send `notifications/initialized`.
#[tokio::test(start_paused = true)]
async fn session_that_is_used_without_initialized_makes_room_as_an_idle_one() {
    let (endpoint, evicted) = limited(Sessions::in_memory().max(3));
    let calling = begin(Peer::new(&endpoint)).await;
    let call = calling.tool(1, "wait").await;
    let used = begin(Peer::new(&endpoint)).await;
    assert_eq!(used.tool(1, "echo").await.status, 200);
    let unused = begin(Peer::new(&endpoint)).await;
    open(Peer::new(&endpoint)).await;
    open(Peer::new(&endpoint)).await;
    assert_eq!(*evicted.lock().unwrap(), ids([&unused, &used]));
    drop(call);
}

#[tokio::test(start_paused = true)]
async fn longest_idle_anonymous_session_makes_room_second() {
    let (endpoint, evicted) = limited(Sessions::in_memory().max(6));
    let authenticated = open(of(&endpoint, "ada")).await;
    let reading = open(Peer::new(&endpoint)).await;
    let stream = reading.get().await;
    let calling = open(Peer::new(&endpoint)).await;
    let call = calling.tool(1, "wait").await;
    let active = open(Peer::new(&endpoint)).await;
    let idle = open(Peer::new(&endpoint)).await;
    let last = open(Peer::new(&endpoint)).await;
    assert_eq!(active.tool(1, "echo").await.status, 200);
    // An authenticated client takes the place of an anonymous one as well.
    let bob = open(of(&endpoint, "bob")).await;
    assert_eq!(*evicted.lock().unwrap(), ids([&idle]));
    assert_eq!(active.tool(2, "echo").await.status, 200);
    tokio::time::sleep(SECOND).await;
    let carol = open(of(&endpoint, "carol")).await;
    let dave = open(of(&endpoint, "dave")).await;
    assert_eq!(*evicted.lock().unwrap(), ids([&idle, &last, &active]));
    // Nobody is left whose place may be taken.
    for peer in [Peer::new(&endpoint), of(&endpoint, "eve")] {
        let refused = peer.send(initialize("2025-11-25")).await;
        assert_eq!(refused.header("retry-after").as_deref(), Some("5"));
        assert_eq!(refused.status, 503);
    }
    for peer in [&authenticated, &reading, &calling, &bob, &carol, &dave] {
        assert_eq!(peer.tool(9, "echo").await.status, 200);
    }
    drop((stream, call));
    tokio::time::sleep(2 * SECOND).await;
    open(Peer::new(&endpoint)).await;
    assert_eq!(evicted.lock().unwrap()[3..], ids([&reading]));
}

#[tokio::test(start_paused = true)]
async fn address_at_its_share_takes_its_own_places() {
    let sessions = Sessions::in_memory().max(100).max_per_address(2);
    let (endpoint, evicted) = limited(sessions);
    let other = begin(from(&endpoint, "192.0.2.2")).await;
    let first = begin(from(&endpoint, "192.0.2.1")).await;
    let second = open(from(&endpoint, "192.0.2.1")).await;
    let third = open(from(&endpoint, "192.0.2.1")).await;
    let fourth = open(from(&endpoint, "192.0.2.1")).await;
    assert_eq!(*evicted.lock().unwrap(), ids([&first, &second]));
    // Both sessions of the address are in use.
    let streams = (third.get().await, fourth.get().await);
    let peer = from(&endpoint, "192.0.2.1");
    let refused = peer.send(initialize("2025-11-25")).await;
    assert_eq!(refused.status, 503);
    let message = refused.json().await["error"]["message"].clone();
    assert!(
        message.as_str().unwrap().contains("your address"),
        "{message}"
    );
    // The share is of anonymous clients, and of known addresses other than loopback.
    let mut known = of(&endpoint, "ada");
    known.address = peer.address;
    open(known).await;
    for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
        for _ in 0..3 {
            open(from(&endpoint, address)).await;
        }
    }
    for _ in 0..3 {
        open(Peer::new(&endpoint)).await;
    }
    // One IPv6 network is one client.
    for host in ["2001:db8::1", "2001:db8::2", "2001:db8::3"] {
        begin(from(&endpoint, host)).await;
    }
    assert_eq!(evicted.lock().unwrap().len(), 3);
    assert_eq!(other.tool(1, "echo").await.status, 200);
    drop(streams);
}

#[tokio::test(start_paused = true)]
async fn session_flood_does_not_lock_out_new_clients() {
    let (endpoint, evicted) = limited(Sessions::in_memory().max(50));
    let working = open(of(&endpoint, "ada")).await;
    for round in 0..500 {
        let got = Peer::new(&endpoint).send(initialize("2025-11-25")).await;
        assert_eq!(got.status, 200, "{round}");
    }
    assert_eq!(endpoint.session_count(), 50);
    assert_eq!(evicted.lock().unwrap().len(), 451);
    open(Peer::new(&endpoint)).await;
    assert_eq!(working.tool(1, "echo").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn evicted_session_frees_its_place_while_its_stream_is_open() {
    let (endpoint, _) = limited(Sessions::in_memory().max(1));
    let first = begin(Peer::new(&endpoint)).await;
    let stream = first.get().await;
    assert_eq!(stream.status, 200);
    let second = Peer::open(&endpoint).await;
    assert_eq!(endpoint.session_count(), 1);
    assert_eq!(stream.rest().await, []);
    assert_eq!(second.tool(1, "echo").await.status, 200);
}
