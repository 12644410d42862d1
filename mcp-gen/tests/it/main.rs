//! Generated code of whole catalogues.

mod files;
