//! The words of names and sentences, and their stems.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words without a meaning for a search: English, German, French, Spanish.
static STOP_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "a an the of to in is my me i what this that it its for with on at by from and or then \
    them as be are was were do did does how when where which who why can could should would will we you your our \
    us all any some there here not no into out up if have has had about after before so please want need let s t \
    der die das den dem des ein eine einen einer und oder ist sind im von vom zu zum zur mit auf fur wie was \
    ich mir mein meine machen le la les un une du de et ou est sont dans sur pour par avec mon ma son sa ce cette \
    je il comment faire d l el los las una del y o es en para con mi mis su como hacer que yo"
        .split_whitespace()
        .collect()
});

/// Returns the stems of a text's words, without stop words.
pub(super) fn stems(text: &str) -> Vec<String> {
    let words = words(text).into_iter();
    let words = words.filter(|word| !STOP_WORDS.contains(&**word));
    words.map(|word| stem(&word)).collect()
}

/// Splits a text into words, in lower case and without accents. Identifiers are split at a change of case.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    let mut last = ' ';
    while let Some(c) = chars.next() {
        let is_new_word = c.is_uppercase()
            && (last.is_lowercase()
                || last.is_ascii_digit()
                || last.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase()));
        if (is_new_word || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase().map(without_accent));
        }
        last = c;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn without_accent(c: char) -> char {
    match c {
        'à'..='å' => 'a',
        'ç' => 'c',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ñ' => 'n',
        'ò'..='ö' => 'o',
        'ù'..='ü' => 'u',
        'ý' | 'ÿ' => 'y',
        other => other,
    }
}

/// Returns the stem of an English word: without plural and verb endings.
pub(super) fn stem(word: &str) -> String {
    /// Shortest word that has an ending.
    const MIN_WORD: usize = 4;
    const PLURALS: [(&str, &str); 5] = [
        ("ies", "y"),
        ("sses", "ss"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("xes", "x"),
    ];
    const ENDINGS: [&str; 6] = ["ations", "ation", "ings", "ing", "ed", "er"];

    let mut stem = word.to_owned();
    if stem.chars().count() < MIN_WORD {
        return stem;
    }
    let singular = PLURALS.iter().find_map(|(plural, singular)| {
        let start = stem.strip_suffix(plural)?;
        (start.len() >= 2).then(|| format!("{start}{singular}"))
    });
    stem = singular.unwrap_or(stem);
    let keeps_s = ["ss", "us", "is"].iter().any(|end| stem.ends_with(end));
    if stem.ends_with('s') && !keeps_s {
        stem.pop();
    }
    let ending = ENDINGS.iter().find_map(|ending| {
        let start = stem.strip_suffix(ending)?;
        (start.len() >= 3).then_some(start.len())
    });
    if let Some(end) = ending {
        stem.truncate(end);
        // `stopped`, but not `called`.
        let mut back = stem.chars().rev();
        if let (Some(last), Some(before)) = (back.next(), back.next())
            && last == before
            && !matches!(last, 'l' | 's' | 'z')
            && stem.len() >= MIN_WORD
        {
            stem.pop();
        }
    }
    if stem.len() >= MIN_WORD && stem.ends_with('e') {
        stem.pop();
    }
    if stem.len() >= MIN_WORD && stem.ends_with('y') {
        stem.pop();
        stem.push('i');
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::{stems, words};

    #[test]
    fn identifiers_are_split_at_case_and_separators() {
        for (text, expected) in [
            ("getHTTPStatus", "get http status"),
            ("API-post_page", "api post page"),
            ("list2Files", "list2 files"),
            ("près du Bahnhof Ñu", "pres du bahnhof nu"),
            ("日本語", "日本語"),
            ("  ", ""),
        ] {
            assert_eq!(words(text).join(" "), expected);
        }
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            "directory directories",
            "search searches searching searched",
            "create creates created creating",
            "stop stopped stopping stops",
            "modify modified modifies",
            "status",
        ] {
            let stems = stems(forms);
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
        assert!(stems("what is the").is_empty());
    }
}
