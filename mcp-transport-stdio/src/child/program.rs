//! Lookup of a program with the extensions of `PATHEXT`, as Windows shells do it. Windows itself
//! does not try them, and many servers are started by scripts such as `npx.cmd`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

const DEFAULT_EXTENSIONS: &str = ".COM;.EXE;.BAT;.CMD";

/// Returns the program file, or `None` when it does not exist.
pub(super) fn find(
    program: &OsStr,
    path: Option<&OsStr>,
    extensions: Option<&OsStr>,
    is_file: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let extensions = extensions.map_or(DEFAULT_EXTENSIONS.into(), OsStr::to_string_lossy);
    let extensions: Vec<&str> = extensions
        .split(';')
        .filter(|extension| !extension.is_empty())
        .collect();
    let with_extensions = |file: PathBuf| {
        let has_extension = file.extension().is_some_and(|found| {
            let found = found.to_string_lossy();
            extensions.iter().any(|extension| {
                extension
                    .trim_start_matches('.')
                    .eq_ignore_ascii_case(&found)
            })
        });
        if has_extension {
            return is_file(&file).then_some(file);
        }
        extensions.iter().find_map(|extension| {
            let mut name = OsString::from(&file);
            name.push(extension);
            let file = PathBuf::from(name);
            is_file(&file).then_some(file)
        })
    };
    let program = Path::new(program);
    if program.components().count() > 1 {
        return with_extensions(program.to_owned());
    }
    // An empty entry would be the working directory.
    let folders = std::env::split_paths(path?).filter(|folder| !folder.as_os_str().is_empty());
    folders
        .map(|folder| folder.join(program))
        .find_map(with_extensions)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::Path;

    use super::find;

    #[test]
    fn find_tries_extensions_in_path_order() {
        let path = std::env::join_paths(["one", "two"]).unwrap();
        let files = ["one/tool.exe", "two/npx.cmd", "two/tool.cmd", "here/x.bat"];
        let is_file = |file: &Path| files.iter().any(|known| Path::new(known) == file);
        for (program, expected) in [
            ("npx", Some("two/npx.cmd")),
            ("npx.cmd", Some("two/npx.cmd")),
            ("npx.CMD", None),
            ("tool", Some("one/tool.exe")),
            ("here/x", Some("here/x.bat")),
            ("nothing", None),
        ] {
            let extensions = Some(OsStr::new(".exe;.cmd;.bat;"));
            let found = find(program.as_ref(), Some(&path), extensions, is_file);
            assert_eq!(found.as_deref(), expected.map(Path::new), "{program}");
        }
        assert_eq!(find("npx".as_ref(), None, None, is_file), None);
        let is_here = |file: &Path| file == Path::new("npx.cmd");
        let empty = std::env::join_paths(["", "two"]).unwrap();
        let found = find("npx".as_ref(), Some(&empty), None, is_here);
        assert_eq!(found, None, "the working directory is not in PATH");
    }
}
