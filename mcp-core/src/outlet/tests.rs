//! Queueing, waiting and dropping of notifications.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mcp_types::{LogMessage, LoggingLevel, ProgressUpdate, RawObject};

use super::{NotificationBuffer, Outlet};
use crate::wire::MODERN;
use crate::{Framing, ServerNotification};

const LINES: Framing = Framing::new(b"", b"\n");

fn poll<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

fn outlet(limit: usize) -> (Outlet, Arc<NotificationBuffer>) {
    let buffer = Arc::new(NotificationBuffer::new(MODERN, LINES).limit(limit));
    let level = Some(LoggingLevel::Warning);
    (Outlet::new(Some(1.into()), level, buffer.clone()), buffer)
}

fn drain(buffer: &NotificationBuffer) -> Vec<String> {
    let bytes = buffer.drain();
    std::str::from_utf8(&bytes)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn outlet_without_token_and_level_sends_nothing() {
    let buffer = Arc::new(NotificationBuffer::new(MODERN, LINES));
    let outlet = Outlet::new(None, None, buffer.clone());
    assert!(!outlet.wants_progress());
    assert!(!outlet.wants_log(LoggingLevel::Emergency));
    assert!(poll(outlet.report_progress(ProgressUpdate::new(1.0))).is_ready());
    outlet.log(LogMessage::new(LoggingLevel::Error, "x"));
    assert!(buffer.is_empty());
}

#[test]
fn close_affects_one_of_several_outlets_on_a_buffer() {
    let buffer = Arc::new(NotificationBuffer::new(MODERN, LINES));
    let outlet = |token: i64| Outlet::new(Some(token.into()), None, buffer.clone());
    let (first, second) = (outlet(1), outlet(2));
    for outlet in [&first, &second] {
        assert!(poll(outlet.report_progress(ProgressUpdate::new(1.0))).is_ready());
    }
    first.close();
    for outlet in [&first, &second] {
        assert!(poll(outlet.report_progress(ProgressUpdate::new(2.0))).is_ready());
    }
    let lines = drain(&buffer);
    let of_second = |line: &&String| line.contains(r#""progressToken":2"#);
    assert_eq!(
        (lines.len(), lines.iter().filter(of_second).count()),
        (3, 2)
    );
}

#[test]
fn progress_that_does_not_grow_and_logs_below_the_level_are_dropped() {
    let (outlet, buffer) = outlet(1000);
    for progress in [1.0, 0.5, 1.0, f64::NAN, 2.0] {
        assert!(poll(outlet.report_progress(ProgressUpdate::new(progress).of(2.0))).is_ready());
    }
    outlet.log(LogMessage::new(LoggingLevel::Info, "not wanted"));
    outlet.log(LogMessage::new(LoggingLevel::Error, "wanted"));
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
    let (outlet, buffer) = outlet(1000);
    for progress in [f64::NEG_INFINITY, f64::INFINITY, 1.0] {
        let progress = ProgressUpdate::new(progress).of(f64::INFINITY);
        assert!(poll(outlet.report_progress(progress)).is_ready());
    }
    let lines = drain(&buffer);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].ends_with(r#""progress":1}}"#), "{lines:?}");
}

#[test]
fn full_replacing_buffer_keeps_the_newest_report() {
    let buffer = Arc::new(
        NotificationBuffer::new(MODERN, LINES)
            .limit(1)
            .replacing_when_full(),
    );
    let outlet = Outlet::new(Some(1.into()), None, buffer.clone());
    assert!(buffer.push(b"question"));
    for progress in 1..5 {
        assert!(poll(outlet.report_progress(ProgressUpdate::new(f64::from(progress)))).is_ready());
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
fn closed_outlet_sends_nothing_after_the_answer() {
    let (outlet, buffer) = outlet(1000);
    buffer.finish(b"answer\n");
    outlet.close();
    assert!(poll(outlet.report_progress(ProgressUpdate::new(1.0))).is_ready());
    outlet.log(LogMessage::new(LoggingLevel::Error, "late"));
    assert_eq!(drain(&buffer), ["answer"]);
    let end = buffer.poll_drain(&mut Context::from_waker(Waker::noop()));
    assert_eq!(end, Poll::Ready(None));
}

#[test]
fn full_buffer_delays_reports_and_drops_logs() {
    let (outlet, buffer) = outlet(1);
    assert!(poll(outlet.report_progress(ProgressUpdate::new(1.0))).is_ready());
    let mut waiting = pin!(outlet.report_progress(ProgressUpdate::new(2.0)));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(cx).is_pending());
    assert!(buffer.has_blocked_writer());
    outlet.log(LogMessage::new(LoggingLevel::Error, "lost"));

    assert_eq!(drain(&buffer).len(), 1);
    assert!(!buffer.has_blocked_writer());
    assert!(waiting.as_mut().poll(cx).is_ready());
    assert_eq!(drain(&buffer).len(), 1);
}

#[test]
fn stalled_reader_gets_the_newest_report() {
    let (outlet, buffer) = outlet(1);
    assert!(poll(outlet.report_progress(ProgressUpdate::new(1.0))).is_ready());
    let mut waiting = pin!(outlet.report_progress(ProgressUpdate::new(2.0)));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(waiting.as_mut().poll(cx).is_pending());
    buffer.mark_stalled();
    assert!(waiting.as_mut().poll(cx).is_ready());
    for progress in 3..100 {
        assert!(poll(outlet.report_progress(ProgressUpdate::new(f64::from(progress)))).is_ready());
    }
    buffer.finish(b"answer\n");
    let lines = drain(&buffer);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[1].contains("99"), "{lines:?}");
    assert_eq!(lines[2], "answer");
}

#[test]
fn closed_buffer_keeps_nothing() {
    let (outlet, buffer) = outlet(1);
    assert!(poll(outlet.report_progress(ProgressUpdate::new(1.0))).is_ready());
    buffer.close();
    assert!(poll(outlet.report_progress(ProgressUpdate::new(2.0))).is_ready());
    buffer.finish(b"answer");
    assert!(buffer.is_empty());
}

#[test]
fn mapped_outlet_changes_and_suppresses_each_notification_in_order() {
    let (outlet, buffer) = outlet(1000);
    let inner = outlet.clone().map(|notification| match notification {
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
    // The end of the call closes the mapped outlet, too.
    outlet.close();
    assert!(poll(both.report_progress(ProgressUpdate::new(4.0))).is_ready());
    both.log(LogMessage::new(LoggingLevel::Error, "late"));
    assert!(drain(&buffer).is_empty());
}

#[test]
fn panic_of_a_map_drops_only_the_notification() {
    let (outlet, buffer) = outlet(1000);
    let mapped = outlet.clone().map(|_| panic!("hunter2"));
    assert!(poll(mapped.report_progress(ProgressUpdate::new(1.0))).is_ready());
    assert!(poll(outlet.report_progress(ProgressUpdate::new(2.0))).is_ready());
    assert_eq!(drain(&buffer).len(), 1);
}

// spec: EXT-05
#[test]
fn notification_of_an_extension_needs_an_open_outlet() {
    assert!(poll(Outlet::none().notify("notifications/x", None)).is_ready());
    let (outlet, buffer) = outlet(1000);
    let params = RawObject::from_text(r#"{"a":1}"#).ok();
    assert!(poll(outlet.notify("notifications/x", params)).is_ready());
    let lines = drain(&buffer);
    assert!(
        lines[0].contains(r#""method":"notifications/x","params":{"a":1}"#),
        "{lines:?}"
    );
}
