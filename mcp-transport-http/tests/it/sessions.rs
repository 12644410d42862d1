//! The client of the facade in legacy sessions, against the server of this crate.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp::{Client, ConnectMode, ConnectWith as _};
use tokio::sync::Notify;

use crate::support::{dual_endpoint, start, text, within};

#[tokio::test]
async fn running_call_of_ended_session_is_not_repeated() {
    let runs = Arc::new(AtomicUsize::new(0));
    let started = Arc::new(Notify::new());
    let (counter, notify) = (Arc::clone(&runs), Arc::clone(&started));
    let endpoint = dual_endpoint(move |_| {
        let first = counter.fetch_add(1, Ordering::Relaxed) == 0;
        notify.notify_one();
        async move {
            if first {
                std::future::pending::<()>().await;
            }
            text("done")
        }
    });
    let server = start(endpoint.clone(), |serve| serve).await;
    let client = Client::builder().mode(ConnectMode::Legacy);
    let client = client.connect(format!("http://{}/mcp", server.addr));
    let client = within(client.into_future()).await.unwrap();
    let end = async {
        started.notified().await;
        endpoint.close_all();
    };
    let (result, ()) = within(async { tokio::join!(client.call("pay", ()), end) }).await;
    let error = result.unwrap_err();
    assert!(error.may_have_run() && error.is_closed(), "{error}");
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    // The next call opens another session.
    let result = within(client.call("pay", ()).into_future()).await.unwrap();
    assert_eq!(result.text(), "done");
    assert_eq!(runs.load(Ordering::Relaxed), 2);
}
