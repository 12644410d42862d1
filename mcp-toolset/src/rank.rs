//! Tool rankings for a task.
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `words` | words of names and sentences, their stems |
//! | `synonyms` | words with the same meaning |
//! | `index` | the words in a list of tools, and the scores of a query |

mod index;
mod synonyms;
mod words;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use mcp_core::BoxFuture;
use mcp_types::Tool;
use parking_lot::Mutex;

use index::Index;

/// Lists of tools whose words are kept. Callers of a gateway with the same rights share one.
const MAX_INDICES: usize = 8;

/// Ranks tools for a task. Programs implement it to search with embeddings; [`WordRanker`] is the default.
///
/// # Examples
///
/// ```
/// use mcp::core::BoxFuture;
/// use mcp::prelude::*;
/// use mcp::toolset::Ranker;
///
/// /// Finds tools by parts of their names.
/// struct Names;
///
/// impl Ranker for Names {
///     fn rank<'a>(&'a self, tools: &'a [Tool], queries: &'a [String]) -> BoxFuture<'a, Vec<usize>> {
///         let fits = |tool: &Tool| queries.iter().any(|query| tool.name.contains(query));
///         let found = (0..tools.len()).filter(|&index| fits(&tools[index])).collect();
///         Box::pin(async { found })
///     }
/// }
/// ```
pub trait Ranker: Send + Sync + 'static {
    /// Returns the indices of the tools that serve a task, the best first, and none if no tool does. `queries` are
    /// phrasings of one task.
    fn rank<'a>(&'a self, tools: &'a [Tool], queries: &'a [String]) -> BoxFuture<'a, Vec<usize>>;
}

/// Ranks tools by their words, without a model and without a network.
///
/// It compares the words of a task with names, titles, descriptions and argument names. Words count by their stems,
/// rare words count more, names more than descriptions. A table of synonyms and common parts of words cover other words
/// and mistakes. The part of a name before `__` is the tool's server.
///
/// The words of the last eight lists are kept, so that a search costs a comparison of the list.
#[derive(Default)]
pub struct WordRanker {
    indices: Mutex<VecDeque<Arc<Index>>>,
}

impl WordRanker {
    /// A ranker without lists.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the index of a tool list, and moves it to the front of the cache.
    fn index(&self, tools: &[Tool]) -> Arc<Index> {
        let mut indices = self.indices.lock();
        let known = indices.iter().position(|index| index.tools == tools);
        let index = known.and_then(|at| indices.remove(at));
        let index = index.unwrap_or_else(|| Arc::new(Index::new(tools.to_vec())));
        indices.push_front(index.clone());
        indices.truncate(MAX_INDICES);
        index
    }
}

impl Ranker for WordRanker {
    fn rank<'a>(&'a self, tools: &'a [Tool], queries: &'a [String]) -> BoxFuture<'a, Vec<usize>> {
        Box::pin(async move { self.index(tools).rank(queries) })
    }
}

impl fmt::Debug for WordRanker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordRanker").finish_non_exhaustive()
    }
}
