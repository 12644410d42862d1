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
    /// Tasks that a tool serves, with weak matches.
    weak: usize,
    /// True for each task without a tool whose answer has a mark.
    marked: Vec<bool>,
}

impl Figures {
    fn recall(&self) -> f64 {
        mean(self.recalls.values().flatten())
    }

    fn marked(&self) -> usize {
        self.marked.iter().filter(|is_marked| **is_marked).count()
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
            figures.marked.push(found.is_weak);
            continue;
        }
        figures.weak += usize::from(found.is_weak);
        let found: Vec<&str> = found
            .tools
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
        "held out: {held_out}, phrasings: {phrasings}, recall at {LIMIT}: {:.3} ({}), weak: {}, no tool: {} of {}",
        figures.recall(),
        kinds.collect::<Vec<_>>().join(", "),
        figures.weak,
        figures.marked(),
        figures.marked.len(),
    );
    figures
}

/// Least recall of each kind of task: tuning tasks with one phrasing and with three, and the same for tasks that are held
/// out.
const RECALLS: [(&str, [f64; 4]); 6] = [
    ("words", [1.0, 1.0, 1.0, 1.0]),
    ("synonyms", [0.93, 1.0, 0.75, 0.87]),
    ("vague", [0.50, 1.0, 0.31, 1.0]),
    ("several", [0.68, 0.96, 0.77, 0.93]),
    ("mistakes", [0.88, 1.0, 1.0, 1.0]),
    ("languages", [0.75, 1.0, 0.28, 1.0]),
];

#[tokio::test]
async fn recall_reaches_its_figure_for_each_task_kind() {
    for (at, (held_out, phrasings, total)) in [
        (false, 1, 0.79),
        (false, 3, 0.99),
        (true, 1, 0.70),
        (true, 3, 0.96),
    ]
    .into_iter()
    .enumerate()
    {
        let figures = measure(held_out, phrasings).await;
        assert!(figures.recall() >= total, "{}", figures.recall());
        assert!(figures.marked() >= 8, "{}", figures.marked());
        for (kind, least) in RECALLS {
            let recall = mean(figures.recalls[kind].iter());
            assert!(
                recall >= least[at],
                "{kind}: {recall}, {held_out} {phrasings}"
            );
        }
    }
}

#[tokio::test]
async fn labels_name_tools_in_the_catalogs() {
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
    assert!(!ranker.rank(&tools, &queries).await.tools.is_empty());
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
    assert!(
        ranker
            .rank(&[], &["read".to_owned()])
            .await
            .tools
            .is_empty()
    );
    let tools = [
        Tool::new(""),
        Tool::new("__"),
        Tool::new("a".repeat(5000)).description("\u{202e}\0 …. \n\n"),
    ];
    for query in ["", " ,;: and then", "\u{0}", &"x".repeat(5000), "日本語"] {
        let found = ranker.rank(&tools, &[query.to_owned()]).await;
        assert!(found.tools.len() <= tools.len());
    }
    assert!(ranker.rank(&tools, &[]).await.tools.is_empty());
}

/// Returns the number of tasks for which the last tool is the first one found.
async fn first_finds(stuffed: Tool) -> usize {
    let mut tools = kit::tools();
    tools.push(stuffed);
    let ranker = WordRanker::new();
    let mut first = 0;
    for line in include_str!("tasks.jsonl").lines() {
        let task: Task = serde_json::from_str(line).unwrap();
        let found = ranker.rank(&tools, &task.queries[..1]).await.tools;
        first += usize::from(found.first() == Some(&(tools.len() - 1)));
    }
    first
}

