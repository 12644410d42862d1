//! Tool rankings for a task.
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `ranking` | the result |
//! | `words` | words of names and sentences, their stems |
//! | `synonyms` | words with the same meaning |
//! | `similar` | words with mistakes |
//! | `tool_words` | the words of a tool, and how much each counts |
//! | `index` | the words in a list of tools |
//! | `query` | the scores of a task |

mod index;
mod query;
mod ranking;
mod similar;
mod synonyms;
mod tool_words;
mod words;

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_core::BoxFuture;
use mcp_types::Tool;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{OwnedMutexGuard, oneshot};
use tokio::task::yield_now;

use index::{Index, IndexBuilder};
use query::Search;
pub use ranking::Ranking;
use tool_words::Key;
pub(crate) use words::cut;

/// Lists of tools whose words are kept. Callers of a gateway with the same rights share one.
const MAX_INDICES: usize = 8;
/// Memory for the words of the lists that are kept besides the last one, in bytes. Words of tools that both have count once.
const MAX_KEPT_BYTES: usize = 40 << 20;
/// Parts of the time in which one is used to read changed lists, and the longest pause after it.
const PAUSE_FACTOR: u32 = 10;
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// Changed tools that a search waits for if there is a list to search meanwhile. A tool takes at most 0.2 ms.
const MAX_AWAITED: usize = 100;
/// Tools that are read at once where there is no thread for blocking work.
const TOOLS_AT_ONCE: usize = 32;

/// Ranks tools for a task. Programs implement it to search with embeddings; [`WordRanker`] is the default.
///
/// # Examples
///
/// ```
/// use mcp::core::BoxFuture;
/// use mcp::prelude::*;
/// use mcp::toolset::{Ranker, Ranking};
///
/// /// Finds tools by parts of their names.
/// struct Names;
///
/// impl Ranker for Names {
///     fn rank<'a>(&'a self, tools: &'a [Tool], queries: &'a [String]) -> BoxFuture<'a, Ranking> {
///         let fits = |tool: &Tool| queries.iter().any(|query| tool.name.contains(query));
///         let found: Vec<usize> = (0..tools.len()).filter(|&index| fits(&tools[index])).collect();
///         Box::pin(async { found.into() })
///     }
/// }
/// ```
pub trait Ranker: Send + Sync + 'static {
    /// Returns the tools that serve a task. `queries` are phrasings of one task.
    fn rank<'a>(&'a self, tools: &'a [Tool], queries: &'a [String]) -> BoxFuture<'a, Ranking>;
}

/// Ranks tools by their words, without a model and without a network.
///
/// It compares the words of a task with names, titles, descriptions and argument names. Words count by their stems,
/// rare words count more, names more than descriptions, and a word counts at most twice in a text. A table of synonyms and common
/// parts of words cover other words and mistakes. The part of a name before `__` is the tool's server.
///
/// If no tool fits well, the ranking has up to three weak matches.
///
/// The last eight lists keep their words, 40 MiB beside those of the last one, so that a search only compares the texts of the
/// list. Of a changed list, the tools that have changed are read, on a thread for blocking work in a Tokio runtime, elsewhere in
/// pieces. A search waits for a new list, and for up to 100 tools of a changed one. If there are more, if another list is read,
/// or if a list changes often, it uses the words of a list with most of these tools: after reading that took a second, for the
/// next ten seconds. Tools are always those of the current list.
///
/// The work of a list and of a search is bounded, whatever their texts are: up to 500 words for each tool, and up to 24 for each
/// of four phrasings.
#[derive(Clone, Default)]
pub struct WordRanker {
    kept: Arc<Mutex<Kept>>,
    /// One list is read at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// The lists that are kept, the last one first.
#[derive(Default)]
struct Kept {
    indices: VecDeque<Arc<Index>>,
    /// Until then, a similar list is searched instead of a changed one.
    next_build: Option<Instant>,
}

impl WordRanker {
    /// A ranker without lists.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the index of a tool list, or that of a similar list, and whether it is the list's own.
    async fn index(&self, tools: &[Tool]) -> (Arc<Index>, bool) {
        let keys: Vec<Key> = tools.iter().map(Key::of).collect();
        loop {
            if let Some(index) = self.known(&keys) {
                return (index, true);
            }
            let next_build = self.kept.lock().next_build;
            let is_early = next_build.is_some_and(|at| Instant::now() < at);
            let similar = self.similar(tools);
            let turn = self.turn.clone().try_lock_owned().ok();
            match (similar, turn) {
                (Some(similar), turn) if is_early || turn.is_none() => return (similar, false),
                (similar, Some(turn)) => return self.build(keys, tools, similar, turn).await,
                // Waits until another list is read.
                (_, None) => drop(self.turn.lock().await),
            }
        }
    }

