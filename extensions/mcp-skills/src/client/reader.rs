//! Verified reads of files.

use bytes::Bytes;
use hmac_sha256::Hash;
use mcp_client::Client;
use mcp_types::ResourceContents;

use super::error::SkillError;
use crate::types::{SkillResource, digest_text};

/// Reads files from one server.
#[derive(Debug)]
pub(super) struct FileReader {
    pub(super) client: Client,
    /// The server's label.
    pub(super) label: String,
}

impl FileReader {
    /// Reads a file from the skill's server, and verifies it if its entry is known.
    // spec: SKILL-22, SKILL-31
    pub(super) async fn fetch(
        &self,
        uri: &str,
        expected: Option<&SkillResource>,
    ) -> Result<Bytes, SkillError> {
        let result = self.client.read_resource(uri).fresh().await?;
        let wrong = || SkillError::WrongContents(uri.to_owned());
        let [contents] = <[ResourceContents; 1]>::try_from(result.contents).map_err(|_| wrong())?;
        let (found, bytes) = match contents {
            ResourceContents::Text(text) => (text.uri, Bytes::from(text.text)),
            ResourceContents::Blob(blob) => (blob.uri, blob.blob.into_bytes()),
            _ => return Err(wrong()),
        };
        if found != uri {
            return Err(wrong());
        }
        let Some(expected) = expected else {
            return Ok(bytes);
        };
        let actual = bytes.len() as u64;
        if actual != expected.size {
            return Err(SkillError::WrongSize {
                uri: found,
                expected: expected.size,
                actual,
            });
        }
        if expected.digest == digest_text(Hash::hash(&bytes)) {
            Ok(bytes)
        } else {
            Err(SkillError::WrongDigest { uri: found })
        }
    }
}
