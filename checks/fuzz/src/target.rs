//! The type of all targets.

/// A function that gets arbitrary bytes, with material for inputs.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Target {
    /// The name of the target and of its program.
    pub name: &'static str,
    /// Runs the target. Panics if the parser misbehaves.
    pub run: fn(&[u8]),
    /// Complete inputs.
    pub examples: &'static [&'static [u8]],
    /// Parts of inputs.
    pub fragments: &'static [&'static str],
}

/// JSON that several targets use.
pub(crate) const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "\\u0041",
    "\\ud83d\\ude00",
    "\\ud800",
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1.5",
    "1e400",
    "9007199254740993",
    "\"a\"",
    "\"a\":",
    "é",
    " ",
    "\n",
    "\t",
];
