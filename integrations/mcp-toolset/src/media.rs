//! Images and sounds of results: their true types, their sizes, and those that a request can have.

use mcp_types::Blob;
use mcp_types::shorten;

use crate::provider::Profile;

/// Images and sounds in the results of one reply, and their bytes: a provider refuses a larger request, and the
/// conversation repeats them in each one.
const MAX_COUNT: usize = 20;
const MAX_BYTES: usize = 10_000_000;
/// Pixels of an image that take a token, and the tokens of the largest one, which a provider scales down.
const PIXELS_PER_TOKEN: usize = 750;
const MAX_IMAGE_TOKENS: usize = 1_600;
/// Bytes of a sound that take a token.
const SOUND_BYTES_PER_TOKEN: usize = 500;

/// An image or a sound that the provider accepts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Media {
    /// The MIME type.
    pub(crate) kind: &'static str,
    /// The bytes in base64.
    pub(crate) data: String,
    /// The estimated number of tokens.
    pub(crate) tokens: usize,
    /// The line of text in its place.
    pub(crate) note: String,
}

/// The images and sounds in the results of a reply so far.
#[derive(Debug, Default)]
pub(crate) struct MediaTaken {
    count: usize,
    bytes: usize,
}

impl MediaTaken {
    fn take(&mut self, bytes: usize) -> bool {
        let has_space = self.count < MAX_COUNT && self.bytes + bytes <= MAX_BYTES;
        if has_space {
            self.count += 1;
            self.bytes += bytes;
        }
        has_space
    }
}

/// Returns bytes as media, or as a line of text: a provider refuses the whole request for a type that it does not know, for
/// bytes of another type, and for too many of them. `profile`: `None` accepts none.
pub(crate) fn media(
    name: &str,
    declared: Option<&str>,
    data: &Blob,
    profile: Option<&Profile>,
    taken: &mut MediaTaken,
) -> Result<Media, String> {
    let bytes = data.as_bytes();
    let size = bytes.len();
    let declared = declared.unwrap_or_default();
    let sniffed = sniff(bytes, declared);
    let kind = sniffed.as_ref().map_or(declared, |sniffed| sniffed.kind);
    let kind = shorten(if kind.is_empty() { "bytes" } else { kind }, 100);
    let note = |reason: &str| format!("[{name} {kind}, {size} bytes{reason}]");
    let Some(profile) = profile else {
        return Err(note(""));
    };
    let accepts = |kind: &str| profile.images.contains(&kind) || profile.audio.contains(&kind);
    let Some(Sniffed { kind, sides }) = sniffed else {
        let is_known = accepts(&essence(declared));
        return Err(note(if is_known { ", not of that type" } else { "" }));
    };
    if !accepts(kind) {
        return Err(note(""));
    }
    let (width, height) = sides.unwrap_or_default();
    if profile
        .max_image_side
        .is_some_and(|max| width > max || height > max)
    {
        return Err(note(&format!(", {width}x{height} pixels: too large")));
    }
    if size > profile.max_media_bytes {
        return Err(note(": too large"));
    }
    if !taken.take(size) {
        return Err(note(": too many images and sounds"));
    }
    let json = serde_json::to_value(data).unwrap_or_default();
    let tokens = match sides {
        Some(_) => width.saturating_mul(height) / PIXELS_PER_TOKEN,
        None => size / SOUND_BYTES_PER_TOKEN,
    };
    let most = sides.map_or(usize::MAX, |_| MAX_IMAGE_TOKENS);
    Ok(Media {
        kind,
        data: json.as_str().unwrap_or_default().to_owned(),
        tokens: tokens.clamp(1, most),
        note: note(""),
    })
}

/// Returns a MIME type without parameters, in lower case, with the usual name of JPEG.
fn essence(kind: &str) -> String {
    let essence = kind.split(';').next().unwrap_or_default();
    match essence.trim().to_ascii_lowercase() {
        jpeg if jpeg == "image/jpg" => "image/jpeg".to_owned(),
        essence => essence,
    }
}

/// A type that the bytes themselves show.
#[derive(Debug, PartialEq)]
struct Sniffed {
    kind: &'static str,
    /// Width and height of an image in pixels.
    sides: Option<(usize, usize)>,
}

