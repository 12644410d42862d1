//! Server handlers for the requests of the extension.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use mcp_server::{
    NotFound, Notify, RawArgs, RequestError, ResourceError, ResourceExt, ResourceTemplate, Routes,
    ServerExtension, ServerSetup,
};
use mcp_types::{CacheHint, Cursor, Resource, ResourceContents};
use serde::Deserialize;

use crate::methods::{GetSkill, ListSkills, ReadDirectory};
use crate::server::store::{ReadError, Store};
use crate::server::{Skills, catalog::Catalog, generator::FileBytes};
use crate::types::{
    GetSkillParams, GetSkillResult, ListSkillsParams, ListSkillsResult, ReadDirectoryParams,
    ReadDirectoryResult, Skill, SkillsSettings,
};

/// Number of children on a directory page.
const DIRECTORY_PAGE: usize = 500;
/// The first letter of every cursor.
const CURSOR: char = 's';

// spec: SKILL-01, SKILL-02, SKILL-03
impl ServerExtension for Skills {
    fn settings(&self) -> SkillsSettings {
        SkillsSettings {
            directory_read: Some(true),
        }
    }

    fn register(self, setup: &mut ServerSetup<Self>) {
        // Hosts need not declare that they know skills.
        setup.allow_undeclared_clients();
        setup.requires("resources", |capabilities| capabilities.resources.is_some());
        let (cache, page_size) = (self.cache, self.page_size);
        let store = self.store;
        store.add_server(setup.notify());

        let lists = store.clone();
        setup.request::<ListSkills, _>(move |params: ListSkillsParams, notify: Notify| {
            list(lists.clone(), notify, params, page_size, cache)
        });
        let gets = store.clone();
        setup.request::<GetSkill, _>(move |params: GetSkillParams, notify: Notify| {
            get(gets.clone(), notify, params, cache)
        });
        let directories = store.clone();
        setup.request::<ReadDirectory, _>(move |params: ReadDirectoryParams, notify: Notify| {
            read_directory(directories.clone(), notify, params)
        });
        setup.routes(files(store));
    }
}

/// The files of all skills as resources.
fn files(store: Arc<Store>) -> Routes {
    let lists = store.clone();
    let mut template = ResourceTemplate::new("skill://{+path}");
    template.name = "skills".to_owned();
    template.description = Some("Files of skills. `skills/list` lists them.".to_owned());
    let route = template
        .read(move |args: RawArgs, notify: Notify| read(store.clone(), args, notify))
        .list(move |notify: Notify| {
            let store = lists.clone();
            async move {
                let catalog = check(store, &notify).await?;
                Ok::<Vec<Resource>, ResourceError>(catalog.listed_resources())
            }
        });
    Routes::new().template(route)
}

/// Returns the current catalog. Files are checked on a thread that may block.
async fn check(store: Arc<Store>, notify: &Notify) -> Result<Arc<Catalog>, tokio::task::JoinError> {
    let (catalog, changes) = tokio::task::spawn_blocking(move || store.check()).await?;
    changes.announce(notify);
    Ok(catalog)
}

/// Entries by key, and the next page's cursor.
type Page<'a, T> = (Vec<(&'a String, &'a T)>, Option<Cursor>);

/// Returns the page after a cursor. Cursors name the last entry of a page, so
/// that changes between pages neither repeat nor skip entries.
// spec: PAG-05
fn page<'a, T>(
    entries: &'a BTreeMap<String, T>,
    cursor: Option<&Cursor>,
    size: usize,
) -> Result<Page<'a, T>, RequestError> {
    let no_cursor = || RequestError::invalid_params("`cursor`: not a cursor of this list");
    let after = match cursor {
        Some(cursor) => {
            let key = cursor.as_str().strip_prefix(CURSOR);
            Bound::Excluded(key.ok_or_else(no_cursor)?)
        }
        None => Bound::Unbounded,
    };
    let mut rest = entries.range::<str, _>((after, Bound::Unbounded));
    let page: Vec<_> = rest.by_ref().take(size).collect();
    let last = rest.next().and(page.last());
    let next = last.map(|(key, _)| Cursor::new(format!("{CURSOR}{key}")));
    Ok((page, next))
}

// spec: SKILL-16
async fn list(
    store: Arc<Store>,
    notify: Notify,
    params: ListSkillsParams,
    page_size: usize,
    cache: CacheHint,
) -> Result<ListSkillsResult, RequestError> {
    let catalog = check(store, &notify).await?;
    let (page, next_cursor) = page(&catalog.skills, params.cursor.as_ref(), page_size)?;
    let skills = page.into_iter().map(|(_, skill)| Skill::clone(skill));
    Ok(ListSkillsResult {
        skills: skills.collect(),
        next_cursor,
        ttl_ms: Some(cache.ttl_ms()),
        cache_scope: Some(cache.scope),
        meta: None,
    })
}

// spec: SKILL-18
async fn get(
    store: Arc<Store>,
    notify: Notify,
    params: GetSkillParams,
    cache: CacheHint,
) -> Result<GetSkillResult, RequestError> {
    let catalog = check(store, &notify).await?;
    let skill = catalog.skills.get(&params.uri);
    let skill =
        skill.ok_or_else(|| RequestError::invalid_params("`uri`: no skill of this server"))?;
    Ok(GetSkillResult {
        skill: Skill::clone(skill),
        ttl_ms: Some(cache.ttl_ms()),
        cache_scope: Some(cache.scope),
        meta: None,
    })
}

// spec: SKILL-19
async fn read_directory(
    store: Arc<Store>,
    notify: Notify,
    params: ReadDirectoryParams,
) -> Result<ReadDirectoryResult, RequestError> {
    let catalog = check(store, &notify).await?;
    let children = catalog.directory(&params.uri).ok_or_else(|| {
        RequestError::invalid_params("`uri`: no directory of this server's skills")
    })?;
    let (page, next_cursor) = page(children, params.cursor.as_ref(), DIRECTORY_PAGE)?;
    let resources = page.into_iter().map(|(name, child)| child.resource(name));
    Ok(ReadDirectoryResult {
        resources: resources.collect(),
        next_cursor,
        meta: None,
    })
}

/// The template's variable.
#[derive(Deserialize)]
struct FilePath {
    path: String,
}

async fn read(
    store: Arc<Store>,
    args: RawArgs,
    notify: Notify,
) -> Result<ResourceContents, ResourceError> {
    let FilePath { path } = args.parse()?;
    let limit = store.state.lock().limits.max_bytes;
    let (read, changes) = tokio::task::spawn_blocking(move || store.read(&path)).await?;
    changes.announce(&notify);
    match read {
        Ok((file, FileBytes::Fixed(bytes))) => Ok(file.contents(bytes)),
        Ok((file, FileBytes::Generated(generator))) => {
            Ok(file.contents(generator.bytes(limit).await?))
        }
        Err(ReadError::Unknown) => Err(NotFound.into()),
        Err(ReadError::Changed) => Err(ResourceError::new(
            "the file has changed since its digest was computed; call `skills/get` again, or restart \
             the server",
        )),
        Err(ReadError::Failed(error)) => {
            // The message contains paths of the server.
            tracing::error!(error = %mcp_types::escaped(&error), "file of a skill not readable");
            Err(ResourceError::new("the file of the skill cannot be read"))
        }
    }
}
