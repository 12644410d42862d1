//! States that are opened, and states that are not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_core::{Call, Principal};
use mcp_types::ReadResourceParams;

use super::{Refused, SealError, StateKeys, WeakSecret};
use crate::request_state::Binding;

const ONE: [u8; 32] = [1; 32];
const TWO: [u8; 32] = [2; 32];

fn binding(uri: &str, who: Option<&str>) -> Binding {
    let who = who.map(|who| Principal::new("https://a.example", who));
    let call = Call::ReadResource(ReadResourceParams::new(uri));
    Binding::of(&call, who.as_ref())
}

fn keys() -> StateKeys {
    StateKeys::new(ONE).unwrap()
}

#[test]
fn opens_what_it_has_sealed_for_the_same_request_alone() {
    let here = binding("a://b", Some("ada"));
    let text = keys().seal(b"ticket 7", &here).unwrap();
    assert!(!text.contains("ticket"), "{text}");
    assert!(!text.contains(['+', '/', '=', ' ']), "{text}");
    assert_eq!(keys().open(&text, &here), Ok(b"ticket 7".to_vec()));
    assert_ne!(keys().seal(b"ticket 7", &here).unwrap(), text);
    for other in [
        binding("a://c", Some("ada")),
        binding("a://b", Some("bob")),
        binding("a://b", None),
    ] {
        assert_eq!(keys().open(&text, &other), Err(Refused));
    }
    assert_eq!(
        StateKeys::random().unwrap().open(&text, &here),
        Err(Refused)
    );
}

#[test]
fn no_byte_may_be_another() {
    let here = binding("a://b", None);
    let text = keys().seal(b"x", &here).unwrap();
    let sealed = URL_SAFE_NO_PAD.decode(&text).unwrap();
    for index in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[index] ^= 1;
        let changed = URL_SAFE_NO_PAD.encode(changed);
        assert_eq!(keys().open(&changed, &here), Err(Refused), "{index}");
        let cut = URL_SAFE_NO_PAD.encode(&sealed[..index]);
        assert_eq!(keys().open(&cut, &here), Err(Refused), "{index}");
    }
    for made_up in ["", "AA", "-TAMPERED", "é", &format!("{text}-TAMPERED")] {
        assert_eq!(keys().open(made_up, &here), Err(Refused), "{made_up}");
    }
    let long = "A".repeat(10_000_000);
    assert_eq!(keys().open(&long, &here), Err(Refused));
}

#[test]
fn time_runs_out() {
    let here = binding("a://b", None);
    let time = Arc::new(AtomicU64::new(1000));
    let clock = time.clone();
    let keys = keys()
        .lifetime(Duration::from_secs(60))
        .clock(move || UNIX_EPOCH + Duration::from_secs(clock.load(Ordering::Relaxed)));
    let text = keys.seal(b"x", &here).unwrap();
    for (now, good) in [(1000, true), (1059, true), (1060, false), (9999, false)] {
        time.store(now, Ordering::Relaxed);
        assert_eq!(keys.open(&text, &here).is_ok(), good, "{now}");
    }
}

#[test]
fn keys_take_turns() {
    let here = binding("a://b", None);
    let old = keys().seal(b"x", &here).unwrap();
    let turned = StateKeys::new(TWO).unwrap().former(ONE).unwrap();
    assert_eq!(turned.open(&old, &here), Ok(b"x".to_vec()));
    let new = turned.seal(b"x", &here).unwrap();
    assert_eq!(keys().open(&new, &here), Err(Refused));
    assert_eq!(
        StateKeys::new(TWO).unwrap().open(&new, &here),
        Ok(b"x".to_vec())
    );
}

#[test]
fn secrets_are_long_and_states_are_short() {
    assert_eq!(
        StateKeys::new("hunter2").unwrap_err(),
        WeakSecret { bytes: 7 }
    );
    assert!(keys().former([0; 31]).is_err());
    let keys = keys().max_bytes(10);
    let here = binding("a://b", None);
    let most = keys.seal(&[b'x'; 10], &here).unwrap();
    assert!(keys.open(&most, &here).is_ok());
    let error = SealError::TooLarge {
        bytes: 11,
        most: 10,
    };
    assert_eq!(keys.seal(&[b'x'; 11], &here), Err(error));
    assert!(!format!("{keys:?}").contains('1'.to_string().repeat(3).as_str()));
}
