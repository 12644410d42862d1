//! Tasks, the extension: work whose result is fetched later.
