//! Examples, one file each in `src/bin`: start with `quickstart`.

pub mod budget;
