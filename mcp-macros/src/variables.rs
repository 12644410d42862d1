//! URI template variables.

use syn::LitStr;

/// Returns the variable names, in their order. The server checks the rest of the template when
/// it starts.
///
/// # Errors
///
/// Returns an error for a `{` without `}`.
pub(crate) fn names(uri: &LitStr) -> syn::Result<Vec<String>> {
    let text = uri.value();
    let mut names = Vec::new();
    let mut rest = text.as_str();
    while let Some((_, expression)) = rest.split_once('{') {
        let Some((expression, after)) = expression.split_once('}') else {
            return Err(syn::Error::new_spanned(
                uri,
                "a `{` of the template has no `}`",
            ));
        };
        let list = expression.trim_start_matches(['+', '#', '.', '/', ';', '?', '&']);
        for variable in list.split(',') {
            let name = variable.split([':', '*']).next().unwrap_or(variable);
            names.push(name.to_owned());
        }
        rest = after;
    }
    Ok(names)
}
