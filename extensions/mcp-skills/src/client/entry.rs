//! Checks of `skills/list` and `skills/get` entries.

use std::collections::HashSet;

use super::error::SkillError;
use crate::types::{MAX_BYTES, MAX_RESOURCES, Skill, SkillResource, SkillResources};
use crate::uri::{is_valid_name, is_within, root_of, skill_name};

/// Checks everything about an entry that needs no file. Returns its directory's URI.
// spec: SKILL-07, SKILL-12, SKILL-14, SKILL-15
pub(super) fn check(entry: &Skill) -> Result<&str, SkillError> {
    let uri = &entry.uri;
    let invalid = |problem: String| SkillError::InvalidEntry {
        uri: uri.clone(),
        problem,
    };
    let root = root_of(uri).ok_or_else(|| {
        invalid("its URI is not of the form `skill://<path>/SKILL.md`".to_owned())
    })?;
    let name = entry.name().unwrap_or_default();
    if !is_valid_name(name) {
        return Err(invalid(format!("`{name}` is not a valid name")));
    }
    if name != skill_name(root) {
        return Err(invalid(format!(
            "its name `{name}` is not the last part of its URI"
        )));
    }
    if entry
        .description()
        .is_none_or(|text| text.trim().is_empty())
    {
        return Err(invalid("it has no description".to_owned()));
    }
    match &entry.resources {
        SkillResources::Listed(files) => {
            check_size(uri, files)?;
            check_files(uri, root, files).map_err(invalid)?;
        }
        SkillResources::Dynamic => {}
        _ => {
            return Err(invalid(
                "`resources` is neither a list nor `dynamic`".to_owned(),
            ));
        }
    }
    Ok(root)
}

fn check_size(uri: &str, files: &[SkillResource]) -> Result<(), SkillError> {
    let too_large = |problem: String| SkillError::TooLarge {
        uri: uri.to_owned(),
        problem,
    };
    if files.len() > MAX_RESOURCES {
        let count = files.len();
        return Err(too_large(format!(
            "{count} files, more than {MAX_RESOURCES}"
        )));
    }
    let add = |sum: u64, file: &SkillResource| sum.saturating_add(file.size);
    let bytes = files.iter().fold(0, add);
    if bytes > MAX_BYTES {
        Err(too_large(format!("{bytes} bytes, more than {MAX_BYTES}")))
    } else {
        Ok(())
    }
}

fn check_files(uri: &str, root: &str, files: &[SkillResource]) -> Result<(), String> {
    let mut seen = HashSet::new();
    for file in files {
        if !is_within(root, &file.uri) {
            return Err(format!("the file `{}` is not below it", file.uri));
        }
        if !seen.insert(file.uri.as_str()) {
            return Err(format!("the file `{}` is listed twice", file.uri));
        }
        if !file.has_digest() {
            return Err(format!("the digest of `{}` is malformed", file.uri));
        }
    }
    if seen.contains(uri) {
        Ok(())
    } else {
        Err("its list of files does not contain its `SKILL.md`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use crate::types::{MAX_BYTES, Skill, SkillResource, SkillResources};
    use serde_json::json;

    use super::check;

    const URI: &str = "skill://acme/pdf/SKILL.md";

    fn file(uri: &str, size: u64) -> SkillResource {
        SkillResource::new(uri, [1; 32], size)
    }

    fn entry(uri: &str, name: &str, files: Vec<SkillResource>) -> Skill {
        let front = json!({"name": name, "description": "d"});
        let front = front.as_object().cloned().unwrap();
        Skill::new(uri, front, SkillResources::Listed(files))
    }

    fn problem(entry: &Skill) -> String {
        check(entry).unwrap_err().to_string()
    }

    #[test]
    fn entry_with_listed_files_is_accepted() {
        let files = vec![file("skill://acme/pdf/a/b.md", 2), file(URI, MAX_BYTES - 2)];
        assert_eq!(
            check(&entry(URI, "pdf", files)).unwrap(),
            "skill://acme/pdf"
        );
    }

    // spec: SKILL-12, SKILL-14, SKILL-07
    #[test]
    fn entry_that_violates_a_rule_is_refused() {
        let ok = || vec![file(URI, 1)];
        let mut malformed = file(URI, 1);
        malformed.digest = malformed.digest.to_uppercase();
        let mut dynamic = entry(URI, "pdf", ok());
        dynamic.resources = SkillResources::Invalid;
        let mut undescribed = entry(URI, "pdf", ok());
        undescribed
            .frontmatter
            .insert("description".to_owned(), json!(" "));
        let with = |uri: &str| vec![file(URI, 1), file(uri, 1)];
        for (entry, part) in [
            (entry(URI, "docx", ok()), "is not the last part of its URI"),
            (
                entry("skill://acme/../SKILL.md", "pdf", ok()),
                "its URI is not of the form",
            ),
            (entry(URI, "PDF", ok()), "is not a valid name"),
            (undescribed, "it has no description"),
            (dynamic, "neither a list nor"),
            (entry(URI, "pdf", vec![]), "does not contain its `SKILL.md`"),
            (entry(URI, "pdf", vec![malformed]), "digest of"),
            (entry(URI, "pdf", with(URI)), "is listed twice"),
            (
                entry(URI, "pdf", with("skill://acme/other/x")),
                "is not below it",
            ),
            (
                entry(URI, "pdf", with("skill://acme/pdf/../x")),
                "is not below it",
            ),
            (
                entry(URI, "pdf", with("skill://acme/pdf/%2e%2e/x")),
                "is not below it",
            ),
            (
                entry(URI, "pdf", vec![file(URI, MAX_BYTES + 1)]),
                "bytes, more than",
            ),
            (
                entry(URI, "pdf", vec![file(URI, 1); 513]),
                "513 files, more than",
            ),
        ] {
            let problem = problem(&entry);
            assert!(problem.contains(part), "{problem}");
        }
    }
}
