//! The words of names and sentences, and their stems.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;
use std::{iter, mem};

/// Bytes of a word that count. The longest word in an English dictionary has 45.
const MAX_WORD_BYTES: usize = 48;

/// Words without a meaning for a search: English, German, French, Spanish.
static STOP_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "a an the of to in is my me i what this that it its for with on at by from and or then \
    them as be are was were do did does how when where which who why can could should would will we you your our \
    us all any some there here not no into out up if have has had about after before so please want need let s t \
    anybody anyone anything everybody everyone everything somebody someone something nobody nothing he she his her \
    him they their these those am been being has doing may might must shall just also still again very really too \
    only even now than while because yet more most much many lot another other such own same both each few lets ll \
    ve re m don isn doesn didn can cannot thing things sure ok hello hi thanks \
    der die das den dem des ein eine einen einer einem und oder ist sind war im von vom zu zum zur mit auf fur wie was \
    ich du er sie wir ihr mir mich dir dich uns mein meine meinen machen mach kann bitte nicht kein keine auch noch \
    dieser diese dieses diesen hier dort wo wer wann welche welcher aus bei nach uber als wenn aber es gibt mal \
    le la les un une du de et ou est sont dans sur pour par avec mon ma mes ton ta tes son sa ses ce cet cette ces je tu \
    il elle nous vous ils qui que quoi quel quelle quels quelles quand comment faire fais au aux ne pas d l qu c j \
    el los las una unos del y o es en para con mi mis su sus lo al se me te nos como hacer haz que quien cual donde \
    cuando yo este esta estos estas ese esa hay sin sobre"
        .split_whitespace()
        .collect()
});

/// Irregular forms, each line after the verb or noun that they belong to.
static IRREGULAR_FORMS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let lines = "send sent,write wrote written,take took taken,make made,get got gotten,run ran,go went gone,tell told,\
        keep kept,leave left,build built,buy bought,break broke broken,choose chose chosen,draw drew drawn,\
        drive drove driven,give gave given,find found,hold held,know knew known,lose lost,meet met,pay paid,\
        see saw seen,show shown,speak spoke spoken,think thought,undo undid undone,hide hid hidden,\
        begin began begun,fall fell fallen,forget forgot forgotten,overwrite overwrote overwritten,\
        rewrite rewrote rewritten,bring brought,catch caught,throw threw thrown,person people,child children,\
        index indices indexes,matrix matrices";
    let lines = lines.split(',').filter_map(|line| line.split_once(' '));
    let forms = lines.flat_map(|(own, forms)| forms.split(' ').map(move |form| (form, own)));
    forms.collect()
});

/// A word of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Word {
    /// The word in lower case, for words with mistakes.
    pub(super) form: String,
    pub(super) stem: String,
}

/// Returns the words of a text, without stop words. Words are read one by one, so that a caller can stop early.
pub(super) fn read(text: &str) -> impl Iterator<Item = Word> {
    let words = words(text).filter(|word| !STOP_WORDS.contains(&**word));
    words.map(|form| Word {
        stem: stem(&form),
        form,
    })
}

/// Returns the first characters of a text.
pub(crate) fn cut(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars);
    end.map_or(text, |(end, _)| &text[..end])
}

/// Returns the stems of the words in a text, without stop words.
pub(super) fn stems(text: &str) -> Vec<String> {
    read(text).map(|word| word.stem).collect()
}

/// Splits a text into words, in lower case and without accents. Identifiers are split at a change of case. Of a word,
/// the first [`MAX_WORD_BYTES`] count.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut chars = text.chars().peekable();
    let mut word = String::new();
    let mut last = ' ';
    iter::from_fn(move || {
        while let Some(c) = chars.next() {
            let is_new_word = c.is_uppercase()
                && (last.is_lowercase()
                    || last.is_ascii_digit()
                    || last.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase()));
            let is_end = (is_new_word || !c.is_alphanumeric()) && !word.is_empty();
            let ended = is_end.then(|| mem::take(&mut word));
            if c.is_alphanumeric() && word.len() < MAX_WORD_BYTES {
                word.extend(c.to_lowercase().map(without_accent));
            }
            last = c;
            if ended.is_some() {
                return ended;
            }
        }
        (!word.is_empty()).then(|| mem::take(&mut word))
    })
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

/// Returns the stem of an English word, without plural and verb endings.
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

    let regular = IRREGULAR_FORMS.get(word).copied();
    let mut stem = regular.unwrap_or(word).to_owned();
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
            assert_eq!(words(text).collect::<Vec<_>>().join(" "), expected);
        }
        let long = words(&"é".repeat(100_000)).next().unwrap();
        assert_eq!(long.len(), super::MAX_WORD_BYTES);
    }

    #[test]
    fn word_forms_have_one_stem() {
        for forms in [
            "directory directories",
            "search searches searching searched",
            "create creates created creating",
            "stop stopped stopping stops",
            "modify modified modifies",
            "write writes wrote written writing",
            "index indices indexes",
            "status",
        ] {
            let stems = stems(forms);
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
        assert!(stems("what is the").is_empty());
    }
}
