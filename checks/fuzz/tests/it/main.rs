//! Runs the targets with generated inputs: a fixed number in every test run, and with `FUZZ_SECONDS=N`
//! new ones for `N` seconds per target.

#![allow(missing_docs, reason = "test code")]

mod schemas;

use std::time::{Duration, Instant};

use allocation_counter::measure;
use fuzz::Target;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Inputs of one round.
const CASES: u32 = 256;
/// Limit on the time of one input. A busy machine is much faster; quadratic work is not.
const LIMIT: Duration = Duration::from_secs(20);

/// Limit on the memory of one input in bytes.
const MAX_MEMORY: u64 = 128 << 20;

/// Runs a target with one input.
fn run(target: &Target, input: &[u8]) {
    let memory = measure(|| (target.run)(input)).bytes_max;
    assert!(memory < MAX_MEMORY, "one input took {memory} bytes");
}

/// A change of an example.
#[derive(Clone, Debug)]
enum Change {
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Replace(Index, u8),
    Repeat(Index, usize, usize),
}

impl Change {
    fn apply(self, bytes: &mut Vec<u8>) {
        let at = |index: Index, bytes: &Vec<u8>| index.index(bytes.len() + 1);
        match self {
            Self::Insert(index, piece) => {
                let at = at(index, bytes);
                bytes.splice(at..at, piece);
            }
            Self::Remove(index, length) => {
                let at = at(index, bytes);
                let end = (at + length).min(bytes.len());
                bytes.drain(at..end);
            }
            Self::Replace(index, byte) => {
                let at = at(index, bytes);
                if let Some(old) = bytes.get_mut(at) {
                    *old = byte;
                }
            }
            Self::Repeat(index, length, times) => {
                let at = at(index, bytes);
                let end = (at + length).min(bytes.len());
                let piece = bytes[at..end].repeat(times);
                bytes.splice(at..at, piece);
            }
        }
    }
}

/// A fragment of the target, or any bytes.
fn piece(target: &Target) -> impl Strategy<Value = Vec<u8>> + use<> {
    prop_oneof![
        6 => select(target.fragments).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..6),
    ]
}

fn change(target: &Target) -> impl Strategy<Value = Change> + use<> {
    prop_oneof![
        4 => (any::<Index>(), piece(target)).prop_map(|(at, piece)| Change::Insert(at, piece)),
        2 => (any::<Index>(), 1..12_usize).prop_map(|(at, length)| Change::Remove(at, length)),
        2 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Replace(at, byte)),
        1 => (any::<Index>(), 1..12_usize, 1..20_usize)
            .prop_map(|(at, length, times)| Change::Repeat(at, length, times)),
    ]
}

/// Examples with changes, and sequences of fragments.
fn inputs(target: &Target) -> impl Strategy<Value = Vec<u8>> + use<> {
    let changed = (
        select(target.examples),
        prop::collection::vec(change(target), 0..6),
    );
    prop_oneof![
        3 => changed.prop_map(|(example, changes)| {
            let mut bytes = example.to_vec();
            changes.into_iter().for_each(|change| change.apply(&mut bytes));
            bytes
        }),
        1 => prop::collection::vec(piece(target), 0..40).prop_map(|pieces| pieces.concat()),
    ]
}

fn seconds() -> Option<f64> {
    std::env::var("FUZZ_SECONDS").ok()?.parse().ok()
}

/// Runs one target.
fn explore(name: &str) {
    let target = fuzz::target(name);
    for example in target.examples {
        run(&target, example);
    }
    let config = Config {
        cases: CASES,
        failure_persistence: None,
        ..Config::default()
    };
    let start = Instant::now();
    let time = seconds().map(Duration::from_secs_f64);
    let mut rounds = 0_u64;
    loop {
        // A runner counts its inputs, so each round has its own.
        let mut runner = match time {
            // A test run has the same result each time.
            None => {
                let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
                TestRunner::new_with_rng(config.clone(), random)
            }
            Some(_) => TestRunner::new(config.clone()),
        };
        let result = runner.run(&inputs(&target), |bytes| {
            let started = Instant::now();
            run(&target, &bytes);
            prop_assert!(
                started.elapsed() < LIMIT,
                "one input took {:?}",
                started.elapsed()
            );
            Ok(())
        });
        if let Err(error) = result {
            panic!("{name}: {error}");
        }
        rounds += 1;
        if time.is_none_or(|time| start.elapsed() >= time) {
            break;
        }
    }
    if time.is_some() {
        let inputs = rounds * u64::from(CASES);
        println!(
            "{name}: {inputs} inputs in {:.0} s",
            start.elapsed().as_secs_f64()
        );
    }
}

#[test]
fn arguments_target_holds_for_generated_inputs() {
    explore("arguments");
}

#[test]
fn challenge_target_holds_for_generated_inputs() {
    explore("challenge");
}

#[test]
fn headers_target_holds_for_generated_inputs() {
    explore("headers");
}

#[test]
fn lines_target_holds_for_generated_inputs() {
    explore("lines");
}

#[test]
fn mcp_json_target_holds_for_generated_inputs() {
    explore("mcp_json");
}

#[test]
fn parse_target_holds_for_generated_inputs() {
    explore("parse");
}

#[test]
fn request_state_target_holds_for_generated_inputs() {
    explore("request_state");
}

#[test]
fn schema_target_holds_for_generated_inputs() {
    explore("schema");
}

#[test]
fn sse_target_holds_for_generated_inputs() {
    explore("sse");
}

#[test]
fn uri_template_target_holds_for_generated_inputs() {
    explore("uri_template");
}

#[test]
fn every_target_has_a_test_and_a_program() {
    let tests = include_str!("main.rs");
    let manifest = include_str!("../../Cargo.toml");
    for target in fuzz::TARGETS {
        let name = target.name;
        assert!(
            tests.contains(&format!("explore(\"{name}\")")),
            "no test of {name}"
        );
        assert!(
            manifest.contains(&format!("name = \"{name}\"")),
            "no program of {name}"
        );
    }
}
