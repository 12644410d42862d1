//! The machine against tables of what may happen.

use std::time::Duration;

use http::StatusCode;

use super::{ATTEMPTS, HEALTHY, IDS, LEAST, LONGEST_ID, MOST, Next, Outcome, Resume};

const NEWS: Outcome = over(true, true, Duration::ZERO);
const POLL: Outcome = over(false, true, Duration::ZERO);
const NOTHING: Outcome = over(false, false, Duration::ZERO);

const fn over(news: bool, polls: bool, open: Duration) -> Outcome {
    Outcome::Over { news, polls, open }
}

fn refused(status: u16, retry_after: Option<u64>) -> Outcome {
    Outcome::Refused {
        status: StatusCode::from_u16(status).unwrap(),
        retry_after: retry_after.map(Duration::from_secs),
    }
}

/// Milliseconds of the waits, with the least and with the most of chance.
fn waits(retry: Option<u64>, outcomes: &[Outcome]) -> [Vec<Option<u128>>; 2] {
    [0.0, 1.0].map(|chance| {
        let mut resume = Resume::default();
        if let Some(retry) = retry {
            resume.retry(Duration::from_millis(retry));
        }
        let wait = |outcome: &Outcome| match resume.next(*outcome, chance) {
            Next::After(wait) => Some(wait.as_millis()),
            Next::GiveUp => None,
        };
        outcomes.iter().map(wait).collect()
    })
}

#[test]
fn the_server_says_how_long() {
    // spec: RSM-08
    assert_eq!(waits(Some(500), &[POLL]), [[Some(500)], [Some(550)]]);
    assert_eq!(waits(Some(5000), &[NEWS; 3])[0], [Some(5000); 3]);
    // It may not have its client spin.
    assert_eq!(waits(Some(0), &[NEWS]), [[Some(LEAST.as_millis())]; 2]);
    let forever = waits(Some(u64::MAX), &[NEWS]);
    assert_eq!(forever[0], [Some(u128::from(u64::MAX))]);
}

#[test]
fn without_news_the_waits_grow() {
    let [least, most] = waits(None, &[POLL; 12]);
    assert_eq!(least[..4], [500, 500, 1000, 2000].map(Some));
    assert_eq!(most[..4], [550, 1000, 2000, 4000].map(Some));
    assert_eq!(most[11], Some(MOST.as_millis()));
    assert_eq!(least[11], Some(MOST.as_millis() / 2));
    // A server that wants to be asked at once, again and again.
    let [least, _] = waits(Some(0), &[POLL; 12]);
    assert_eq!(least[..4], [100, 500, 1000, 2000].map(Some));
    assert_eq!(least[11], Some(MOST.as_millis() / 2));
    // What was open for long, or had news, is as good as new.
    for healthy in [NEWS, over(false, false, HEALTHY)] {
        let [_, most] = waits(None, &[POLL, POLL, POLL, healthy]);
        assert_eq!(most[3], Some(550), "{healthy:?}");
    }
}

#[test]
fn attempts_have_an_end() {
    let attempts = ATTEMPTS as usize;
    for nothing in [NOTHING, Outcome::Unreachable, refused(503, None)] {
        let [least, _] = waits(None, &vec![nothing; attempts + 1]);
        assert!(least[..attempts].iter().all(Option::is_some), "{nothing:?}");
        assert_eq!(least[attempts], None, "{nothing:?}");
    }
    // A server that keeps its client waiting is there.
    let [least, _] = waits(None, &[POLL; 1000]);
    assert!(least.iter().all(Option::is_some));
    // Success in between counts.
    let mut outcomes = vec![Outcome::Unreachable; attempts];
    outcomes.push(POLL);
    outcomes.extend(vec![Outcome::Unreachable; attempts]);
    assert!(waits(None, &outcomes)[0].iter().all(Option::is_some));
}

#[test]
fn refusals() {
    for status in [301, 400, 401, 403, 404, 405, 406, 410, 501] {
        assert_eq!(
            waits(None, &[refused(status, Some(1))])[0],
            [None],
            "{status}"
        );
    }
    for status in [408, 409, 425, 429, 500, 502, 503, 504] {
        let [least, _] = waits(None, &[refused(status, Some(7)), refused(status, None)]);
        assert_eq!(least, [7000, 500].map(Some), "{status}");
    }
}

#[test]
fn where_to_go_on() {
    let mut resume = Resume::default();
    let long = "x".repeat(LONGEST_ID + 1);
    for (id, expected) in [
        ("a_1", Some("a_1")),
        ("", None),
        ("b", Some("b")),
        ("line\nbreak", None),
        ("b", Some("b")),
        (&long, None),
        (&long[1..], Some(&long[1..])),
    ] {
        resume.mark(id);
        let last = resume.last_id().map(|id| id.to_str().unwrap());
        assert_eq!(last, expected);
    }
}

#[test]
fn what_came_before_does_not_come_again() {
    // spec: RSM-01
    let mut resume = Resume::default();
    // Some servers give several events the same id.
    for id in ["1", "2", "2", ""] {
        assert!(!resume.event(id), "{id}");
    }
    resume.next(POLL, 0.0);
    for (id, known) in [
        ("1", true),
        ("2", true),
        ("3", false),
        ("3", false),
        ("", false),
    ] {
        assert_eq!(resume.event(id), known, "{id}");
    }
    // The memory has an end, and the newest stay in it.
    for id in 0..3 * IDS {
        resume.event(&format!("n{id}"));
        if id % 100 == 0 {
            resume.next(POLL, 0.0);
        }
    }
    resume.next(POLL, 0.0);
    assert!(!resume.event("n0"));
    assert!(resume.event(&format!("n{}", 3 * IDS - 1)));
    let seen = &resume.seen;
    assert_eq!((seen.before.len(), seen.order.len()), (IDS, IDS));
}
