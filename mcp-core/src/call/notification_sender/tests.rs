//! Queueing, waiting and dropping of notifications.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mcp_types::{LogMessage, LoggingLevel, ProgressUpdate, ProtocolVersion, RawObject};

use super::{NotificationBuffer, NotificationSender};
use crate::message::ServerNotification;
use crate::wire::LINE_FRAMING as LINES;

fn poll<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn notifications(limit: usize) -> (NotificationSender, Arc<NotificationBuffer>) {
    let buffer = Arc::new(NotificationBuffer::new(ProtocolVersion::LATEST, LINES).limit(limit));
    let level = Some(LoggingLevel::Warning);
    (
        NotificationSender::new(Some(1.into()), level, buffer.clone()),
        buffer,
    )
}

fn drain(buffer: &NotificationBuffer) -> Vec<String> {
    let bytes = buffer.drain();
    std::str::from_utf8(&bytes)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

// spec: LOG-04
#[test]
fn sender_without_token_and_level_sends_nothing() {
    let buffer = Arc::new(NotificationBuffer::new(ProtocolVersion::LATEST, LINES));
    let notifications = NotificationSender::new(None, None, buffer.clone());
    assert!(!notifications.wants_progress());
    assert!(!notifications.wants_log(LoggingLevel::Emergency));
    assert!(poll(notifications.report_progress(ProgressUpdate::new(1.0))).is_ready());
    notifications.log(LogMessage::new(LoggingLevel::Error, "x"));
    // A request that asks for progress alone.
    let progress_alone = NotificationSender::new(Some(1.into()), None, buffer.clone());
    progress_alone.log(LogMessage::new(LoggingLevel::Emergency, "x"));
    assert!(buffer.is_empty());
}

// spec: HTTP-SM-17
#[test]
fn sender_for_a_subscription_sends_neither_progress_nor_logs() {
    let buffer = Arc::new(NotificationBuffer::new(ProtocolVersion::LATEST, LINES));
    let notifications = NotificationSender::for_subscription(buffer.clone());
    assert!(poll(notifications.report_progress(ProgressUpdate::new(1.0))).is_ready());
    notifications.log(LogMessage::new(LoggingLevel::Emergency, "x"));
    assert!(buffer.is_empty());
}

// spec: PROG-02
#[test]
fn close_affects_only_one_sender_on_a_shared_buffer() {
    let buffer = Arc::new(NotificationBuffer::new(ProtocolVersion::LATEST, LINES));
    let notifications =
        |token: i64| NotificationSender::new(Some(token.into()), None, buffer.clone());
    let (first, second) = (notifications(1), notifications(2));
    for notifications in [&first, &second] {
        assert!(poll(notifications.report_progress(ProgressUpdate::new(1.0))).is_ready());
    }
    first.close();
    for notifications in [&first, &second] {
        assert!(poll(notifications.report_progress(ProgressUpdate::new(2.0))).is_ready());
    }
    let lines = drain(&buffer);
    let of_second = |line: &&String| line.contains(r#""progressToken":2"#);
    assert_eq!(
        (lines.len(), lines.iter().filter(of_second).count()),
        (3, 2)
    );
}

// spec: PROG-03
#[test]
fn progress_that_does_not_grow_and_logs_below_the_level_are_dropped() {
    let (notifications, buffer) = notifications(1000);
    for progress in [1.0, 0.5, 1.0, f64::NAN, 2.0] {
        assert!(
            poll(notifications.report_progress(ProgressUpdate::new(progress).of(2.0))).is_ready()
        );
    }
    notifications.log(LogMessage::new(LoggingLevel::Info, "not wanted"));
    notifications.log(LogMessage::new(LoggingLevel::Error, "wanted"));
    let lines = drain(&buffer);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[0].contains(r#""progressToken":1,"progress":1,"total":2"#),
        "{lines:?}"
    );
    assert!(lines[2].contains("wanted"), "{lines:?}");
}

#[test]
fn infinite_progress_is_dropped() {
    let (notifications, buffer) = notifications(1000);
    for progress in [f64::NEG_INFINITY, f64::INFINITY, 1.0] {
        let progress = ProgressUpdate::new(progress).of(f64::INFINITY);
        assert!(poll(notifications.report_progress(progress)).is_ready());
    }
    let lines = drain(&buffer);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].ends_with(r#""progress":1}}"#), "{lines:?}");
}

#[test]
fn full_replacing_buffer_keeps_the_newest_report() {
    let buffer = Arc::new(
        NotificationBuffer::new(ProtocolVersion::LATEST, LINES)
            .limit(1)
            .replacing_when_full(),
    );
    let notifications = NotificationSender::new(Some(1.into()), None, buffer.clone());
    assert!(buffer.push(b"question"));
    for progress in 1..5 {
        assert!(
            poll(notifications.report_progress(ProgressUpdate::new(f64::from(progress))))
                .is_ready()
        );
    }
    assert!(buffer.buffered() > "question\n".len());
    let lines = drain(&buffer);
    assert_eq!((lines.len(), &*lines[0]), (2, "question"));
    assert!(lines[1].contains("\"progress\":4"), "{lines:?}");
    assert!(!buffer.is_finished());
    buffer.close();
    assert!(buffer.is_finished() && !buffer.push(b"late"));
}

#[test]
fn closed_sender_sends_nothing_after_the_answer() {
    let (notifications, buffer) = notifications(1000);
    buffer.finish(b"answer\n");
    notifications.close();
    assert!(poll(notifications.report_progress(ProgressUpdate::new(1.0))).is_ready());
    notifications.log(LogMessage::new(LoggingLevel::Error, "late"));
    assert_eq!(drain(&buffer), ["answer"]);
    let end = buffer.poll_drain(&mut Context::from_waker(Waker::noop()));
    assert_eq!(end, Poll::Ready(None));
}

#[test]
fn full_buffer_delays_reports_and_drops_logs() {
    let (notifications, buffer) = notifications(1);
    assert!(poll(notifications.report_progress(ProgressUpdate::new(1.0))).is_ready());
    let mut waiting = pin!(notifications.report_progress(ProgressUpdate::new(2.0)));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(cx).is_pending());
    assert!(buffer.has_blocked_writer());
    notifications.log(LogMessage::new(LoggingLevel::Error, "lost"));

    assert_eq!(drain(&buffer).len(), 1);
    assert!(!buffer.has_blocked_writer());
    assert!(waiting.as_mut().poll(cx).is_ready());
    assert_eq!(drain(&buffer).len(), 1);
}

#[test]
fn stalled_reader_gets_the_newest_report() {
    let (notifications, buffer) = notifications(1);
    assert!(poll(notifications.report_progress(ProgressUpdate::new(1.0))).is_ready());
    let mut waiting = pin!(notifications.report_progress(ProgressUpdate::new(2.0)));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(cx).is_pending());
    buffer.mark_stalled();
    assert!(waiting.as_mut().poll(cx).is_ready());
    for progress in 3..100 {
        assert!(
            poll(notifications.report_progress(ProgressUpdate::new(f64::from(progress))))
                .is_ready()
        );
    }
    buffer.finish(b"answer\n");
    let lines = drain(&buffer);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[1].contains("99"), "{lines:?}");
    assert_eq!(lines[2], "answer");
}