/// A type, its first bytes, and the bytes at a place behind them.
type Signature = (&'static str, &'static [u8], usize, &'static [u8]);

const SIGNATURES: [Signature; 11] = [
    ("image/png", b"\x89PNG\r\n\x1a\n", 12, b"IHDR"),
    ("image/jpeg", b"\xff\xd8\xff", 0, b""),
    ("image/gif", b"GIF87a", 0, b""),
    ("image/gif", b"GIF89a", 0, b""),
    ("image/webp", b"RIFF", 8, b"WEBP"),
    ("audio/wav", b"RIFF", 8, b"WAVE"),
    ("audio/flac", b"fLaC", 0, b""),
    ("audio/ogg", b"OggS", 0, b""),
    ("audio/aiff", b"FORM", 8, b"AIFF"),
    ("audio/aiff", b"FORM", 8, b"AIFC"),
    ("audio/mp3", b"ID3", 0, b""),
];

/// Returns the type of an image or a sound by its first bytes.
fn sniff(bytes: &[u8], declared: &str) -> Option<Sniffed> {
    let has = |(_, start, at, mark): &&Signature| {
        let rest = bytes.get(*at..).unwrap_or_default();
        bytes.starts_with(start) && rest.starts_with(mark)
    };
    let kind = match (SIGNATURES.iter().find(has), bytes) {
        (Some((kind, ..)), _) => kind,
        // These first bytes are too common without a declared type.
        _ if !essence(declared).starts_with("audio/") => return None,
        (None, [0xff, 0xf1 | 0xf9, ..]) => "audio/aac",
        (None, [0xff, 0xe2 | 0xe3 | 0xf2 | 0xf3 | 0xfa | 0xfb, ..]) => "audio/mp3",
        _ => return None,
    };
    let mut sides = None;
    if kind.starts_with("image/") {
        let size = imagesize::blob_size(bytes).ok()?;
        sides = Some((size.width, size.height)).filter(|_| size.width > 0 && size.height > 0);
        sides?;
    }
    Some(Sniffed { kind, sides })
}

#[cfg(test)]
mod tests {
    use mcp_types::Blob;

    use super::{MediaTaken, Sniffed, media, sniff};
    use crate::provider::Provider;

    /// The head of a PNG.
    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes
    }

    #[test]
    fn type_follows_from_the_first_bytes() {
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08\0\x10\0\x20\x03";
        let webp = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x0f\0\0\x1f\0\0";
        let image = |kind, sides| {
            Some(Sniffed {
                kind,
                sides: Some(sides),
            })
        };
        assert_eq!(sniff(&png(3, 4), "image/jpeg"), image("image/png", (3, 4)));
        assert_eq!(sniff(jpeg, ""), image("image/jpeg", (32, 16)));
        assert_eq!(
            sniff(b"GIF89a\x02\0\x01\0\0\0", ""),
            image("image/gif", (2, 1))
        );
        assert_eq!(sniff(webp, "image/png"), image("image/webp", (16, 32)));
        for (bytes, declared, kind) in [
            (&b"RIFF\0\0\0\0WAVEfmt "[..], "", Some("audio/wav")),
            (b"ID3\x04", "audio/mpeg", Some("audio/mp3")),
            (b"\xff\xfb\x90", "audio/mpeg", Some("audio/mp3")),
            (b"\xff\xfb\x90", "", None),
            (b"\xff\xf1\x50", "audio/aac", Some("audio/aac")),
            (b"<!doctype html>", "image/png", None),
            (b"\x89PNG\r\n\x1a\n", "image/png", None),
            (b"\xff\xd8\xff", "image/jpeg", None),
            (b"", "image/png", None),
        ] {
            let found = sniff(bytes, declared).map(|sniffed| sniffed.kind);
            assert_eq!(found, kind, "{declared}");
        }
        assert_eq!(sniff(&png(0, 4), ""), None);
    }

    #[test]
    fn media_beyond_a_limit_are_lines() {
        let profile = Provider::Anthropic.profile();
        let mut taken = MediaTaken::default();
        let mut check = |bytes: Vec<u8>| {
            let blob = Blob::from(bytes);
            media("image", Some("image/png"), &blob, Some(profile), &mut taken)
        };
        let wide = check(png(8001, 1)).unwrap_err();
        assert_eq!(
            wide,
            "[image image/png, 24 bytes, 8001x1 pixels: too large]"
        );
        let mut large = png(10, 10);
        large.resize(3_750_001, 0);
        assert!(check(large.clone()).unwrap_err().contains("too large"));
        large.truncate(3_750_000);
        let accepted = (0..10).filter(|_| check(large.clone()).is_ok());
        assert_eq!(accepted.count(), 2, "10 MB");
        let accepted = (0..100).filter(|_| check(png(1, 1)).is_ok());
        assert_eq!(accepted.count(), 18, "20 images");
    }
}
