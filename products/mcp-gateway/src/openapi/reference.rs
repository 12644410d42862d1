//! References into a document, and names in URLs.

use oas3::spec::{Components, ObjectOrReference};
use oas3::{Map, Spec};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Longest chain of references between components.
const MAX_STEPS: usize = 16;
/// The characters that a value must not have in a URL: all but the unreserved ones.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Percent-encodes all characters but the unreserved ones.
pub(super) fn escape(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// Returns the name of the component that a reference names, if it leads into this section of the document.
pub(super) fn name_of(reference: &str, section: &str) -> Option<String> {
    let name = reference.strip_prefix(section)?;
    let name = percent_decode_str(name).decode_utf8().ok()?;
    Some(name.replace("~1", "/").replace("~0", "~"))
}

/// Returns an item, or the component that it refers to. `section` is the section of the components.
///
/// # Errors
///
/// Returns the reason when the component does not exist, or is behind more than 16 references.
pub(super) fn resolve<'a, T: Clone>(
    spec: &'a Spec,
    mut item: &'a ObjectOrReference<T>,
    section: &str,
    components: fn(&Components) -> &Map<String, ObjectOrReference<T>>,
) -> Result<T, String> {
    let components = spec.components.as_ref().map(components);
    for _ in 0..=MAX_STEPS {
        match item {
            ObjectOrReference::Object(object) => return Ok(object.clone()),
            ObjectOrReference::Ref { ref_path, .. } => {
                let name = name_of(ref_path, &format!("#/components/{section}/"));
                let target = name.and_then(|name| components?.get(&name));
                item = target.ok_or_else(|| {
                    format!("the reference {ref_path:?} names no component of the document")
                })?;
            }
        }
    }
    Err(format!(
        "more than {MAX_STEPS} references lead to one component"
    ))
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn component_names_are_decoded() {
        let section = "#/components/schemas/";
        for (reference, expected) in [
            ("#/components/schemas/Pet", Some("Pet")),
            ("#/components/schemas/List%3CPet%3E", Some("List<Pet>")),
            ("#/components/schemas/a~1b~0c", Some("a/b~c")),
            ("#/components/schemas/%ff", None),
            ("other.json#/components/schemas/Pet", None),
        ] {
            assert_eq!(
                name_of(reference, section).as_deref(),
                expected,
                "{reference}"
            );
        }
    }
}
