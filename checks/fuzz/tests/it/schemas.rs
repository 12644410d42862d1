//! Hostile and generated schemas: every visitor ends within time, memory and stack.
//!
//! `VISITOR=mcp-gen` runs the visitors with this text in their name, and `SHOW_COSTS=1` prints what each visit costs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use allocation_counter::measure;
use fuzz::schema::{Attack, KEYWORDS, VISITORS, Visitor, attacks};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

/// Limit on the processor time of one visit in a debug build. Walks without a limit take minutes, or do not end.
const LIMIT: Duration = Duration::from_secs(10);
/// Limit on the memory of one visit in bytes.
const MAX_MEMORY: u64 = 128 << 20;
/// The stack of a visit in bytes: that of a runtime's worker thread.
const STACK: usize = 2 << 20;
/// Generated schemas.
const CASES: u32 = 64;

/// Returns the processor time of this thread: other programs do not count. Elsewhere than on Linux it is the time since the
/// start.
fn time(start: Instant) -> Duration {
    let used = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let used = used.and_then(|used| used.split(' ').next()?.parse().ok());
    used.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Runs one visitor. Returns what it broke.
fn visit(visitor: &Visitor, attack: &Attack) -> Result<(), String> {
    let start = Instant::now();
    let before = time(start);
    let mut result = Ok(());
    let memory = measure(|| {
        let visit = || (visitor.visit)(&attack.schema, &attack.arguments);
        result = catch_unwind(AssertUnwindSafe(visit));
    });
    let (time, memory) = (time(start) - before, memory.bytes_max);
    if std::env::var_os("SHOW_COSTS").is_some() {
        let kibibytes = memory >> 10;
        println!(
            "{time:>10.1?} {kibibytes:>6} KiB  {}: {}",
            visitor.name, attack.name
        );
    }
    if result.is_err() {
        Err("it panicked".to_owned())
    } else if memory >= MAX_MEMORY {
        Err(format!("it took {memory} bytes"))
    } else if time >= LIMIT {
        Err(format!("it took {time:?}"))
    } else {
        Ok(())
    }
}

/// Runs all visitors, each on a thread of its own. Returns what they broke.
fn visit_all(attacks: Vec<Attack>) -> Vec<String> {
    let attacks = Arc::new(attacks);
    let wanted = std::env::var("VISITOR").unwrap_or_default();
    let visitors = VISITORS.into_iter();
    let visitors = visitors.filter(|visitor| visitor.name.contains(&wanted));
    let start = |visitor: Visitor| {
        let attacks = attacks.clone();
        let thread = std::thread::Builder::new().name(visitor.name.to_owned());
        let thread = thread.stack_size(STACK);
        let run = move || {
            let broken = attacks.iter().filter_map(|attack| {
                let error = visit(&visitor, attack).err()?;
                Some(format!("{}: {}: {error}", visitor.name, attack.name))
            });
            broken.collect::<Vec<_>>()
        };
        thread.spawn(run).unwrap()
    };
    let threads: Vec<_> = visitors.map(start).collect();
    let broken = threads.into_iter().map(|thread| thread.join().unwrap());
    broken.flatten().collect()
}

#[test]
fn every_visitor_withstands_every_attack() {
    let broken = visit_all(attacks());
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn each_attack_can_be_sent() {
    for Attack { name, schema, .. } in attacks() {
        let text = Value::Object(schema).to_string();
        let read = serde_json::from_str::<Value>(&text);
        assert!(read.is_ok(), "{name}: {read:?}");
    }
}

const TEXTS: [&str; 16] = [
    "#",
    "#/$defs/a",
    "#/$defs/b",
    "#/properties/a",
    "#/properties/a~1b~0",
    "#a",
    "#/x",
    "https://example.com",
    "string",
    "object",
    "array",
    "integer",
    "null",
    "a",
    "^(a|b)*$",
    "date-time",
];

/// Schemas of all keywords, with references to each other, wrong values, width and depth.
fn schema() -> impl Strategy<Value = Map<String, Value>> {
    let numbers = [0.0, 1.0, -1.0, 0.5, 1e300].map(Value::from);
    let numbers = [numbers.to_vec(), vec![json!(1), json!(u64::MAX)]].concat();
    let texts = || select(&TEXTS[..]);
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        select(numbers),
        texts().prop_map(Value::from),
        texts().prop_map(|text| json!({"$ref": text})),
        texts().prop_map(|text| json!({"type": text, "$anchor": "a"})),
    ];
    let inner = leaf.prop_recursive(7, 120, 8, |inner| {
        let names = select(vec!["a", "b", "", "a/b~", "__proto__"]);
        let members = prop::collection::btree_map(names, inner.clone(), 0..4);
        let value = prop_oneof![
            2 => inner.clone(),
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            1 => (inner, 1..60_usize).prop_map(|(inner, width)| vec![inner; width].into()),
            2 => members.prop_map(|members| json!(members)),
        ];
        let keywords = prop::collection::btree_map(select(KEYWORDS), value, 0..6);
        keywords.prop_map(|keywords| json!(keywords))
    });
    let definitions = prop::collection::btree_map(select(vec!["a", "b"]), inner.clone(), 0..3);
    let all = (inner.clone(), inner.clone(), inner, definitions);
    all.prop_map(|(a, b, beside, definitions)| {
        let mut schema = beside.as_object().cloned().unwrap_or_default();
        schema.insert("properties".to_owned(), json!({"a": a, "a/b~": b}));
        schema.insert("$defs".to_owned(), json!(definitions));
        schema
    })
}

#[test]
fn every_visitor_withstands_generated_schemas() {
    let config = Config {
        cases: CASES,
        failure_persistence: None,
        ..Config::default()
    };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, random);
    let result = runner.run(&schema(), |schema| {
        let arguments = json!({"a": {"a": ["x", 7]}, "a/b~": null});
        let broken = visit_all(vec![Attack::new("generated", schema, arguments)]);
        prop_assert!(broken.is_empty(), "{broken:#?}");
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}
