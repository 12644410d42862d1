//! Return values of functions that list resources.

use mcp_types::Resource;

use super::error::ResourceError;

/// The resources of a computed list: all of them, or one page.
///
/// # Examples
///
/// ```
/// use mcp::{PageCursor, Resource, ResourceList};
///
/// /// Notes, 100 on a page.
/// fn list(PageCursor(cursor): PageCursor) -> ResourceList {
///     let page: usize = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
///     let numbers = page * 100..(page + 1) * 100;
///     let notes = numbers.map(|number| Resource::new(format!("note://{number}")));
///     ResourceList {
///         resources: notes.collect(),
///         next: Some((page + 1).to_string()),
///     }
/// }
/// ```
#[derive(Debug, Clone, Default)]
#[expect(clippy::exhaustive_structs, reason = "functions build it")]
pub struct ResourceList {
    /// The resources.
    pub resources: Vec<Resource>,
    /// The cursor with which the function is called for the next page. `None` on the last page. Clients see it,
    /// so it must not contain secrets, and they may change it.
    pub next: Option<String>,
}

/// A return value of a function that lists resources.
///
/// | type | list |
/// |---|---|
/// | `Vec<Resource>` | all resources; the server divides them into pages |
/// | [`ResourceList`] | one page |
/// | `Result<T, E>` with `E: Into<ResourceError>` | the list, or the error |
#[diagnostic::on_unimplemented(
    message = "a list of resources cannot be `{Self}`",
    label = "this does not become a list",
    note = "return a `Vec<Resource>` or a `ResourceList`, or a `Result` of these whose error `?` turns into `ResourceError`"
)]
pub trait IntoResourceList {
    /// Converts the value into a list.
    ///
    /// # Errors
    ///
    /// Returns the [`ResourceError`] of a function that failed.
    fn into_resource_list(self) -> Result<ResourceList, ResourceError>;
}

impl IntoResourceList for ResourceList {
    fn into_resource_list(self) -> Result<ResourceList, ResourceError> {
        Ok(self)
    }
}

impl IntoResourceList for Vec<Resource> {
    fn into_resource_list(self) -> Result<ResourceList, ResourceError> {
        Ok(ResourceList {
            resources: self,
            next: None,
        })
    }
}

#[diagnostic::do_not_recommend]
impl<T: IntoResourceList, E: Into<ResourceError>> IntoResourceList for Result<T, E> {
    fn into_resource_list(self) -> Result<ResourceList, ResourceError> {
        self.map_err(Into::into)?.into_resource_list()
    }
}
