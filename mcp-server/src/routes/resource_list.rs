//! Lists of resources that a function computes.

use std::sync::Arc;

use mcp_core::{Call, ItemKind, Listing, Reply, ResultBody};
use mcp_types::{CacheHint, Cursor, ListResourcesResult, Resource};

use super::scope::RouteHandler;
use crate::call::{CallContext, CallTarget, RouteSpec};
use crate::extract::FromCall;
use crate::handler::ListHandler;
use crate::rejection::Rejection;
use crate::result::{IntoResourceList, ItemRef, ResourceError, ResourceList};

/// First letter of a computed list's cursor. Cursors of other lists start with other letters.
const LETTER: char = 'l';

/// The cursor that the previous page of a computed list returned with [`ResourceList::next`]. `None`
/// for the first page. An extractor of functions that [`TemplateRoute::list`](crate::TemplateRoute::list)
/// takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "parameters destructure it")]
pub struct PageCursor(pub Option<String>);

impl FromCall for PageCursor {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let cursor = match call.call() {
            Call::ListResources(page) => page.cursor.as_ref(),
            _ => return Err(Rejection::missing("nothing is listed in this call")),
        };
        let position = cursor.and_then(ListPosition::read);
        let cursor = position.map(|position| position.cursor);
        Ok(Self(cursor.filter(|cursor| !cursor.is_empty())))
    }
}

/// A position in the computed lists of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ListPosition {
    /// Number of the template whose list it is.
    pub(crate) template: usize,
    /// Number of items on this page that the client has.
    pub(crate) offset: usize,
    /// The function's cursor; empty for its first page.
    pub(crate) cursor: String,
}

impl ListPosition {
    /// Returns the position of the client's cursor, unless it is the cursor of another list.
    // spec: PAG-05
    pub(crate) fn read(cursor: &Cursor) -> Option<Self> {
        let mut parts = cursor.as_str().strip_prefix(LETTER)?.splitn(3, '-');
        let template = usize::from_str_radix(parts.next()?, 16).ok()?;
        let offset = usize::from_str_radix(parts.next()?, 16).ok()?;
        let cursor = parts.next()?.to_owned();
        Some(Self {
            template,
            offset,
            cursor,
        })
    }

    fn write(&self) -> Cursor {
        let (template, offset, cursor) = (self.template, self.offset, &self.cursor);
        Cursor::new(format!("{LETTER}{template:x}-{offset:x}-{cursor}"))
    }
}

/// Checks the computed resources of a page.
pub(crate) type PageCheck = Box<dyn Fn(&[Resource]) + Send + Sync>;

/// One page that a function computes.
pub(crate) struct ListTarget {
    /// Route items at the start of the page.
    pub(crate) items: Vec<Resource>,
    pub(crate) check: PageCheck,
    pub(crate) position: ListPosition,
    /// The template whose list follows.
    pub(crate) next_template: Option<usize>,
    pub(crate) page_size: usize,
    pub(crate) cache: Option<CacheHint>,
}

impl ListTarget {
    /// Returns the page with the items of the function.
    fn page(&self, list: ResourceList) -> ListResourcesResult {
        let mut items = self.items.clone();
        let room = self.page_size.saturating_sub(items.len()).max(1);
        let position = &self.position;
        let mut rest = list.resources.into_iter().skip(position.offset);
        let taken: Vec<_> = rest.by_ref().take(room).collect();
        (self.check)(&taken);
        let next = match (rest.next(), list.next, self.next_template) {
            (Some(_), _, _) => Some(ListPosition {
                offset: position.offset + taken.len(),
                ..position.clone()
            }),
            (None, Some(cursor), _) => Some(ListPosition {
                template: position.template,
                offset: 0,
                cursor,
            }),
            (None, None, Some(template)) => Some(ListPosition {
                template,
                ..ListPosition::default()
            }),
            (None, None, None) => None,
        };
        items.extend(taken);
        let mut page = ListResourcesResult::from(items);
        page.next_cursor = next.map(|position| position.write());
        page
    }
}

impl CallTarget<Result<ResourceList, ResourceError>> for ListTarget {
    fn name(&self) -> &'static str {
        "list of resources"
    }

    fn reply(&self, output: Result<ResourceList, ResourceError>, masks_errors: bool) -> Reply {
        match output {
            Ok(list) => Reply::Complete {
                body: ResultBody::ListResources(Arc::new(Listing::new(self.page(list)))),
                cache: self.cache,
            },
            Err(error) => {
                let (kind, id) = (ItemKind::Resource, self.name());
                error.into_fault(ItemRef { kind, id }, masks_errors).into()
            }
        }
    }
}

/// Erases the type of a function that computes a list. Resources without a MIME type get `mime_type`. Adds the
/// function's requirements to those of its route.
pub(super) fn lister<M, H: ListHandler<M>>(
    handler: H,
    mime_type: Option<String>,
    route: &mut RouteSpec,
) -> RouteHandler<ListTarget> {
    let mut spec = RouteSpec::default();
    H::describe(&mut spec);
    if spec.needs.input_round {
        route.problem("a list cannot ask the client; drop `Ask`");
    }
    if spec.input_schema.is_some() {
        route.problem("a list has no arguments; drop `Args`");
    }
    route.states.append(&mut spec.states);
    route.problems.append(&mut spec.problems);
    let handler = move |call| {
        let (handler, mime_type) = (handler.clone(), mime_type.clone());
        async move {
            let output = handler.call(call).await;
            let output = output.map_err(ResourceError::from_rejection)?;
            let mut list = output.into_resource_list()?;
            for resource in &mut list.resources {
                if resource.mime_type.is_none() {
                    resource.mime_type.clone_from(&mime_type);
                }
            }
            Ok(list)
        }
    };
    Arc::new(spec.runner(handler, ResourceError::from_rejection))
}
