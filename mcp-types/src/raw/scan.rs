//! Finds where JSON values end, and checks them on the way (RFC 8259). One pass over a message
//! gives the texts of all its parts; nothing is copied, built or decoded.

use std::borrow::Cow;

use super::{RawJson, plain_until};

/// The text is no JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// A place in JSON text.
#[derive(Debug, Clone)]
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

/// A string between its quotes, as it stands in the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quoted<'a> {
    text: &'a str,
    has_escapes: bool,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The first byte of what comes next, behind blanks; 0 at the end of the text.
    pub(crate) fn peek(&mut self) -> u8 {
        match self.byte() {
            ..=b' ' => self.pass_blanks(),
            // Most messages have no blanks.
            byte => byte,
        }
    }

    #[cold]
    fn pass_blanks(&mut self) -> u8 {
        while self.pass_if(|byte| matches!(byte, b' ' | b'\n' | b'\t' | b'\r')) {}
        self.byte()
    }

    /// Passes a byte behind blanks.
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), Malformed> {
        if self.peek() != byte {
            return Err(Malformed);
        }
        self.at += 1;
        Ok(())
    }

    /// Passes the name of the next member and its colon; `None` behind the last one. `first` tells
    /// whether the object was just opened.
    pub(crate) fn name(&mut self, first: bool) -> Result<Option<Quoted<'a>>, Malformed> {
        if !self.has_next(first, b'}')? {
            return Ok(None);
        }
        self.expect(b'"')?;
        let start = self.at;
        let has_escapes = self.pass_string()?;
        let text = self.text.get(start..self.at - 1).ok_or(Malformed)?;
        self.expect(b':')?;
        Ok(Some(Quoted { text, has_escapes }))
    }

    /// Passes an object: `member` passes the value of each member. Gives the whole text.
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), Malformed>,
    ) -> Result<RawJson<'a>, Malformed> {
        self.peek();
        let start = self.at;
        self.expect(b'{')?;
        let mut first = true;
        while let Some(name) = self.name(first)? {
            first = false;
            member(self, name.decode()?)?;
        }
        self.since(start)
    }

    /// Passes the next element; `None` behind the last one. `first` tells whether the array was
    /// just opened.
    pub(crate) fn element(&mut self, first: bool) -> Result<Option<RawJson<'a>>, Malformed> {
        match self.has_next(first, b']')? {
            true => self.value().map(Some),
            false => Ok(None),
        }
    }

    /// Passes a value.
    pub(crate) fn value(&mut self) -> Result<RawJson<'a>, Malformed> {
        let byte = self.peek();
        let start = self.at;
        match Kind::of(byte) {
            Some(kind) => self.pass_all(kind)?,
            None => self.pass_scalar(byte)?,
        }
        self.since(start)
    }

    fn since(&self, start: usize) -> Result<RawJson<'a>, Malformed> {
        let text = self.text.get(start..self.at).ok_or(Malformed)?;
        Ok(RawJson::checked(text))
    }

    /// There is nothing more.
    pub(crate) fn end(mut self) -> Result<(), Malformed> {
        self.peek();
        match self.at == self.text.len() {
            true => Ok(()),
            false => Err(Malformed),
        }
    }

    /// Passes an object or array with all that is in it.
    fn pass_all(&mut self, mut kind: Kind) -> Result<(), Malformed> {
        let mut around = Around::default();
        let mut first = true;
        self.at += 1;
        loop {
            if self.enter(kind, first)? {
                let byte = self.peek();
                let inner = Kind::of(byte);
                first = inner.is_some();
                match inner {
                    Some(inner) => {
                        self.at += 1;
                        around.push(kind);
                        kind = inner;
                    }
                    None => self.pass_scalar(byte)?,
                }
            } else if let Some(outer) = around.pop() {
                (kind, first) = (outer, false);
            } else {
                return Ok(());
            }
        }
    }

    /// Passes what stands before the next value of an object or array; false behind its end.
    fn enter(&mut self, kind: Kind, first: bool) -> Result<bool, Malformed> {
        match kind {
            Kind::Object => {
                let has_next = self.has_next(first, b'}')?;
                if has_next {
                    self.expect(b'"')?;
                    self.pass_string()?;
                    self.expect(b':')?;
                }
                Ok(has_next)
            }
            Kind::Array => self.has_next(first, b']'),
        }
    }

    /// Passes the comma before the next member or element, or the bracket behind the last one.
    fn has_next(&mut self, first: bool, close: u8) -> Result<bool, Malformed> {
        match self.peek() {
            byte if byte == close => {
                self.at += 1;
                Ok(false)
            }
            _ if first => Ok(true),
            b',' => {
                self.at += 1;
                Ok(true)
            }
            _ => Err(Malformed),
        }
    }

    /// Passes a value that has no others in it, and begins with `byte`.
    fn pass_scalar(&mut self, byte: u8) -> Result<(), Malformed> {
        match byte {
            b'"' => {
                self.at += 1;
                self.pass_string().map(drop)
            }
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            _ => self.number(),
        }
    }

    /// Passes a string behind its first quote; tells whether it has escapes.
    #[inline(never)]
    fn pass_string(&mut self) -> Result<bool, Malformed> {
        self.at = plain_until(self.text.as_bytes(), self.at);
        match self.byte() {
            b'"' => {
                self.at += 1;
                Ok(false)
            }
            _ => self.pass_escapes().map(|()| true),
        }
    }

    #[cold]
    fn pass_escapes(&mut self) -> Result<(), Malformed> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at..).unwrap_or_default() {
                [b'"', ..] => break,
                [b'\\', b'u', digits @ ..] => {
                    let digits = digits.get(..4).ok_or(Malformed)?;
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return Err(Malformed);
                    }
                    self.at += 6;
                }
                [
                    b'\\',
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't',
                    ..,
                ] => self.at += 2,
                // A control character, or the end.
                _ => return Err(Malformed),
            }
            self.at = plain_until(bytes, self.at);
        }
        self.at += 1;
        Ok(())
    }

    fn literal(&mut self, literal: &str) -> Result<(), Malformed> {
        let rest = self.text.as_bytes().get(self.at..);
        if !rest.is_some_and(|rest| rest.starts_with(literal.as_bytes())) {
            return Err(Malformed);
        }
        self.at += literal.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Malformed> {
        self.pass_if(|byte| byte == b'-');
        if !self.pass_if(|byte| byte == b'0') {
            self.digits()?;
        }
        if self.pass_if(|byte| byte == b'.') {
            self.digits()?;
        }
        if self.pass_if(|byte| matches!(byte, b'e' | b'E')) {
            self.pass_if(|byte| matches!(byte, b'+' | b'-'));
            self.digits()?;
        }
        Ok(())
    }

    /// Passes digits, of which there is one at least.
    fn digits(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        while self.pass_if(|byte| byte.is_ascii_digit()) {}
        if self.at == start {
            return Err(Malformed);
        }
        Ok(())
    }

    fn pass_if(&mut self, is: impl FnOnce(u8) -> bool) -> bool {
        let passes = is(self.byte());
        self.at += usize::from(passes);
        passes
    }

    /// 0 at the end, which is nowhere in JSON.
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Object,
    Array,
}

