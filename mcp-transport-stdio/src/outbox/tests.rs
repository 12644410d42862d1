//! The bound of the outbox, and its ends.

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio::task::yield_now;

use super::{Ended, Outbox, Permit};

async fn taken(outbox: &Outbox) -> String {
    let mut bytes = Vec::new();
    assert!(outbox.take(&mut bytes).await);
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn the_writer_takes_all_there_is() {
    let outbox = Outbox::new(100);
    outbox
        .send(&[b"{\"a\":", b"1}"], &Permit::default())
        .await
        .unwrap();
    outbox.push(b"{}").unwrap();
    assert_eq!(taken(&outbox).await, "{\"a\":1}\n{}\n");
}

#[tokio::test]
async fn senders_wait_in_line() {
    let outbox = Arc::new(Outbox::new(4));
    let mut senders = JoinSet::new();
    for number in 0..10 {
        let outbox = outbox.clone();
        senders.spawn(async move {
            let text = format!("message {number}");
            outbox.send(&[text.as_bytes()], &Permit::default()).await
        });
        yield_now().await;
    }
    for number in 0..10 {
        assert_eq!(taken(&outbox).await, format!("message {number}\n"));
    }
    assert!(
        senders
            .join_all()
            .await
            .into_iter()
            .all(|sent| sent.is_ok())
    );
}

#[cfg(feature = "server")]
#[tokio::test]
async fn a_revoked_permit_sends_nothing() {
    let outbox = Outbox::new(100);
    let permit = Permit::default();
    outbox.send(&[b"before"], &permit).await.unwrap();
    outbox.revoke(&permit);
    outbox.send(&[b"after"], &permit).await.unwrap();
    assert_eq!(taken(&outbox).await, "before\n");
}

#[tokio::test]
async fn what_was_sent_before_the_end_is_written() {
    let outbox = Outbox::new(100);
    outbox.push(b"last").unwrap();
    outbox.end();
    assert_eq!(outbox.push(b"late"), Err(Ended));
    assert_eq!(taken(&outbox).await, "last\n");
    assert!(!outbox.take(&mut Vec::new()).await);
}

#[tokio::test]
async fn nobody_waits_for_a_broken_pipe() {
    let outbox = Arc::new(Outbox::new(1));
    outbox.push(b"stuck").unwrap();
    let mut senders = JoinSet::new();
    for _ in 0..3 {
        let outbox = outbox.clone();
        senders.spawn(async move { outbox.send(&[b"x"], &Permit::default()).await });
    }
    yield_now().await;
    outbox.break_off();
    assert_eq!(
        senders.join_all().await,
        [Err(Ended), Err(Ended), Err(Ended)]
    );
    assert!(!outbox.take(&mut Vec::new()).await);
}
