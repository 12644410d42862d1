use std::sync::Arc;

use tokio::task::JoinSet;
use tokio::task::yield_now;

use super::{CancelFlag, QueueClosed, WriteQueue};

async fn next_batch(queue: &WriteQueue) -> String {
    let mut bytes = Vec::new();
    assert!(queue.next_batch(&mut bytes).await);
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn next_batch_returns_all_messages() {
    let queue = WriteQueue::new(100);
    queue
        .send(&[b"{\"a\":", b"1}"], &CancelFlag::default())
        .await
        .unwrap();
    queue.push(b"{}").unwrap();
    assert_eq!(next_batch(&queue).await, "{\"a\":1}\n{}\n");
}

#[tokio::test]
async fn full_queue_serves_senders_in_order() {
    let queue = Arc::new(WriteQueue::new(4));
    let mut senders = JoinSet::new();
    for number in 0..10 {
        let queue = queue.clone();
        senders.spawn(async move {
            let text = format!("message {number}");
            queue.send(&[text.as_bytes()], &CancelFlag::default()).await
        });
        yield_now().await;
    }
    for number in 0..10 {
        assert_eq!(next_batch(&queue).await, format!("message {number}\n"));
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
async fn send_after_cancel_appends_nothing() {
    let queue = WriteQueue::new(100);
    let flag = CancelFlag::default();
    queue.send(&[b"before"], &flag).await.unwrap();
    queue.cancel(&flag);
    queue.send(&[b"after"], &flag).await.unwrap();
    assert_eq!(next_batch(&queue).await, "before\n");
}

#[tokio::test]
async fn close_keeps_queued_messages() {
    let queue = WriteQueue::new(100);
    queue.push(b"last").unwrap();
    queue.close();
    assert_eq!(queue.push(b"late"), Err(QueueClosed));
    assert_eq!(next_batch(&queue).await, "last\n");
    assert!(!queue.next_batch(&mut Vec::new()).await);
}

#[tokio::test]
async fn abort_wakes_waiting_senders() {
    let queue = Arc::new(WriteQueue::new(1));
    queue.push(b"stuck").unwrap();
    let mut senders = JoinSet::new();
    for _ in 0..3 {
        let queue = queue.clone();
        senders.spawn(async move { queue.send(&[b"x"], &CancelFlag::default()).await });
    }
    yield_now().await;
    queue.abort();
    assert_eq!(
        senders.join_all().await,
        [Err(QueueClosed), Err(QueueClosed), Err(QueueClosed)]
    );
    assert!(!queue.next_batch(&mut Vec::new()).await);
}
