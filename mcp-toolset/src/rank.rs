//! Tool rankings for a task.
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
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
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::yield_now;

use index::{Index, IndexBuilder};
use query::Search;
pub use ranking::Ranking;
pub(crate) use words::cut;

/// Lists of tools whose words are kept. Callers of a gateway with the same rights share one.
const MAX_INDICES: usize = 8;
/// Words of the lists that are kept besides the last one. A word takes about half a kilobyte.
const MAX_KEPT_WORDS: usize = 100_000;
/// Parts of the time in which one is used to read changed lists, and the longest pause after it.
const PAUSE_FACTOR: u32 = 10;
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// Tools that are read at once where there is no thread for blocking work. A tool takes at most 0.2 ms.
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
/// The last eight lists keep their words, 100,000 beside those of the last one, so that a search only compares the
/// list. Words are read on a thread for
/// blocking work in a Tokio runtime, elsewhere in pieces. The work of a list and of a search is bounded, whatever
/// their texts are: up to 500 words for each tool, and up to 24 for each of four phrasings.
///
/// A list that changes often is not read each time: after a list whose words took a second, searches in similar lists use these
/// words for the next ten seconds. Tools are those of the current list.
#[derive(Clone)]
pub struct WordRanker {
    kept: Arc<Mutex<Kept>>,
    /// One list is read at a time.
    turn: Arc<Semaphore>,
}

/// The lists that are kept, the last one first.
#[derive(Default)]
struct Kept {
    indices: VecDeque<Arc<Index>>,
    /// Until then, a similar list is searched instead of a changed one.
    next_build: Option<Instant>,
}

impl Default for WordRanker {
    fn default() -> Self {
        Self {
            kept: Arc::default(),
            turn: Arc::new(Semaphore::new(1)),
        }
    }
}

impl WordRanker {
    /// A ranker without lists.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the index of a tool list, which is built at the list's first search, and whether it is not that of a similar list.
    async fn index(&self, tools: &[Tool]) -> (Arc<Index>, bool) {
        let own = || self.known(tools).map(|index| (index, true));
        let known = || own().or_else(|| Some((self.similar(tools)?, false)));
        if let Some(index) = known() {
            return index;
        }
        let turn = self.turn.clone().acquire_owned().await.ok();
        // Another search may have built it meanwhile.
        if let Some(index) = known() {
            return index;
        }
        (self.build(tools.to_vec(), turn).await, true)
    }

    /// Builds an index, and keeps it. That ends also if the search is canceled, so that the next one finds the index.
    async fn build(&self, tools: Vec<Tool>, turn: Option<OwnedSemaphorePermit>) -> Arc<Index> {
        let mut builder = IndexBuilder::default();
        let start = Instant::now();
        self.kept.lock().next_build = Some(start + MAX_PAUSE);
        let Ok(runtime) = Handle::try_current() else {
            for tools in tools.chunks(TOOLS_AT_ONCE) {
                tools.iter().for_each(|tool| builder.add(tool));
                yield_now().await;
            }
            return self.keep(builder.finish(tools), start);
        };
        let ranker = self.clone();
        let building = runtime.spawn_blocking(move || {
            tools.iter().for_each(|tool| builder.add(tool));
            let index = ranker.keep(builder.finish(tools), start);
            drop(turn);
            index
        });
        building.await.unwrap_or_else(|error| {
            tracing::error!(error = %mcp_types::escaped(&error), "the words of a list of tools cannot be read");
            Arc::new(IndexBuilder::default().finish(Vec::new()))
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
        let mut words = 0;
        let others = kept.indices.iter().skip(1).take(MAX_INDICES - 1);
        let small = others.take_while(|other| {
            words += other.entries.len();
            words <= MAX_KEPT_WORDS
        });
        let count = 1 + small.count();
        kept.indices.truncate(count);
        index
    }

    /// Returns the index of a list with most of these tools, while it is too early to read them again.
    fn similar(&self, tools: &[Tool]) -> Option<Arc<Index>> {
        let kept = self.kept.lock();
        let is_early = kept.next_build.is_some_and(|at| Instant::now() < at);
        let indices = is_early.then(|| kept.indices.clone())?;
        drop(kept);
        let has_most = |index: &Arc<Index>| {
            let names: HashSet<&str> = index.tools.iter().map(|tool| &*tool.name).collect();
            let known = tools.iter().filter(|tool| names.contains(&*tool.name));
            known.count() * 10 >= tools.len() * 9
        };
        indices.into_iter().find(has_most)
    }

    /// Returns an index that is kept, and moves it to the front of the cache.
    fn known(&self, tools: &[Tool]) -> Option<Arc<Index>> {
        // A long list is compared without the lock.
        let indices = self.kept.lock().indices.clone();
        let index = indices.into_iter().find(|index| index.tools == tools)?;
        let indices = &mut self.kept.lock().indices;
        if let Some(at) = indices.iter().position(|other| Arc::ptr_eq(other, &index)) {
            indices.remove(at);
            indices.push_front(index.clone());
        }
        Some(index)
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
    use std::time::Instant;

    use mcp_types::Tool;

    use super::{IndexBuilder, MAX_INDICES, MAX_KEPT_WORDS, MAX_PAUSE, Ranker as _, WordRanker};

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

    #[tokio::test]
    async fn words_of_all_lists_are_bounded() {
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
            ranker.keep(builder.finish(tools), start);
        }
        let kept = ranker.kept.lock();
        let words = kept.indices.iter().skip(1).map(|index| index.entries.len());
        assert!(words.sum::<usize>() <= MAX_KEPT_WORDS);
        assert!(kept.indices.len() < 4, "{}", kept.indices.len());
    }
}
