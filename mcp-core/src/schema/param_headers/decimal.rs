//! Decimal numbers, compared exactly whatever their notation.

/// A normalized decimal number: equal values have equal fields.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    is_negative: bool,
    /// The digits without zeros at either end. Empty for zero.
    digits: String,
    /// The power of ten that multiplies the digits.
    exponent: i64,
}

/// The largest integer that a header may carry, 2⁵³−1.
// spec: XHDR-06
const MAX_SAFE: u64 = (1 << 53) - 1;

impl Decimal {
    /// Parses a JSON number.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (is_negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_padded = whole.len() > 1 && whole.starts_with('0');
        if whole.is_empty() || is_padded || !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let all = format!("{whole}{fraction}");
        let trimmed = all.trim_end_matches('0');
        let dropped = i64::try_from(all.len() - trimmed.len()).ok()?;
        let digits = trimmed.trim_start_matches('0').to_owned();
        let exponent = i64::from(exponent) - i64::try_from(fraction.len()).ok()? + dropped;
        Some(if digits.is_empty() {
            Self {
                is_negative: false,
                digits,
                exponent: 0,
            }
        } else {
            Self {
                is_negative,
                digits,
                exponent,
            }
        })
    }

    /// Returns the number if it is an integer that a header may carry.
    // spec: XHDR-06, XHDR-11
    pub(super) fn as_safe_integer(&self) -> Option<i64> {
        if self.digits.is_empty() {
            return Some(0);
        }
        let power = 10u64.checked_pow(u32::try_from(self.exponent).ok()?)?;
        let size = self.digits.parse::<u64>().ok()?.checked_mul(power)?;
        let size = i64::try_from(size).ok().filter(|_| size <= MAX_SAFE)?;
        Some(if self.is_negative { -size } else { size })
    }

    /// Returns true for an integer that a header must not carry.
    pub(super) fn is_unsafe_integer(&self) -> bool {
        self.exponent >= 0 && self.as_safe_integer().is_none()
    }
}
