//! The flags of a command: switches (`--release`) and values (`--rounds 5` or `--rounds=5`).

use std::str::FromStr;

use crate::Result;

/// What stands on the command line after the command and has not been asked for yet.
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

    /// Whether `name` was given.
    pub(crate) fn switch(&mut self, name: &str) -> bool {
        let before = self.rest.len();
        self.rest.retain(|arg| arg != name);
        self.rest.len() != before
    }

    /// The value given to `name`.
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

    /// The value given to `name`, which may stand without one: then it is empty.
    pub(crate) fn optional_value(&mut self, name: &str) -> Option<String> {
        if let Ok(value) = self.take_value(name) {
            return value;
        }
        // Nothing stood behind it, and taking it has removed it.
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

    /// Refuses whatever is left, so that a misspelt flag is never silently ignored.
    pub(crate) fn finish(self) -> Result<()> {
        match self.rest.first() {
            None => Ok(()),
            Some(arg) => Err(format!("unknown argument `{arg}` (see `cargo xtask help`)").into()),
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
    fn takes_switches_and_values_in_any_order() {
        let mut flags = flags("--rounds 3 --release --seconds=0.5");
        assert!(flags.switch("--release"));
        assert!(!flags.switch("--release"));
        assert_eq!(flags.value::<f64>("--seconds").unwrap(), Some(0.5));
        assert_eq!(flags.value::<u32>("--rounds").unwrap(), Some(3));
        assert_eq!(flags.value::<u32>("--rounds").unwrap(), None);
        flags.finish().unwrap();
    }

    #[test]
    fn a_value_may_be_left_out_where_it_is_optional() {
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
    fn refuses_what_it_does_not_know() {
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