impl Kind {
    fn of(bracket: u8) -> Option<Self> {
        match bracket {
            b'{' => Some(Self::Object),
            b'[' => Some(Self::Array),
            _ => None,
        }
    }
}

/// What is open around a value, a bit each, so that depth costs no stack and hardly any memory.
#[derive(Debug, Default)]
struct Around {
    /// The innermost ones; the last one is the lowest bit.
    inner: u64,
    /// How many they are.
    count: u32,
    /// The ones around them, in words that are full.
    outer: Vec<u64>,
}

impl Around {
    fn push(&mut self, kind: Kind) {
        if self.count == u64::BITS {
            self.outer.push(std::mem::take(&mut self.inner));
            self.count = 0;
        }
        self.count += 1;
        self.inner = self.inner << 1 | u64::from(kind == Kind::Object);
    }

    fn pop(&mut self) -> Option<Kind> {
        if self.count == 0 {
            self.inner = self.outer.pop()?;
            self.count = u64::BITS;
        }
        let is_object = self.inner & 1 == 1;
        self.count -= 1;
        self.inner >>= 1;
        Some(if is_object { Kind::Object } else { Kind::Array })
    }
}

impl<'a> Quoted<'a> {
    /// What it says; copied only when there are escapes.
    pub(crate) fn decode(self) -> Result<Cow<'a, str>, Malformed> {
        match self.has_escapes {
            false => Ok(Cow::Borrowed(self.text)),
            true => self.unescape().map(Cow::Owned),
        }
    }

    /// What it says, or as it stands when its escapes make no character.
    pub(crate) fn decode_or_keep(self) -> Cow<'a, str> {
        self.decode().unwrap_or(Cow::Borrowed(self.text))
    }

    #[cold]
    fn unescape(self) -> Result<String, Malformed> {
        serde_json::from_str(&format!("\"{}\"", self.text)).map_err(|_| Malformed)
    }
}

#[cfg(test)]
mod tests;
