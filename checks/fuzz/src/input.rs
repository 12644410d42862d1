//! Splitting of an input into the parts that a target needs.

/// The rest of an input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    /// Takes one byte; 0 at the end.
    pub(crate) fn byte(&mut self) -> u8 {
        match self.0 {
            [first, rest @ ..] => {
                self.0 = rest;
                *first
            }
            [] => 0,
        }
    }

    /// Takes a short list of bytes with its length in front.
    pub(crate) fn short_list(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte() % 16).min(self.0.len());
        let (list, rest) = self.0.split_at(length);
        self.0 = rest;
        list
    }
}

/// Splits `bytes` into pieces of the sizes `cuts`, repeatedly. Each cut is one less than its size.
pub(crate) fn pieces<'a>(bytes: &'a [u8], cuts: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let mut cuts = cuts.iter().cycle();
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let size = cuts.next().map_or(rest.len(), |&cut| usize::from(cut) + 1);
        let (piece, later) = rest.split_at(size.min(rest.len()));
        rest = later;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Splits a text at its first line end. Returns `None` if it is not UTF-8 or has one line only.
pub(crate) fn two_texts(bytes: &[u8]) -> Option<(&str, &str)> {
    std::str::from_utf8(bytes).ok()?.split_once('\n')
}
