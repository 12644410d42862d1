//! Parser for the flags of a command: switches (`--release`) and values (`--rounds 5` or
//! `--rounds=5`).

use std::str::FromStr;

use crate::Result;

/// The arguments after the command that no call has consumed yet.
#[derive(Debug)]
pub(crate) struct Flags {
    rest: Vec<String>,
}

impl Flags {
    pub(crate) fn new(args: impl IntoIterator<Item = String>) -> Self {
        Self {
            rest: args.into_iter().collect(),
        }
    }

    /// Consumes the switch `name`. Returns true if it was present.
    pub(crate) fn switch(&mut self, name: &str) -> bool {
        let before = self.rest.len();
        self.rest.retain(|arg| arg != name);
        self.rest.len() != before
    }

    /// Consumes the flag `name` with its value.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is missing or does not parse.
    pub(crate) fn value<T: FromStr>(&mut self, name: &str) -> Result<Option<T>>
    where
        T::Err: std::fmt::Display,
    {
        let Some(text) = self.take_value(name)? else {
            return Ok(None);
        };
        match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(format!("{name} {text}: {error}").into()),
        }
    }

    /// Consumes the flag `name`, whose value is optional. Without a value the result is empty.
    pub(crate) fn optional_value(&mut self, name: &str) -> Option<String> {
        if let Ok(value) = self.take_value(name) {
            return value;
        }
        // The flag had no value, and `take_value` has removed it.
        Some(String::new())
    }

    fn take_value(&mut self, name: &str) -> Result<Option<String>> {
        let inline = |arg: &String| {
            arg.strip_prefix(name)
                .and_then(|rest| rest.strip_prefix('='))
                .map(str::to_owned)
        };
        let Some(at) = self
            .rest
            .iter()
            .position(|arg| arg == name || inline(arg).is_some())
        else {
            return Ok(None);
        };
        let flag = self.rest.remove(at);
        if let Some(value) = inline(&flag) {
            return Ok(Some(value));
        }
        if at < self.rest.len() && !self.rest[at].starts_with("--") {
            return Ok(Some(self.rest.remove(at)));
        }
        Err(format!("{name} needs a value").into())
    }

    /// Checks that no argument is left, so that a misspelled flag is not ignored.
    ///
    /// # Errors
    ///
    /// Returns an error that names the first argument that is left.
    pub(crate) fn finish(self) -> Result<()> {
        match self.rest.first() {
            None => Ok(()),
            Some(arg) => {
                Err(format!("unknown argument `{arg}`; `cargo xtask help` lists the flags").into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Flags;

    fn flags(line: &str) -> Flags {
        Flags::new(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn switches_and_values_are_found_in_any_order() {
        let mut flags = flags("--rounds 3 --release --seconds=0.5");
        assert!(flags.switch("--release"));
        assert!(!flags.switch("--release"));
        assert_eq!(flags.value::<f64>("--seconds").unwrap(), Some(0.5));
        assert_eq!(flags.value::<u32>("--rounds").unwrap(), Some(3));
        assert_eq!(flags.value::<u32>("--rounds").unwrap(), None);
        flags.finish().unwrap();
    }

    #[test]
    fn missing_optional_value_is_empty() {
        for (line, value) in [
            ("--soak 20 --release", Some("20")),
            ("--soak=20 --release", Some("20")),
            ("--soak --release", Some("")),
            ("--release --soak", Some("")),
            ("--release", None),
        ] {
            let mut flags = flags(line);
            assert_eq!(flags.optional_value("--soak").as_deref(), value, "{line}");
            assert!(flags.switch("--release"), "{line}");
            flags.finish().unwrap();
        }
    }

    #[test]
    fn unknown_or_incomplete_flags_are_errors() {
        assert!(
            flags("--sevrer")
                .finish()
                .unwrap_err()
                .to_string()
                .contains("--sevrer")
        );
        assert!(flags("--rounds many").value::<u32>("--rounds").is_err());
        assert!(
            flags("--rounds --release")
                .value::<u32>("--rounds")
                .is_err()
        );
        assert!(flags("--rounds").value::<u32>("--rounds").is_err());
    }
}