    /// Builds an index, and keeps it. That ends also if the search is canceled, so that the next one finds the index. Returns
    /// `similar` if many tools have changed.
    async fn build(
        &self,
        keys: Vec<Key>,
        tools: &[Tool],
        similar: Option<Arc<Index>>,
        turn: OwnedMutexGuard<()>,
    ) -> (Arc<Index>, bool) {
        // Another search may have built it meanwhile.
        if let Some(index) = self.known(&keys) {
            return (index, true);
        }
        let start = Instant::now();
        self.kept.lock().next_build = Some(start + MAX_PAUSE);
        let Ok(runtime) = Handle::try_current() else {
            let mut builder = IndexBuilder::new(&self.indices());
            for tools in tools.chunks(TOOLS_AT_ONCE) {
                tools.iter().for_each(|tool| builder.add(tool));
                yield_now().await;
            }
            return (self.keep(builder.finish(keys), start), true);
        };
        let (ranker, tools) = (self.clone(), tools.to_vec());
        let (sender, found) = oneshot::channel();
        runtime.spawn_blocking(move || {
            let (mut similar, mut sender) = (similar, Some(sender));
            let mut builder = IndexBuilder::new(&ranker.indices());
            for tool in &tools {
                builder.add(tool);
                if builder.read > MAX_AWAITED
                    && let Some(similar) = similar.take()
                    && let Some(sender) = sender.take()
                {
                    // Fails if the search was canceled.
                    let _ = sender.send((similar, false));
                }
            }
            let index = ranker.keep(builder.finish(keys), start);
            drop(turn);
            if let Some(sender) = sender {
                let _ = sender.send((index, true));
            }
        });
        found.await.unwrap_or_else(|_| {
            tracing::error!("the words of a list of tools cannot be read");
            (Arc::new(IndexBuilder::default().finish(Vec::new())), true)
        })
    }

    /// Keeps an index whose building began at `start`.
    fn keep(&self, index: Index, start: Instant) -> Arc<Index> {
        let index = Arc::new(index);
        let now = Instant::now();
        let pause = (now - start) * PAUSE_FACTOR;
        let mut kept = self.kept.lock();
        kept.next_build = Some(now + pause.min(MAX_PAUSE));
        kept.indices.push_front(index.clone());
        let of_last = index.tools.iter().map(Arc::as_ptr);
        let mut counted: HashSet<_> = of_last.collect();
        let mut bytes = 0;
        let others = kept.indices.iter().skip(1).take(MAX_INDICES - 1);
        let small = others.take_while(|other| {
            let tools = other.tools.iter();
            let tools = tools.filter(|tool| counted.insert(Arc::as_ptr(tool)));
            bytes += other.bytes() + tools.map(|tool| tool.bytes()).sum::<usize>();
            bytes <= MAX_KEPT_BYTES
        });
        let count = 1 + small.count();
        kept.indices.truncate(count);
        index
    }

    /// Returns the index of a list with most of these tools.
    fn similar(&self, tools: &[Tool]) -> Option<Arc<Index>> {
        let has_most = |index: &Arc<Index>| {
            let names: HashSet<&str> = index.tools.iter().map(|tool| &*tool.name).collect();
            let known = tools.iter().filter(|tool| names.contains(&*tool.name));
            known.count() * 10 >= tools.len() * 9
        };
        self.indices().into_iter().find(has_most)
    }

    /// Returns an index that is kept, and moves it to the front of the cache.
    fn known(&self, keys: &[Key]) -> Option<Arc<Index>> {
        let mut indices = self.indices().into_iter();
        let index = indices.find(|index| index.keys == keys)?;
        let indices = &mut self.kept.lock().indices;
        if let Some(at) = indices.iter().position(|other| Arc::ptr_eq(other, &index)) {
            indices.remove(at);
            indices.push_front(index.clone());
        }
        Some(index)
    }

