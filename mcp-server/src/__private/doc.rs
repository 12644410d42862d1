//! Doc comments as descriptions.

/// Joins the parts of a doc comment without the decoration and indentation of comments and without
/// empty lines around it.
pub fn doc(parts: &[&str]) -> String {
    let mut lines = Vec::new();
    for part in parts {
        match part.split_once('\n') {
            // The space after `///` is decoration.
            None => lines.push(part.strip_prefix(' ').unwrap_or(part)),
            Some((first, rest)) => add_block(first, rest, &mut lines),
        }
    }
    let indent = common_indent(lines.iter().copied());
    let lines: Vec<_> = lines
        .into_iter()
        .map(|line| unindent(line, indent))
        .collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// Adds the lines of one `/** … */`. Its first line has no indentation, and the others may start with
/// stars.
fn add_block<'a>(first: &'a str, rest: &'a str, lines: &mut Vec<&'a str>) {
    let mut rest: Vec<_> = rest.lines().collect();
    let has_stars = rest.iter().all(|line| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with('*')
    });
    if has_stars {
        for line in &mut rest {
            let trimmed = line.trim_start();
            *line = trimmed.strip_prefix('*').unwrap_or(trimmed);
        }
    }
    let indent = common_indent(rest.iter().copied());
    lines.push(first.trim_start());
    lines.extend(rest.into_iter().map(|line| unindent(line, indent)));
}

/// Returns the indentation that all lines with text have.
fn common_indent<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    lines
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0)
}

fn unindent(line: &str, indent: usize) -> &str {
    line.get(indent..).unwrap_or("").trim_end()
}
