//! Names in references and URLs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

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