    /// Returns the indices that are kept, so that they are read without the lock.
    fn indices(&self) -> VecDeque<Arc<Index>> {
        self.kept.lock().indices.clone()
    }
}

impl Ranker for WordRanker {
    fn rank<'a>(&'a self, tools: &'a [Tool], queries: &'a [String]) -> BoxFuture<'a, Ranking> {
        Box::pin(async move {
            let (index, is_own) = self.index(tools).await;
            let mut ranking = Search::new(&index).rank(queries);
            if !is_own {
                let places = tools.iter().enumerate();
                let places: HashMap<&str, usize> =
                    places.map(|(place, tool)| (&*tool.name, place)).collect();
                let found = ranking.tools.into_iter();
                let found = found.filter_map(|tool| places.get(&*index.tools[tool].name).copied());
                ranking.tools = found.collect();
            }
            ranking
        })
    }
}

impl fmt::Debug for WordRanker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordRanker").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::mem;
    use std::sync::Arc;
    use std::time::Instant;

    use allocation_counter::measure;
    use mcp_types::{JsonObject, Tool};
    use serde_json::json;

    use super::index::{Index, IndexBuilder};
    use super::tool_words::ToolWords;
    use super::{MAX_AWAITED, MAX_INDICES, MAX_PAUSE, Ranker as _, WordRanker};

    #[tokio::test]
    async fn lists_that_have_changed_are_forgotten() {
        let ranker = WordRanker::new();
        for number in 0..100 {
            let tools = [Tool::new(format!("read_{number}"))];
            let found = ranker.rank(&tools, &["read".to_owned()]).await;
            assert_eq!(found.tools, [0]);
        }
        let kept = ranker.kept.lock();
        assert_eq!(kept.indices.len(), MAX_INDICES);
        assert_eq!(kept.indices[0].tools[0].name, "read_99");
    }

    fn churned(version: usize) -> Vec<Tool> {
        let tools = (0..30).map(|number| {
            let text: Vec<_> = (0..150).map(|word| format!("w{number}x{word}")).collect();
            Tool::new(format!("churn_{number}")).description(text.join(" "))
        });
        let mut tools: Vec<Tool> = tools.collect();
        tools.push(Tool::new("disk_wipe").description("Wipes the disk"));
        tools[0].description = Some(format!("Version {version}"));
        tools
    }

    /// The number of lists that were read is counted, not their time.
    #[tokio::test]
    async fn list_that_changes_often_is_read_seldom() {
        let ranker = WordRanker::new();
        let queries = ["wipe the disk".to_owned()];
        let first = churned(0);
        ranker.rank(&first, &queries).await;
        // As if it had taken long.
        ranker.kept.lock().next_build = Some(Instant::now() + MAX_PAUSE);
        for version in 1..50 {
            let mut tools = churned(version);
            tools.swap(0, 30);
            tools.remove(7);
            let found = ranker.rank(&tools, &queries).await;
            assert_eq!(tools[found.tools[0]].name, "disk_wipe");
        }
        assert_eq!(ranker.kept.lock().indices.len(), 1);
        // Another list is read at once.
        let other = [Tool::new("mail_send")];
        let found = ranker.rank(&other, &["send a mail".to_owned()]).await;
        assert_eq!(
            (found.tools.len(), ranker.kept.lock().indices.len()),
            (1, 2)
        );
        // After the pause, so is a changed one.
        ranker.kept.lock().next_build = None;
        ranker.rank(&churned(50), &queries).await;
        assert_eq!(ranker.kept.lock().indices.len(), 3);
    }

    /// Returns how many words of tools two lists do not share.
    fn read(ranker: &WordRanker) -> usize {
        let kept = ranker.kept.lock();
        let (now, before) = (&kept.indices[0], &kept.indices[1]);
        let is_new = |tool: &&Arc<ToolWords>| {
            let mut before = before.tools.iter();
            !before.any(|known| Arc::ptr_eq(known, tool))
        };
        now.tools.iter().filter(is_new).count()
    }

    #[tokio::test]
    async fn changed_list_costs_the_tools_that_have_changed() {
        let ranker = WordRanker::new();
        let queries = ["wipe the disk".to_owned()];
        ranker.rank(&churned(0), &queries).await;
        // Schemas with other addresses, as after a request for the list.
        let again = |version| {
            let json = serde_json::to_value(churned(version)).unwrap();
            serde_json::from_value::<Vec<Tool>>(json).unwrap()
        };
        for version in [0, 1] {
            let mut tools = again(version);
            tools.swap(0, 30);
            ranker.kept.lock().next_build = None;
            let (index, is_own) = ranker.index(&tools).await;
            assert!(is_own);
            assert_eq!(read(&ranker), version);
            // The index is the one that is built without the others.
            let fresh = WordRanker::new();
            let (fresh, _) = fresh.index(&tools).await;
            let words = |index: &Index| -> Vec<_> {
                let entries = index.entries.iter();
                entries
                    .map(|entry| (entry.word.clone(), entry.rarity, entry.tools.clone()))
                    .collect()
            };
            assert_eq!(words(&index), words(&fresh));
        }
        for changed in [
            Tool::new("disk_wipe").description("Wipes disks"),
            Tool::new("disk_wipe")
                .description("Wipes the disk")
                .title("Wipe"),
            Tool::new("disk_wipe")
                .description("Wipes the disk")
                .input_schema(
                    serde_json::from_value::<JsonObject>(json!({"properties": {"disk": {}}}))
                        .unwrap(),
                ),
        ] {
            let mut tools = again(1);
            tools[30] = changed;
            ranker.kept.lock().next_build = None;
            assert!(ranker.index(&tools).await.1);
            assert_eq!(read(&ranker), 1);
        }
    }

    #[tokio::test]
    async fn search_does_not_wait_until_a_changed_list_is_read() {
        let ranker = WordRanker::new();
        let list = |version: usize| -> Vec<Tool> {
            let tool = |number| {
                Tool::new(format!("tool_{number}")).description(format!("Version {version}"))
            };
            (0..=MAX_AWAITED).map(tool).collect()
        };
        let (first, is_own) = ranker.index(&list(0)).await;
        assert!(is_own, "there is no other list");
        ranker.kept.lock().next_build = None;
        // All have changed.
        let changed = list(1);
        let (index, is_own) = ranker.index(&changed).await;
        assert!(!is_own && Arc::ptr_eq(&index, &first));
        // The words are read meanwhile.
        drop(ranker.turn.lock().await);
        assert!(ranker.index(&changed).await.1);
        // While a list is read, a changed one does not wait for it.
        ranker.kept.lock().next_build = None;
        let turn = ranker.turn.lock().await;
        let (index, is_own) = ranker.index(&list(2)).await;
        assert!(!is_own && index.keys == ranker.index(&changed).await.0.keys);
        drop(turn);
    }

    #[tokio::test]
    async fn words_in_all_lists_are_bounded() {
        let ranker = WordRanker::new();
        let start = Instant::now();
        for number in 0..4 {
            let tools: Vec<Tool> = (0..300)
                .map(|tool| {
                    let words: Vec<_> = (0..160)
                        .map(|word| format!("w{number}x{tool}x{word}"))
                        .collect();
                    Tool::new(format!("tool_{number}_{tool}")).description(words.join(". "))
                })
                .collect();
            let mut builder = IndexBuilder::default();
            tools.iter().for_each(|tool| builder.add(tool));
            let index = builder.finish(Vec::new());
            let allocated = measure(|| {
                let mut builder = IndexBuilder::default();
                tools.iter().for_each(|tool| builder.add(tool));
                mem::forget(builder.finish(Vec::new()));
            });
            let tools = index.tools.iter().map(|tool| tool.bytes());
            let counted = index.bytes() + tools.sum::<usize>();
            let current = allocated.bytes_current as usize;
            assert!(
                (current / 2..current * 2).contains(&counted),
                "{counted} bytes are counted, {current} allocated"
            );
            ranker.keep(index, start);
        }
        let kept = ranker.kept.lock();
        let words = kept.indices.iter().skip(1).map(|index| index.entries.len());
        assert!(words.sum::<usize>() <= 100_000);
        assert!(kept.indices.len() < 4, "{}", kept.indices.len());
    }
}
