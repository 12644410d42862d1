//! Deadlines, and the invariant that every request leaves the table exactly once.

use std::time::{Duration, Instant};

use mcp_types::RequestId;
use proptest::prelude::*;

use super::{InsertError, PendingRequests, RequestIds, RequestTimeouts};

const FOREVER: RequestTimeouts = RequestTimeouts {
    idle: Duration::MAX,
    total: Duration::MAX,
};

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

#[test]
fn progress_moves_the_deadline_up_to_the_total() {
    let start = Instant::now();
    let mut pending = PendingRequests::new(8, RequestIds::default());
    let timeouts = RequestTimeouts {
        idle: seconds(10),
        total: seconds(25),
    };
    let id = pending.insert(start, timeouts, ()).unwrap();
    for (progress, deadline) in [(0, 10), (9, 19), (18, 25), (24, 25)] {
        assert!(pending.touch(&id, start + seconds(progress)).is_some());
        assert_eq!(pending.next_deadline(), Some(start + seconds(deadline)));
    }
    assert_eq!(pending.pop_expired(start + seconds(24)), None);
    assert_eq!(
        pending.pop_expired(start + seconds(25)),
        Some((id.clone(), ()))
    );
    assert_eq!(pending.pop_expired(start + seconds(25)), None);
    assert_eq!(pending.touch(&id, start), None);
    assert_eq!(pending.next_deadline(), None);
}

#[test]
fn request_without_timeouts_has_no_deadline() {
    let now = Instant::now();
    let mut pending = PendingRequests::new(2, RequestIds::default());
    pending.insert(now, FOREVER, ()).unwrap();
    pending.insert(now, FOREVER, ()).unwrap();
    assert_eq!(pending.next_deadline(), None);
    assert_eq!(pending.len(), 2);
}

#[test]
fn full_or_closed_table_refuses_requests() {
    let now = Instant::now();
    let mut pending = PendingRequests::new(1, RequestIds::default());
    let open = |pending: &mut PendingRequests<()>| pending.insert(now, FOREVER, ());
    let first = open(&mut pending).unwrap();
    assert_eq!(open(&mut pending), Err(InsertError::Full));
    assert_eq!(pending.remove(&first), Some(()));
    assert!(open(&mut pending).is_ok());
    assert_eq!(pending.close().count(), 1);
    assert_eq!(open(&mut pending), Err(InsertError::Closed));
    assert_eq!(pending.len(), 0);
}

#[test]
fn generator_contains_the_ids_it_made() {
    let mut pending = PendingRequests::new(1, RequestIds::default());
    let id = pending.insert(Instant::now(), FOREVER, ()).unwrap();
    assert!(pending.ids().contains(&id));
    for foreign in [0.into(), 2.into(), RequestId::from("1")] {
        assert!(!pending.ids().contains(&foreign));
    }
}

/// Reused request ids: the late response to an earlier request was taken for the response to a new
/// request with the same id.
#[test]
fn request_ids_are_not_reused() {
    // spec: BASE-04
    let now = Instant::now();
    let timeouts = RequestTimeouts {
        idle: seconds(1),
        ..FOREVER
    };
    let mut pending = PendingRequests::new(2, RequestIds::default());
    let first = pending.insert(now, timeouts, "first").unwrap();
    assert_eq!(pending.remove(&first), Some("first"));
    let second = pending.insert(now, timeouts, "second").unwrap();
    assert_ne!(first, second);
    // A late or repeated response matches no request.
    assert_eq!(pending.remove(&first), None);
    assert_eq!(
        pending.pop_expired(now + Duration::from_secs(2)),
        Some((second, "second"))
    );
    let third = pending.insert(now, timeouts, "third").unwrap();
    // An id of another JSON type is another id.
    let RequestId::Number(number) = third else {
        panic!("{third:?}")
    };
    assert_eq!(pending.remove(&number.to_string().as_str().into()), None);
    assert_eq!(pending.remove(&number.into()), Some("third"));
}

/// Operations on a table. Requests are numbered in the order of their insertion.
#[derive(Debug, Clone)]
enum Step {
    Open {
        idle: Option<u64>,
        total: Option<u64>,
    },
    Settle(usize),
    Touch(usize),
    Wait(u64),
    Close,
}

fn step() -> impl Strategy<Value = Step> {
    let time = || proptest::option::of(0..20u64);
    prop_oneof![
        8 => (time(), time()).prop_map(|(idle, total)| Step::Open { idle, total }),
        4 => (0..40usize).prop_map(Step::Settle),
        4 => (0..40usize).prop_map(Step::Touch),
        4 => (0..10u64).prop_map(Step::Wait),
        1 => Just(Step::Close),
    ]
}

proptest! {
    /// I7: every request leaves exactly once, never after its deadline and never before its
    /// insertion.
    #[test]
    fn every_request_leaves_the_table_exactly_once(steps in proptest::collection::vec(step(), 0..80)) {
        let mut now = Instant::now();
        let mut pending = PendingRequests::new(16, RequestIds::default());
        let mut ids = Vec::new();
        let mut left = Vec::new();
        for step in steps {
            match step {
                Step::Open { idle, total } => {
                    let timeouts = RequestTimeouts {
                        idle: idle.map_or(Duration::MAX, seconds),
                        total: total.map_or(Duration::MAX, seconds),
                    };
                    if let Ok(id) = pending.insert(now, timeouts, ids.len()) {
                        ids.push(id);
                    }
                }
                Step::Settle(at) => {
                    left.extend(ids.get(at).and_then(|id| pending.remove(id)));
                }
                Step::Touch(at) => {
                    let touched = ids.get(at).and_then(|id| pending.touch(id, now)).copied();
                    prop_assert_eq!(touched.is_some(), at < ids.len() && !left.contains(&at));
                }
                Step::Wait(time) => {
                    now += seconds(time);
                    while let Some((id, slot)) = pending.pop_expired(now) {
                        prop_assert_eq!(&ids[slot], &id);
                        left.push(slot);
                    }
                    prop_assert!(pending.next_deadline().is_none_or(|deadline| deadline > now));
                }
                Step::Close => left.extend(pending.close().map(|(_, slot)| slot)),
            }
            prop_assert_eq!(pending.len(), ids.len() - left.len());
        }
        left.extend(pending.close().map(|(_, slot)| slot));
        left.sort_unstable();
        prop_assert_eq!(left, (0..ids.len()).collect::<Vec<_>>());
        prop_assert_eq!(pending.next_deadline(), None);
    }
}
