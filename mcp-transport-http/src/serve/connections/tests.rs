//! When a connection has had its time.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{AtWork, Connections, Guest, Limits, Told};
use crate::Shutdown;

const HEAD: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(60);

fn start() -> (Arc<Connections>, Shutdown) {
    let connections = Arc::<Connections>::default();
    let shutdown = Shutdown::new();
    let limits = Limits {
        head_timeout: HEAD,
        idle_timeout: IDLE,
    };
    tokio::spawn(Arc::clone(&connections).tend(limits, shutdown.clone()));
    (connections, shutdown)
}

/// Waits until it is told something else than `before`; after how long, and what.
async fn told(guest: &mut Guest, before: Told) -> (Duration, Told) {
    let begun = Instant::now();
    let told = poll_fn(|cx| match guest.told(cx) {
        told if told == before => Poll::Pending,
        told => Poll::Ready(told),
    });
    let told = told.await;
    (begun.elapsed(), told)
}

#[tokio::test(start_paused = true)]
async fn clocks() {
    type Before = fn(&Guest);
    let silent: Before = |_| {};
    let answered: Before = |guest| drop(AtWork::begin(&guest.signs));
    let next_head: Before = |guest| {
        drop(AtWork::begin(&guest.signs));
        guest.signs.note_read();
    };
    let not_taken: Before = |guest| {
        std::mem::forget(AtWork::begin(&guest.signs));
        guest.signs.note_write(&Poll::Pending);
    };
    for (name, before, least) in [
        ("silent", silent, HEAD),
        ("idle", answered, IDLE),
        ("a head that does not end", next_head, HEAD),
        ("an answer that is not taken", not_taken, IDLE),
    ] {
        let (connections, _) = start();
        sleep(Duration::from_millis(1)).await;
        let mut guest = connections.enter();
        before(&guest);
        let (after, what) = told(&mut guest, Told::Nothing).await;
        assert_eq!(what, Told::End, "{name}");
        assert!(after >= least && after <= least + HEAD, "{name}: {after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_call_is_left_alone() {
    let (connections, _) = start();
    let mut guest = connections.enter();
    let call = AtWork::begin(&guest.signs);
    tokio::select! {
        _ = told(&mut guest, Told::Nothing) => panic!("it was told to end"),
        () = sleep(100 * IDLE) => {}
    }
    drop(call);
    assert_eq!(told(&mut guest, Told::Nothing).await.1, Told::End);
}

#[tokio::test(start_paused = true)]
async fn who_has_drained_hears_of_the_end() {
    let (connections, shutdown) = start();
    let mut guest = connections.enter();
    let _busy = AtWork::begin(&guest.signs);
    let stop = async {
        sleep(Duration::from_secs(1)).await;
        shutdown.drain();
        sleep(Duration::from_secs(1)).await;
        shutdown.close();
    };
    let guest = async {
        assert_eq!(told(&mut guest, Told::Nothing).await.1, Told::Drain);
        let (after, what) = told(&mut guest, Told::Drain).await;
        assert_eq!(what, Told::End);
        assert!(after < HEAD, "{after:?}");
    };
    let both = async { tokio::join!(guest, stop) };
    tokio::time::timeout(IDLE, both).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn all_hear_of_the_end() {
    let (connections, shutdown) = start();
    let mut guest = connections.enter();
    let _busy = AtWork::begin(&guest.signs);
    let drain = async {
        sleep(Duration::from_secs(1)).await;
        shutdown.drain();
    };
    let ((_, what), ()) = tokio::join!(told(&mut guest, Told::Nothing), drain);
    assert_eq!(what, Told::Drain);
    let mut late = connections.enter();
    assert_eq!(told(&mut late, Told::Nothing).await.1, Told::Drain);
    shutdown.close();
    assert_eq!(told(&mut guest, Told::Drain).await.1, Told::End);
    assert_eq!(told(&mut late, Told::Drain).await.1, Told::End);
    drop((guest, late));
    assert!(connections.state.lock().open.is_empty());
}
