//! Content blocks and contents of resources: printed, described or saved.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mcp::types::{ContentBlock, ResourceContents};
use tokio::io::AsyncWriteExt as _;

use crate::failure::Failure;
use crate::output::Output;

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

    pub(super) async fn print_blocks(&mut self, blocks: &[ContentBlock]) -> Result<(), Failure> {
        for block in blocks {
            match block {
                ContentBlock::Text(text) => self.output.text(&text.text),
                ContentBlock::Image(it) => {
                    self.bytes("image", &it.mime_type, it.data.as_bytes())
                        .await?
                }
                ContentBlock::Audio(it) => {
                    self.bytes("audio", &it.mime_type, it.data.as_bytes())
                        .await?
                }
                ContentBlock::Resource(it) => self.print_resource(&it.resource).await?,
                ContentBlock::ResourceLink(it) => {
                    self.output
                        .line(&format!("[resource {}: {}]", it.name, it.uri));
                }
                _ => self.output.text("[content of an unknown type]"),
            }
        }
        Ok(())
    }

    pub(super) async fn print_resource(
        &mut self,
        contents: &ResourceContents,
    ) -> Result<(), Failure> {
        match contents {
            ResourceContents::Text(it) => self.output.text(&it.text),
            ResourceContents::Blob(it) => {
                let mime_type = it
                    .mime_type
                    .as_deref()
                    .unwrap_or("application/octet-stream");
                self.bytes("resource", mime_type, it.blob.as_bytes())
                    .await?;
            }
            _ => self.output.text("[contents of an unknown type]"),
        }
        Ok(())
    }

    /// Saves the bytes of content blocks without printing the blocks.
    pub(super) async fn save_blocks(&mut self, blocks: &[ContentBlock]) -> Result<(), Failure> {
        for block in blocks {
            match block {
                ContentBlock::Image(it) => self.save(&it.mime_type, it.data.as_bytes()).await?,
                ContentBlock::Audio(it) => self.save(&it.mime_type, it.data.as_bytes()).await?,
                ContentBlock::Resource(it) => self.save_resource(&it.resource).await?,
                _ => None,
            };
        }
        Ok(())
    }

    pub(super) async fn save_resource(
        &mut self,
        contents: &ResourceContents,
    ) -> Result<Option<PathBuf>, Failure> {
        match contents {
            ResourceContents::Blob(it) => {
                let mime_type = it
                    .mime_type
                    .as_deref()
                    .unwrap_or("application/octet-stream");
                self.save(mime_type, it.blob.as_bytes()).await
            }
            _ => Ok(None),
        }
    }

    async fn bytes(&mut self, kind: &str, mime_type: &str, bytes: &[u8]) -> Result<(), Failure> {
        let text = match self.save(mime_type, bytes).await? {
            Some(path) => path.display().to_string(),
            None => format!(
                "[{kind} {mime_type}, {} bytes; --save DIR saves it]",
                bytes.len()
            ),
        };
        self.output.line(&text);
        Ok(())
    }

    /// Writes a new file if a folder is set. Existing files are not changed.
    async fn save(&mut self, mime_type: &str, bytes: &[u8]) -> Result<Option<PathBuf>, Failure> {
        let Some(folder) = self.folder else {
            return Ok(None);
        };
        let failed = |path: &Path, error| {
            Failure::usage(format!("{} cannot be written: {error}", path.display()))
        };
        let created = tokio::fs::create_dir_all(folder).await;
        created.map_err(|error| failed(folder, error))?;
        while self.saved < MAX_FILES {
            self.saved += 1;
            let path = folder.join(format!(
                "{}-{}.{}",
                self.name,
                self.saved,
                extension(mime_type)
            ));
            let mut options = tokio::fs::OpenOptions::new();
            match options.write(true).create_new(true).open(&path).await {
                Ok(mut file) => {
                    let written = file.write_all(bytes).await;
                    written.map_err(|error| failed(&path, error))?;
                    let flushed = file.flush().await;
                    flushed.map_err(|error| failed(&path, error))?;
                    return Ok(Some(path));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(&path, error)),
            }
        }
        Err(Failure::usage(format!(
            "{} has too many files",
            folder.display()
        )))
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
    fn file_names_of_servers_stay_in_the_folder() {
        assert_eq!(file_name("../../etc/passwd"), "etc-passwd");
        assert_eq!(extension("image/../../x"), "bin");
        assert_eq!(extension("image/png; a=b"), "png");
    }
}
