//! [`SchemaError`].

/// A schema that exceeds a [limit](crate::limits) for reading, or a [`Walk`](crate::Walk) that exceeds one for walks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{limit}{}", at(location))]
#[non_exhaustive]
pub struct SchemaError {
    /// The limit.
    pub limit: Limit,
    /// The first subschema beyond the limit, empty for the whole schema: a JSON Pointer, cut to [`limits::LOCATION`](crate::limits::LOCATION) characters.
    pub location: String,
}

/// A limit with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Limit {
    /// The schema has more bytes.
    #[error("the schema has more than {0} bytes; make it smaller")]
    Bytes(usize),
    /// The schema has more subschemas.
    #[error("the schema is made of more than {0} schemas; make it smaller")]
    Nodes(usize),
    /// The schema has more levels.
    #[error("the schema is deeper than {0} levels; make it flatter with `$defs`")]
    Depth(usize),
    /// The locations of all subschemas have more bytes.
    #[error(
        "the locations of the schema's parts have more than {0} bytes together; shorten the names"
    )]
    Locations(usize),
    /// More references lead from one to the next.
    #[error("the schema has more than {0} references in a row; refer to the last schema directly")]
    References(usize),
    /// A path has more subschemas.
    #[error("a path through the schema has more than {0} steps; make it flatter")]
    Nested(usize),
    /// All paths together have more subschemas.
    #[error("the paths through the schema have more than {0} schemas; use fewer references")]
    Steps(usize),
}

impl Limit {
    /// Returns the error for the first subschema beyond the limit. Other limits, such as those of a provider, use it as well.
    pub fn at(self, location: String) -> SchemaError {
        let limit = self;
        SchemaError { limit, location }
    }
}

fn at(location: &str) -> String {
    if location.is_empty() {
        return String::new();
    }
    format!(", at #{location}")
}
