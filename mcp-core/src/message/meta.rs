//! Request metadata.

use mcp_types::RawObject;

/// Protocol-level metadata (`_meta`) of a request, as it arrived. A layer replaces it by
/// [`Exchange::update_meta`](crate::Exchange::update_meta), or by another object.
///
/// # Examples
///
/// ```
/// use mcp::core::RequestMetaObject;
/// use mcp::types::RawObject;
///
/// let meta = RequestMetaObject::from(RawObject::from_text(r#"{"com.example/tenant":"acme"}"#)?);
/// assert!(meta.object().is_some());
/// assert!(RequestMetaObject::default().object().is_none());
/// # Ok::<(), mcp::types::RawObjectError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RequestMetaObject {
    object: Option<RawObject>,
    /// True if the object is known to have no members but those of the envelope.
    is_envelope: bool,
}

impl RequestMetaObject {
    /// Metadata of a modern request that consists of its envelope.
    pub(crate) fn envelope(object: Option<RawObject>) -> Self {
        Self {
            object,
            is_envelope: true,
        }
    }

    /// Returns the object. `None` for a request without metadata.
    pub fn object(&self) -> Option<&RawObject> {
        self.object.as_ref()
    }

    /// Returns the object unless it is known to have only the envelope's members, in which every
    /// modern request names its revision and its client. It then has no trace and no keys of other parties.
    pub fn beyond_envelope(&self) -> Option<&RawObject> {
        self.object().filter(|_| !self.is_envelope)
    }
}

impl From<Option<RawObject>> for RequestMetaObject {
    fn from(object: Option<RawObject>) -> Self {
        Self {
            object,
            is_envelope: false,
        }
    }
}

impl From<RawObject> for RequestMetaObject {
    fn from(object: RawObject) -> Self {
        Some(object).into()
    }
}
