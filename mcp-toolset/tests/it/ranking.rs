//! Recall over labeled tasks. The tasks that are held out have not been used to choose weights and synonyms.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mcp_toolset::{Ranker as _, WordRanker};
use mcp_types::Tool;
use serde::Deserialize;

use crate::kit;

/// Found tools that count.
const LIMIT: usize = 5;

/// A labeled task.
#[derive(Deserialize)]
struct Task {
    kind: String,
    held_out: bool,
    /// The parts of the task, each with the tools that serve it. Empty: no tool does.
    needs: Vec<Vec<String>>,
    queries: Vec<String>,
}

/// Figures of tasks with so many phrasings each.
#[derive(Default)]
struct Figures {
    recalls: BTreeMap<String, Vec<f64>>,
    /// Answers to tasks that no tool serves.
    empty: Vec<bool>,
}

impl Figures {
    fn recall(&self) -> f64 {
        mean(self.recalls.values().flatten())
    }

    fn empty(&self) -> usize {
        self.empty.iter().filter(|is_empty| **is_empty).count()
    }
}

fn mean<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    let values: Vec<f64> = values.copied().collect();
    values.iter().sum::<f64>() / values.len() as f64
}

async fn measure(held_out: bool, phrasings: usize) -> Figures {
    let tools = kit::tools();
    let ranker = WordRanker::new();
    let mut figures = Figures::default();
    for line in include_str!("tasks.jsonl").lines() {
        let task: Task = serde_json::from_str(line).unwrap();
        if task.held_out != held_out {
            continue;
        }
        let found = ranker.rank(&tools, &task.queries[..phrasings]).await;
        if task.needs.is_empty() {
            figures.empty.push(found.is_empty());
            continue;
        }
        let found: Vec<&str> = found
            .iter()
            .take(LIMIT)
            .map(|&index| &*tools[index].name)
            .collect();
        let is_served = |need: &&Vec<String>| need.iter().any(|name| found.contains(&&**name));
        let served = task.needs.iter().filter(is_served).count();
        let recall = served as f64 / task.needs.len() as f64;
        figures.recalls.entry(task.kind).or_default().push(recall);
    }
    let kinds = figures.recalls.iter();
    let kinds = kinds.map(|(kind, recalls)| format!("{kind} {:.2}", mean(recalls.iter())));
    println!(
        "held out: {held_out}, phrasings: {phrasings}, recall at {LIMIT}: {:.3} ({}), no tool: {} of {}",
        figures.recall(),
        kinds.collect::<Vec<_>>().join(", "),
        figures.empty(),
        figures.empty.len(),
    );
    figures
}

#[tokio::test]
async fn most_tools_of_held_out_tasks_are_found() {
    let one = measure(true, 1).await;
    assert!(one.recall() >= 0.70, "{}", one.recall());
    assert!(one.empty() >= 8);
    let three = measure(true, 3).await;
    assert!(three.recall() >= 0.94, "{}", three.recall());
    assert!(three.empty() >= 9);
}

#[tokio::test]
async fn most_tools_of_tuning_tasks_are_found() {
    let one = measure(false, 1).await;
    assert!(one.recall() >= 0.78, "{}", one.recall());
    let three = measure(false, 3).await;
    assert!(three.recall() >= 0.97, "{}", three.recall());
}

#[tokio::test]
async fn labels_name_tools_of_the_catalogs() {
    let tools = kit::tools();
    let tasks = include_str!("tasks.jsonl").lines();
    let tasks: Vec<Task> = tasks
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(tasks.len() >= 150);
    for name in tasks.iter().flat_map(|task| task.needs.iter().flatten()) {
        assert!(tools.iter().any(|tool| tool.name == *name), "{name}");
    }
}

/// The figure is printed; the limit is for debug builds on slow machines.
#[tokio::test]
async fn search_in_five_thousand_tools_is_fast() {
    let catalog = kit::tools();
    let copies = (0..5000).map(|number| {
        let mut tool: Tool = catalog[number % catalog.len()].clone();
        tool.name = format!("s{}{}", number / catalog.len(), tool.name);
        tool
    });
    let tools: Vec<Tool> = copies.collect();
    let ranker = WordRanker::new();
    let queries: Vec<String> = [
        "send a mesage to the team",
        "post slack message",
        "notify channel",
    ]
    .map(str::to_owned)
    .into();
    let start = Instant::now();
    assert!(!ranker.rank(&tools, &queries).await.is_empty());
    let first = start.elapsed();
    let start = Instant::now();
    ranker.rank(&tools, &queries).await;
    let second = start.elapsed();
    println!("5000 tools: {first:?} with the list, {second:?} for a search");
    assert!(second < Duration::from_secs(2), "{second:?}");
}

#[tokio::test]
async fn hostile_lists_and_queries_are_ranked() {
    let ranker = WordRanker::new();
    assert!(ranker.rank(&[], &["read".to_owned()]).await.is_empty());
    let tools = [
        Tool::new(""),
        Tool::new("__"),
        Tool::new("a".repeat(5000)).description("\u{202e}\0 …. \n\n"),
    ];
    for query in ["", " ,;: and then", "\u{0}", &"x".repeat(5000), "日本語"] {
        let found = ranker.rank(&tools, &[query.to_owned()]).await;
        assert!(found.len() <= tools.len());
    }
    assert!(ranker.rank(&tools, &[]).await.is_empty());
}
