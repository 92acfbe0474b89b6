//! Where a program is.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What Windows tries where PATHEXT says nothing.
const ENDINGS: &str = ".COM;.EXE;.BAT;.CMD";

/// Whether the program is named by a path rather than by a name to be searched.
pub(super) fn is_path(program: &OsStr) -> bool {
    Path::new(program).components().count() > 1 || Path::new(program).is_absolute()
}

/// What to give to the system for `program`. A path is made independent of this process's folder and says which file is
/// meant; a name is left to the system's search, except on Windows, which would find nothing but `.exe`.
pub(super) fn resolve(program: &OsStr, dir: Option<&Path>, path: Option<&OsStr>) -> OsString {
    if cfg!(windows) {
        return find(program, dir, path).map_or_else(|| program.into(), PathBuf::into_os_string);
    }
    if is_path(program)
        && let Some(dir) = dir
        && let Ok(dir) = std::path::absolute(dir)
    {
        return dir.join(program).into_os_string();
    }
    program.into()
}

/// The file that `program` means.
pub(super) fn find(program: &OsStr, dir: Option<&Path>, path: Option<&OsStr>) -> Option<PathBuf> {
    let dirs: Vec<PathBuf> = if is_path(program) {
        vec![dir.map_or_else(PathBuf::new, Path::to_path_buf)]
    } else {
        path.map(|path| env::split_paths(path).collect())
            .unwrap_or_default()
    };
    let endings = if cfg!(windows) {
        env::var("PATHEXT").unwrap_or_else(|_| ENDINGS.into())
    } else {
        String::new()
    };
    search(program, &dirs, &endings, Path::is_file)
}

/// The first file of that name in `dirs`, with one of the `endings` (`;` between them) where those are in use: a name
/// that has one of them already is tried as it is first.
fn search(
    program: &OsStr,
    dirs: &[PathBuf],
    endings: &str,
    is_file: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let endings: Vec<&str> = endings.split(';').filter(|end| !end.is_empty()).collect();
    let ending = Path::new(program).extension();
    let complete = endings.is_empty()
        || ending.is_some_and(|ending| {
            endings.iter().any(|known| {
                let known = known.strip_prefix('.').unwrap_or(known);
                ending.eq_ignore_ascii_case(known)
            })
        });
    let names = complete
        .then(|| program.to_owned())
        .into_iter()
        .chain(endings.iter().map(|ending| {
            let mut name = program.to_owned();
            name.push(ending);
            name
        }));
    let names: Vec<OsString> = names.collect();
    dirs.iter()
        .flat_map(|dir| names.iter().map(move |name| dir.join(name)))
        .find(|path| is_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(program: &str, endings: &str, files: &[&str]) -> Option<String> {
        let dirs = [PathBuf::from("a"), PathBuf::from("b")];
        let exists = |path: &Path| files.iter().any(|file| path == Path::new(file));
        search(program.as_ref(), &dirs, endings, exists).map(|path| {
            let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
            parts.join("/")
        })
    }

    #[test]
    fn endings_are_tried_where_they_are_in_use() {
        let files = ["a/npx", "b/npx.CMD", "b/npx.EXE", "b/tool.v2.EXE"];
        assert_eq!(finds("npx", "", &files), Some("a/npx".into()));
        // Folder by folder, and in each ending by ending. A file without an ending is no program there.
        assert_eq!(finds("npx", ENDINGS, &files), Some("b/npx.EXE".into()));
        assert_eq!(finds("npx", ".CMD;.EXE", &files), Some("b/npx.CMD".into()));
        assert_eq!(finds("npx.CMD", ENDINGS, &files), Some("b/npx.CMD".into()));
        // A dot in the name is not an ending.
        let tool = finds("tool.v2", ENDINGS, &files);
        assert_eq!(tool, Some("b/tool.v2.EXE".into()));
        assert_eq!(finds("npm", ENDINGS, &files), None);
        assert_eq!(finds("npx", ";;.CMD;", &files), Some("b/npx.CMD".into()));
        // As Windows does it: the ending's case does not matter.
        assert_eq!(
            finds("x.cmd", ENDINGS, &["a/x.cmd"]),
            Some("a/x.cmd".into())
        );
    }

    #[test]
    fn names_and_paths_are_told_apart() {
        for (program, path) in [
            ("npx", false),
            ("./npx", true),
            ("bin/npx", true),
            ("/usr/bin/npx", true),
            ("", false),
        ] {
            assert_eq!(is_path(program.as_ref()), path, "{program}");
        }
    }
}