#[tokio::test]
async fn repeated_words_do_not_make_a_tool_first() {
    let words = "read write list search create delete update get send file directory message issue repository page \
        channel commit branch pod user table date time email event task note browser click map route database";
    let once = Tool::new("evil__helper").description(words);
    let first = first_finds(once).await;
    for count in [3, 30, 3_000] {
        let sentences = Tool::new("evil__helper")
            .title(words.repeat(count))
            .description(format!("{words} ").repeat(count));
        let repeated = first_finds(sentences).await;
        println!("words once: first for {first} of 180 tasks, {count} times: {repeated}");
        assert!(repeated <= first + 5, "{count}: {repeated}");
    }
}

/// A tool at the limits: a long name, words that all tools have, unknown words that are similar to many others. `chars`: of
/// the common words.
fn hostile_tool(number: usize, chars: usize) -> Tool {
    let vocabulary = include_str!("../../src/rank/synonyms.txt");
    let common: String = vocabulary
        .chars()
        .filter(|c| *c != '#')
        .take(chars)
        .collect();
    let unknown: Vec<_> = (0..40)
        .map(|word| format!("aaaabbbb{}", number * 40 + word))
        .collect();
    let text = format!("{}. {common}", unknown.join(" "));
    Tool::new(format!("s{number}__{}", common.replace([' ', '\n'], "_"))).description(text)
}

/// The words that count: 16 of a name, 160 of a description.
const COUNTED: usize = 1_500;

/// Words beyond the limit do not change a ranking, so that the list below need not have them.
#[tokio::test]
async fn words_beyond_the_limit_do_not_count() {
    let words = include_str!("../../src/rank/synonyms.txt").split_whitespace();
    let words: Vec<&str> = words.collect();
    let lists = [COUNTED, 6_000]
        .map(|chars| -> Vec<Tool> { (0..40).map(|number| hostile_tool(number, chars)).collect() });
    for words in words.chunks(24).step_by(7) {
        let queries = [format!("{} aaaabbb7", words.join(" "))];
        let [short, long] = &lists;
        let short = WordRanker::new().rank(short, &queries).await;
        let long = WordRanker::new().rank(long, &queries).await;
        assert_eq!(short.tools, long.tools, "{queries:?}");
        assert_eq!(short.is_weak, long.is_weak);
    }
}

/// The figure is printed; the limit is for debug builds on slow machines. A unit test counts the steps.
#[tokio::test]
async fn search_at_the_limits_is_fast() {
    // Some with all words, which are cut while they are read.
    let chars = |number: usize| {
        if number.is_multiple_of(100) {
            6_000
        } else {
            COUNTED
        }
    };
    let tools: Vec<Tool> = (0..5_000)
        .map(|number| hostile_tool(number, chars(number)))
        .collect();
    let ranker = WordRanker::new();
    let words = |start: usize| -> String {
        let words = (start..start + 40).map(|word| format!("aaaabbb{word} delete, file and "));
        words.collect()
    };
    let queries: Vec<String> = (0..4).map(|query| words(query * 40)).collect();
    let start = Instant::now();
    ranker.rank(&tools, &queries).await;
    let first = start.elapsed();
    let start = Instant::now();
    ranker.rank(&tools, &queries).await;
    let second = start.elapsed();
    println!("5000 hostile tools: {first:?} with the list, {second:?} for a search");
    assert!(second < Duration::from_secs(2), "{second:?}");
}

/// Other tasks of a thread run while the words of a list are read: on another thread, or between the pieces.
#[test]
fn long_list_is_read_beside_other_tasks() {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    let tools = kit::tools();
    let ranker = WordRanker::new();
    let queries = ["read a file".to_owned()];
    let mut ranking = pin!(ranker.rank(&tools, &queries));
    let mut polls = 0;
    while ranking
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
        .is_pending()
    {
        polls += 1;
    }
    assert_eq!(polls, tools.len().div_ceil(32), "pieces without a runtime");

    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let ranker = WordRanker::new();
    runtime.block_on(async {
        let mut ranking = ranker.rank(&tools, &queries);
        let first = ranking
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(first, Poll::Pending), "the list is read elsewhere");
        assert!(!ranking.await.tools.is_empty());
    });
}
