//! Variables of URI templates (RFC 6570).

/// A variable of a template.
#[derive(Debug, PartialEq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// The URI may be without it.
    pub(crate) optional: bool,
}

/// Returns the variables in their order, each once. Malformed expressions have none.
pub(crate) fn variables(template: &str) -> Vec<Variable> {
    let mut variables: Vec<Variable> = Vec::new();
    let mut rest = template;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((expression, after)) = after.split_once('}') else {
            break;
        };
        rest = after;
        let (operator, list) = match expression.chars().next() {
            Some(c @ ('+' | '#' | '.' | '/' | ';' | '?' | '&')) => (Some(c), &expression[1..]),
            _ => (None, expression),
        };
        for name in list.split(',') {
            let name = name.split(':').next().unwrap_or_default();
            let name = name.trim_end_matches('*');
            if !name.is_empty() && !variables.iter().any(|it| it.name == name) {
                variables.push(Variable {
                    name: name.to_owned(),
                    optional: matches!(operator, Some('/' | ';' | '?' | '&')),
                });
            }
        }
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn variables_are_found_once() {
        let found = variables("repo://{owner}/{+path}{?ref,owner,page*}{x");
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.name.as_str(), it.optional))
            .collect();
        assert_eq!(
            found,
            [
                ("owner", false),
                ("path", false),
                ("ref", true),
                ("page", true)
            ]
        );
    }
}
