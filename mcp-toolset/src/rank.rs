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

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

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
/// The words of the last eight lists are kept, so that a search costs a comparison of the list. Words are read on a thread for
/// blocking work in a Tokio runtime, elsewhere in pieces. The work of a list and of a search is bounded, whatever
/// their texts are: of each tool, up to 500 words count; of four phrasings, up to 24 words each.
#[derive(Clone)]
pub struct WordRanker {
    indices: Arc<Mutex<VecDeque<Arc<Index>>>>,
    /// One list is read at a time.
    turn: Arc<Semaphore>,
}

impl Default for WordRanker {
    fn default() -> Self {
        Self {
            indices: Arc::default(),
            turn: Arc::new(Semaphore::new(1)),
        }
    }
}

impl WordRanker {
    /// A ranker without lists.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the index of a tool list, which is built at the list's first search.
    async fn index(&self, tools: &[Tool]) -> Arc<Index> {
        if let Some(index) = self.known(tools) {
            return index;
        }
        let turn = self.turn.clone().acquire_owned().await.ok();
        // Another search may have built it meanwhile.
        if let Some(index) = self.known(tools) {
            return index;
        }
        self.build(tools.to_vec(), turn).await
    }

    /// Builds an index, and keeps it. That ends also if the search is canceled, so that the next one finds the index.
    async fn build(&self, tools: Vec<Tool>, turn: Option<OwnedSemaphorePermit>) -> Arc<Index> {
        let mut builder = IndexBuilder::default();
        let Ok(runtime) = Handle::try_current() else {
            for tools in tools.chunks(TOOLS_AT_ONCE) {
                tools.iter().for_each(|tool| builder.add(tool));
                yield_now().await;
            }
            return self.keep(builder.finish(tools));
        };
        let ranker = self.clone();
        let building = runtime.spawn_blocking(move || {
            tools.iter().for_each(|tool| builder.add(tool));
            let index = ranker.keep(builder.finish(tools));
            drop(turn);
            index
        });
        building.await.unwrap_or_else(|error| {
            tracing::error!(error = %mcp_types::escaped(&error), "the words of a list of tools cannot be read");
            Arc::new(IndexBuilder::default().finish(Vec::new()))
        })
    }

    fn keep(&self, index: Index) -> Arc<Index> {
        let index = Arc::new(index);
        let mut indices = self.indices.lock();
        indices.push_front(index.clone());
        indices.truncate(MAX_INDICES);
        index
    }

    /// Returns an index that is kept, and moves it to the front of the cache.
    fn known(&self, tools: &[Tool]) -> Option<Arc<Index>> {
        // A long list is compared without the lock.
        let indices = self.indices.lock().clone();
        let index = indices.into_iter().find(|index| index.tools == tools)?;
        let mut indices = self.indices.lock();
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
            let index = self.index(tools).await;
            Search::new(&index).rank(queries)
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
    use mcp_types::Tool;

    use super::{MAX_INDICES, Ranker as _, WordRanker};

    #[tokio::test]
    async fn lists_that_have_changed_are_forgotten() {
        let ranker = WordRanker::new();
        for number in 0..100 {
            let tools = [Tool::new(format!("read_{number}"))];
            let found = ranker.rank(&tools, &["read".to_owned()]).await;
            assert_eq!(found.tools, [0]);
        }
        let indices = ranker.indices.lock();
        assert_eq!(indices.len(), MAX_INDICES);
        assert_eq!(indices[0].tools[0].name, "read_99");
    }
}
