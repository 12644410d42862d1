//! Identities and capabilities.

use std::sync::Arc;

use mcp_types::legacy_tasks::TasksCapability;
use mcp_types::{
    ClientCapabilities, ExtraFields, Implementation, ListChangedCapability, ResourcesCapability,
    ServerCapabilities,
};
use proptest::option::of;
use proptest::prelude::*;
use serde_json::json;

use super::basics::{Range, text, uri};
use super::content::icons;

pub(crate) fn implementation() -> BoxedStrategy<Implementation> {
    (text(), of(text()), of(text()), of(uri()), icons())
        .prop_map(|(name, title, description, website_url, icons)| {
            let mut it = Implementation::new(name, "1.0.0");
            (it.title, it.description) = (title, description);
            (it.website_url, it.icons) = (website_url, icons);
            it
        })
        .boxed()
}

pub(crate) fn client_capabilities(range: Range) -> BoxedStrategy<ClientCapabilities> {
    let tasks = range.apart(Just(Arc::<TasksCapability>::default()));
    let changes = range.apart(any::<bool>());
    (any::<[bool; 6]>(), tasks, changes)
        .prop_map(
            |([roots, sampling, tools, form, url, extension], tasks, changes)| {
                let mut it = ClientCapabilities::default();
                if roots || changes.is_some() {
                    it = it.with_roots();
                }
                if let Some(roots) = &mut it.roots {
                    roots.list_changed = changes;
                }
                it = if sampling { it.with_sampling() } else { it };
                it = if tools { it.with_sampling_tools() } else { it };
                it = if form { it.with_elicitation() } else { it };
                it = if url { it.with_url_elicitation() } else { it };
                if extension {
                    it = it.with_extension("com.example/x", &json!({"a": 1}));
                }
                it.tasks = tasks;
                it
            },
        )
        .boxed()
}

pub(super) fn server_capabilities(range: Range) -> BoxedStrategy<ServerCapabilities> {
    let tasks = range.apart(Just(Arc::<TasksCapability>::default()));
    (any::<[bool; 5]>(), of(any::<bool>()), tasks)
        .prop_map(
            |([tools, resources, prompts, completions, logging], flag, tasks)| {
                let mut it = ServerCapabilities::default();
                let mut changes = ListChangedCapability::default();
                changes.list_changed = flag;
                let mut watched = ResourcesCapability::default();
                watched.subscribe = flag;
                it.tools = tools.then(|| changes.clone());
                it.prompts = prompts.then_some(changes);
                it.resources = resources.then_some(watched);
                it.completions = completions.then(ExtraFields::default);
                it.logging = logging.then(ExtraFields::default);
                it.tasks = tasks;
                it
            },
        )
        .boxed()
}