#[test]
fn closed_buffer_keeps_nothing() {
    let (notifications, buffer) = notifications(1);
    assert!(poll(notifications.report_progress(ProgressUpdate::new(1.0))).is_ready());
    buffer.close();
    assert!(poll(notifications.report_progress(ProgressUpdate::new(2.0))).is_ready());
    buffer.finish(b"answer");
    assert!(buffer.is_empty());
}

#[test]
fn mapped_sender_changes_and_suppresses_each_notification_in_order() {
    let (notifications, buffer) = notifications(1000);
    let inner = notifications
        .clone()
        .map(|notification| match notification {
            ServerNotification::Progress { progress, .. } if progress.progress == 2.0 => None,
            other => Some(other),
        });
    let both = inner.map(|notification| match notification {
        ServerNotification::Progress {
            token,
            mut progress,
        } => {
            progress.total = Some(9.0);
            Some(ServerNotification::Progress { token, progress })
        }
        other => Some(other),
    });
    for progress in [1.0, 2.0, 3.0] {
        assert!(poll(both.report_progress(ProgressUpdate::new(progress))).is_ready());
    }
    both.log(LogMessage::new(LoggingLevel::Error, "log"));
    let lines = drain(&buffer);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains(r#""progress":1,"total":9"#), "{lines:?}");
    assert!(lines[1].contains(r#""progress":3,"total":9"#), "{lines:?}");
    assert!(lines[2].contains("log"), "{lines:?}");
    // The end of the call closes the mapped notifications, too.
    notifications.close();
    assert!(poll(both.report_progress(ProgressUpdate::new(4.0))).is_ready());
    both.log(LogMessage::new(LoggingLevel::Error, "late"));
    assert!(drain(&buffer).is_empty());
}

#[test]
fn panic_in_a_map_drops_only_the_notification() {
    let (notifications, buffer) = notifications(1000);
    let mapped = notifications.clone().map(|_| panic!("hunter2"));
    assert!(poll(mapped.report_progress(ProgressUpdate::new(1.0))).is_ready());
    assert!(poll(notifications.report_progress(ProgressUpdate::new(2.0))).is_ready());
    assert_eq!(drain(&buffer).len(), 1);
}

#[test]
fn extension_notification_needs_an_open_sender() {
    assert!(poll(NotificationSender::default().notify("notifications/x", None)).is_ready());
    let (notifications, buffer) = notifications(1000);
    let params = RawObject::from_text(r#"{"a":1}"#).ok();
    assert!(poll(notifications.notify("notifications/x", params)).is_ready());
    let lines = drain(&buffer);
    assert!(
        lines[0].contains(r#""method":"notifications/x","params":{"a":1}"#),
        "{lines:?}"
    );
}
