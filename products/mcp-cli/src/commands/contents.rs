//! Content blocks and resource contents: printed, described or saved.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use mcp::types::{ContentBlock, ResourceContents, escape_line};
use tokio::io::AsyncWriteExt as _;

use crate::failure::{Failure, usage};
use crate::output::Output;
use crate::written;

/// Largest number of files that have the same name.
const MAX_FILES: usize = 10_000;

/// Prints contents. Bytes are saved in a folder, or described.
pub(super) struct Contents<'a> {
    name: String,
    folder: Option<&'a Path>,
    output: &'a Output,
    saved: usize,
}

impl<'a> Contents<'a> {
    /// Files are named after `name`.
    pub(super) fn new(name: &str, folder: Option<&'a Path>, output: &'a Output) -> Self {
        Self {
            name: file_name(name),
            folder,
            output,
            saved: 0,
        }
    }

    /// Prints a block; with `--json`, it only saves the bytes.
    pub(super) async fn show(&mut self, block: &ContentBlock) -> Result<(), Failure> {
        match block {
            ContentBlock::Text(text) => self.text(&text.text),
            ContentBlock::Image(image) => {
                let bytes = image.data.as_bytes();
                self.bytes("image", &image.mime_type, bytes).await?;
            }
            ContentBlock::Audio(audio) => {
                let bytes = audio.data.as_bytes();
                self.bytes("audio", &audio.mime_type, bytes).await?;
            }
            ContentBlock::Resource(part) => self.show_resource(&part.resource).await?,
            ContentBlock::ResourceLink(link) => {
                self.text(&escape_line(&format!(
                    "[resource {}: {}]",
                    link.name, link.uri
                )));
            }
            _ => self.text("[content of an unknown type]"),
        }
        Ok(())
    }

    /// Prints resource contents; with `--json`, it only saves the bytes.
    pub(super) async fn show_resource(&mut self, part: &ResourceContents) -> Result<(), Failure> {
        match part {
            ResourceContents::Text(text) => self.text(&text.text),
            ResourceContents::Blob(blob) => {
                let mime_type = blob.mime_type.as_deref();
                let mime_type = mime_type.unwrap_or("application/octet-stream");
                self.bytes("resource", mime_type, blob.blob.as_bytes())
                    .await?;
            }
            _ => self.text("[contents of an unknown type]"),
        }
        Ok(())
    }

    fn text(&self, text: &str) {
        if !self.output.json {
            self.output.text(text);
        }
    }

    async fn bytes(&mut self, kind: &str, mime_type: &str, bytes: &[u8]) -> Result<(), Failure> {
        let saved = self.save(mime_type, bytes).await?;
        let count = bytes.len();
        self.text(&escape_line(&match saved {
            Some(path) => path.display().to_string(),
            None => format!("[{kind} {mime_type}, {count} bytes; --save DIR saves it]"),
        }));
        Ok(())
    }

    /// Writes a new file if a folder is set. Existing files are not changed.
    async fn save(&mut self, mime_type: &str, bytes: &[u8]) -> Result<Option<PathBuf>, Failure> {
        let Some(folder) = self.folder else {
            return Ok(None);
        };
        let unwritable = |error: io::Error| Failure::unwritable(folder, &error);
        let folder = written::destination(folder).map_err(unwritable)?;
        let created = tokio::fs::create_dir_all(&folder).await;
        created.map_err(unwritable)?;
        while self.saved < MAX_FILES {
            self.saved += 1;
            let (name, number, extension) = (&self.name, self.saved, extension(mime_type));
            let path = folder.join(format!("{name}-{number}.{extension}"));
            let mut options = tokio::fs::OpenOptions::new();
            match options.write(true).create_new(true).open(&path).await {
                Ok(mut file) => {
                    let written = async {
                        file.write_all(bytes).await?;
                        file.flush().await
                    };
                    let written = written.await;
                    written.map_err(|error| Failure::unwritable(&path, &error))?;
                    return Ok(Some(path));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Failure::unwritable(&path, &error)),
            }
        }
        Err(usage!("{} has too many files", folder.display()))
    }
}

/// Returns a file name without separators and other characters with a meaning.
fn file_name(name: &str) -> String {
    let keep = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' {
            c
        } else {
            '-'
        }
    };
    let name: String = name.chars().take(60).map(keep).collect();
    name.trim_matches('-').to_owned()
}

fn extension(mime_type: &str) -> String {
    match mime_type {
        "image/jpeg" => "jpg".to_owned(),
        "image/svg+xml" => "svg".to_owned(),
        "audio/mpeg" => "mp3".to_owned(),
        "application/octet-stream" => "bin".to_owned(),
        other => {
            let subtype = other.split_once('/').map_or("", |(_, subtype)| subtype);
            let letters = subtype.chars().take_while(char::is_ascii_alphanumeric);
            let extension: String = letters.take(10).collect();
            if extension.is_empty() {
                "bin".to_owned()
            } else {
                extension
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{extension, file_name};

    #[test]
    fn file_names_from_servers_stay_in_the_folder() {
        assert_eq!(file_name("../../etc/passwd"), "etc-passwd");
        assert_eq!(extension("image/../../x"), "bin");
        assert_eq!(extension("image/png; a=b"), "png");
    }
}
