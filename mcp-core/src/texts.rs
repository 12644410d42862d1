//! A few texts, in order.

/// Texts in their order, each once: the URIs that somebody subscribes to, of which there are a
/// thousand at the most. A `BTreeSet` of them would be ten times the code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Texts(Vec<String>);

impl Texts {
    /// Adds a text; tells whether it is new.
    pub(crate) fn insert(&mut self, text: &str) -> bool {
        let place = self.find(text);
        if let Err(at) = place {
            self.0.insert(at, text.to_owned());
        }
        place.is_err()
    }

    pub(crate) fn remove(&mut self, text: &str) {
        if let Ok(at) = self.find(text) {
            self.0.remove(at);
        }
    }

    pub(crate) fn contains(&self, text: &str) -> bool {
        self.find(text).is_ok()
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        self.0.retain(|text| keep(text));
    }

    pub(crate) fn pop_first(&mut self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.remove(0))
    }

    pub(crate) fn as_slice(&self) -> &[String] {
        &self.0
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn find(&self, text: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|other| other.as_str().cmp(text))
    }
}

impl Extend<String> for Texts {
    fn extend<T: IntoIterator<Item = String>>(&mut self, texts: T) {
        for text in texts {
            self.insert(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Texts;

    #[test]
    fn each_text_is_there_once_and_in_its_order() {
        let mut texts = Texts::default();
        assert!(texts.insert("b") && texts.insert("a") && texts.insert("c"));
        assert!(!texts.insert("a"));
        assert_eq!(texts.as_slice(), ["a", "b", "c"]);
        texts.remove("b");
        texts.remove("x");
        assert!(!texts.contains("b") && texts.contains("c"));
        texts.extend(["bb".to_owned(), "c".to_owned()]);
        texts.retain(|text| text != "c");
        assert_eq!(texts.len(), 2);
        assert_eq!(texts.pop_first().as_deref(), Some("a"));
        assert_eq!(texts.pop_first().as_deref(), Some("bb"));
        assert_eq!(texts.pop_first(), None);
    }
}
