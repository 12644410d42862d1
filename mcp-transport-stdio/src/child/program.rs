//! Finding a program as Windows shells do: with the endings of `PATHEXT`, which the operating
//! system itself does not try. Many servers are started by `npx.cmd` and the like.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

const DEFAULT_ENDINGS: &str = ".COM;.EXE;.BAT;.CMD";

/// The file that a program's name means; `None` when there is none.
pub(super) fn find(
    program: &OsStr,
    path: Option<&OsStr>,
    endings: Option<&OsStr>,
    is_file: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let endings = endings.map_or(DEFAULT_ENDINGS.into(), OsStr::to_string_lossy);
    let endings: Vec<&str> = endings.split(';').filter(|it| !it.is_empty()).collect();
    let with_endings = |place: PathBuf| {
        let has_ending = place.extension().is_some_and(|found| {
            let found = found.to_string_lossy();
            endings
                .iter()
                .any(|ending| ending.trim_start_matches('.').eq_ignore_ascii_case(&found))
        });
        if has_ending {
            return is_file(&place).then_some(place);
        }
        endings.iter().find_map(|ending| {
            let mut name = OsString::from(&place);
            name.push(ending);
            let file = PathBuf::from(name);
            is_file(&file).then_some(file)
        })
    };
    let program = Path::new(program);
    if program.components().count() > 1 {
        return with_endings(program.to_owned());
    }
    std::env::split_paths(path?).find_map(|folder| with_endings(folder.join(program)))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::Path;

    use super::find;

    #[test]
    fn as_a_shell_does() {
        let path = std::env::join_paths(["one", "two"]).unwrap();
        let files = ["one/tool.exe", "two/npx.cmd", "two/tool.cmd", "here/x.bat"];
        let is_file = |file: &Path| files.iter().any(|it| Path::new(it) == file);
        for (program, expected) in [
            ("npx", Some("two/npx.cmd")),
            ("npx.cmd", Some("two/npx.cmd")),
            ("npx.CMD", None),
            ("tool", Some("one/tool.exe")),
            ("here/x", Some("here/x.bat")),
            ("nothing", None),
        ] {
            let endings = Some(OsStr::new(".exe;.cmd;.bat;"));
            let found = find(program.as_ref(), Some(&path), endings, is_file);
            assert_eq!(found.as_deref(), expected.map(Path::new), "{program}");
        }
        assert_eq!(find("npx".as_ref(), None, None, is_file), None);
    }
}
