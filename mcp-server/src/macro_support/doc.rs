//! Doc comments as descriptions.

/// The text of doc comments: without the decoration and the indentation of comments, without empty
/// lines around it.
pub fn doc(pieces: &[&str]) -> String {
    let mut lines = Vec::new();
    for piece in pieces {
        match piece.split_once('\n') {
            // The space after `///` belongs to the comment.
            None => lines.push(piece.strip_prefix(' ').unwrap_or(piece)),
            Some((first, rest)) => block(first, rest, &mut lines),
        }
    }
    let indent = indent(lines.iter().copied());
    let lines: Vec<_> = lines.into_iter().map(|line| cut(line, indent)).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// The lines of one `/** … */`: its first line has no indentation of its own, and the others may
/// start with stars.
fn block<'a>(first: &'a str, rest: &'a str, lines: &mut Vec<&'a str>) {
    let mut rest: Vec<_> = rest.lines().collect();
    let decorated = rest.iter().all(|line| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with('*')
    });
    if decorated {
        for line in &mut rest {
            let line_start = line.trim_start();
            *line = line_start.strip_prefix('*').unwrap_or(line_start);
        }
    }
    let indent = indent(rest.iter().copied());
    lines.push(first.trim_start());
    lines.extend(rest.into_iter().map(|line| cut(line, indent)));
}

/// How far all lines are indented that are not empty.
fn indent<'a>(lines: impl Iterator<Item = &'a str>) -> usize {
    lines
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0)
}

fn cut(line: &str, indent: usize) -> &str {
    line.get(indent..).unwrap_or("").trim_end()
}
