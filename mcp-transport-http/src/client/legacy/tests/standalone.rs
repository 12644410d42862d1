//! The order of the standalone GET stream and the first call.

use super::*;

/// Sends `notifications/initialized` and accepts it; the result is ready once the channel lets the
/// next call go out.
async fn initialized_elapsed(
    channel: &HttpChannel,
    server: &mut Server,
    answer_get: impl AsyncFnOnce(ReceivedRequest),
) -> Duration {
    initialize(channel, server, SESSION).await;
    let sent = async {
        channel.notify(note(Method::Initialized)).await.unwrap();
        Instant::now()
    };
    let serve = async {
        server.next().await.is("POST").status(202);
        let accepted = Instant::now();
        answer_get(server.next().await.is("GET")).await;
        accepted
    };
    let (ready, accepted) = futures::join!(sent, serve);
    ready - accepted
}

#[tokio::test(start_paused = true)]
async fn initialized_with_slow_get_waits_for_its_response() {
    for (status, delay) in [(200, 300), (405, 300), (200, 0)] {
        let (channel, mut server) = connect();
        let delay = Duration::from_millis(delay);
        let elapsed = initialized_elapsed(&channel, &mut server, async |get| {
            tokio::time::sleep(delay).await;
            match status {
                200 => drop(get.events()),
                _ => get.status(status),
            }
        });
        let elapsed = elapsed.await;
        let slack = Duration::from_millis(10);
        assert!(
            elapsed >= delay && elapsed < delay + slack,
            "{status}: {elapsed:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn initialized_with_held_get_waits_500_ms() {
    let (channel, mut server) = connect();
    let mut held = None;
    let elapsed = initialized_elapsed(&channel, &mut server, async |get| held = Some(get)).await;
    assert_eq!(elapsed.as_millis(), 500);
    // The stream is used when it opens late.
    let events = held.unwrap().events();
    let mut inbound = channel.inbound().unwrap();
    events.message(PING);
    assert_eq!(next(&mut inbound).await, PING);
}

#[tokio::test(start_paused = true)]
async fn initialized_without_standalone_stream_returns_at_once() {
    let (channel, mut server) = connect();
    let channel = channel.standalone_stream(false);
    initialize(&channel, &mut server, SESSION).await;
    let start = Instant::now();
    let accept = async { server.next().await.is("POST").status(202) };
    let (sent, ()) = futures::join!(channel.notify(note(Method::Initialized)), accept);
    sent.unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);
}
