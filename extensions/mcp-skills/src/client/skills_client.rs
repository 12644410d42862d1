//! The skills of one server.

use std::fmt;
use std::sync::Arc;

use mcp_client::group::Consents;
use mcp_client::{Client, ExtensionClient};
use mcp_types::Cursor;

use super::approval::{ApprovalHook, PendingSkill, SkillId};
use super::entry;
use super::error::SkillError;
use super::loaded::{LoadedSkill, load_instructions};
use super::reader::FileReader;
use crate::methods::{GetSkill, ListSkills, ReadDirectory, Skills};
use crate::types::{
    GetSkillParams, ListSkillsParams, ListSkillsResult, ReadDirectoryParams, ReadDirectoryResult,
    Skill, SkillsSettings,
};

/// The skills of one server.
///
/// Nothing is fetched ahead of need: a list contains no files, loading a skill reads its `SKILL.md`, and each
/// other file is read when the program reads it.
#[derive(Clone)]
pub struct SkillsClient {
    extension: ExtensionClient<Skills>,
    pub(super) label: String,
    hook: Option<ApprovalHook>,
    consents: Consents,
}

impl SkillsClient {
    /// Returns the skills of `client`'s server. Queries the server first if its extensions are unknown.
    ///
    /// # Errors
    ///
    /// Returns a [`SkillError`] if the server does not declare the extension
    /// `io.modelcontextprotocol/skills`.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    /// use mcp::skills::{InlineSkill, Skills, SkillsClient};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> mcp::Result<()> {
    /// # let refunds = InlineSkill::new("refunds", "How to refund", "# Steps").file("a.md", "A");
    /// # let server = Server::new("shop", "1.0.0").extension(Skills::new().add(refunds)?);
    /// let client = Client::connect(mcp::InProcess(server)).await?;
    /// let skills = SkillsClient::new(&client).await?.label("shop");
    /// for skill in skills.list().await? {
    ///     println!("{}: {}", skill.uri, skill.description().unwrap_or_default());
    /// }
    /// let refunds = skills.load("skill://refunds/SKILL.md").await?;
    /// println!("{}", refunds.instructions());
    /// let limits = refunds.read("a.md").await?;
    /// # assert_eq!(limits, "A");
    /// # Ok(())
    /// # }
    /// ```
    // spec: SKILL-04
    pub async fn new(client: &Client) -> Result<Self, SkillError> {
        client.capabilities().await?;
        let extension = client.extension::<Skills>()?;
        Ok(Self {
            extension,
            label: client.peer().into_owned(),
            hook: None,
            consents: Consents::default(),
        })
    }

    /// Sets the server's label, which becomes a part of each skill's identity. Default: the server's
    /// address. Use the name under which the user has configured the server, never the name that the
    /// server gives itself.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Sets a hook that approves a skill before it is loaded, for example by a question to the user. It is
    /// called once per set of files and digests; a skill whose files have changed needs a new approval, and so
    /// does each load of a skill with dynamic files. Default: every skill is approved.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::skills::SkillsClient;
    ///
    /// fn with_approval(skills: SkillsClient) -> SkillsClient {
    ///     skills.approve_with(|pending| async move {
    ///         println!("Load {}? It has the files {:?}", pending.id, pending.skill.resources);
    ///         false
    ///     })
    /// }
    /// ```
    #[must_use]
    pub fn approve_with<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn(PendingSkill) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = bool> + Send + 'static,
    {
        self.hook = Some(Arc::new(move |pending| Box::pin(hook(pending))));
        self
    }

    /// Keeps the approvals in a store, such as a file for later runs of the program. Default: in memory, up to 10,000.
    #[must_use]
    pub fn remember(mut self, consents: Consents) -> Self {
        self.consents = consents;
        self
    }

    /// Returns the server's settings.
    pub fn settings(&self) -> &SkillsSettings {
        self.extension.settings()
    }

    /// Lists the skills of all pages. An empty list proves nothing: a server may have skills that it does not
    /// list. Reads no file.
    ///
    /// Entries are returned as the server sent them; [`load`](Self::load) verifies one before it is used.
    ///
    /// # Errors
    ///
    /// Returns a [`SkillError`] if a request fails, if the server repeats a cursor, or if the list has more than
    /// 10,000 skills, 1,000 pages or 64 MiB.
    pub async fn list(&self) -> Result<Vec<Skill>, SkillError> {
        Ok(self.extension.list::<ListSkills>().await?)
    }

    /// Lists one page of skills: the first one, or the one at a cursor.
    ///
    /// # Errors
    ///
    /// Returns a [`SkillError`] if the request fails.
    pub async fn list_page(
        &self,
        cursor: impl Into<Option<Cursor>>,
    ) -> Result<ListSkillsResult, SkillError> {
        let params = ListSkillsParams {
            cursor: cursor.into(),
        };
        Ok(self.extension.request::<ListSkills>(&params).await?)
    }

    /// Gets the entry of a skill by its URI, listed or not. Reads no file.
    ///
    /// # Errors
    ///
    /// Returns a [`SkillError`] if the server has no such skill, or if the entry is invalid.
    // spec: SKILL-17
    pub async fn get(&self, uri: impl Into<String>) -> Result<Skill, SkillError> {
        let uri = uri.into();
        let params = GetSkillParams { uri: uri.clone() };
        let result = self.extension.request::<GetSkill>(&params).fresh().await?;
        let skill = result.skill;
        if skill.uri != uri {
            let problem = format!("the server returned `{}`", skill.uri);
            return Err(SkillError::InvalidEntry { uri, problem });
        }
        entry::check(&skill)?;
        Ok(skill)
    }

    /// Loads a skill by its URI: gets its entry, asks for [approval](Self::approve_with), reads its
    /// `SKILL.md`, and verifies size, digest and YAML.
    ///
    /// # Errors
    ///
    /// Returns a [`SkillError`] if the skill is unknown, invalid, too large or not approved, or if its content
    /// differs from the entry. Nothing of it may be used then.
    pub async fn load(&self, uri: impl Into<String>) -> Result<LoadedSkill, SkillError> {
        // spec: SKILL-08
        let skill = self.get(uri).await?;
        self.load_entry(skill).await
    }

    /// Loads a skill by an entry of [`list`](Self::list) or [`get`](Self::get), like [`load`](Self::load). If
    /// the files have changed since, the verification fails; `load` gets a new entry.
    ///
    /// # Errors
    ///
    /// See [`load`](Self::load).
    // spec: SKILL-25
    pub async fn load_entry(&self, skill: Skill) -> Result<LoadedSkill, SkillError> {
        entry::check(&skill)?;
        let skill = Arc::new(skill);
        // spec: SKILL-26, SKILL-32
        self.approve(&skill).await?;
        let reader = FileReader {
            client: self.extension.client().clone(),
            label: self.label.clone(),
        };
        load_instructions(reader, skill).await
    }

    async fn approve(&self, skill: &Arc<Skill>) -> Result<(), SkillError> {
        let Some(hook) = &self.hook else {
            return Ok(());
        };
        let id = SkillId::new(self.label.clone(), skill.uri.clone());
        let skill = skill.clone();
        let pending = PendingSkill { id, skill };
        let subject = pending.subject();
        // spec: SKILL-33
        if subject
            .as_ref()
            .is_some_and(|subject| self.consents.contains(subject))
        {
            return Ok(());
        }
        let uri = pending.id.uri.clone();
        if !hook(pending).await {
            return Err(SkillError::NotApproved(uri));
        }
        if let Some(subject) = subject {
            self.consents.insert(&subject).await;
        }
        Ok(())
    }

    /// Reads one page of a directory. It is a view for users: it never adds files to a loaded skill.
    ///
    /// # Errors
    ///
    /// Returns [`SkillError::NoDirectories`] if the server does not declare `directoryRead`, and another
    /// [`SkillError`] if the request fails.
    // spec: SKILL-04
    pub async fn read_directory(
        &self,
        uri: impl Into<String>,
        cursor: impl Into<Option<Cursor>>,
    ) -> Result<ReadDirectoryResult, SkillError> {
        if self.settings().directory_read != Some(true) {
            return Err(SkillError::NoDirectories);
        }
        let params = ReadDirectoryParams {
            uri: uri.into(),
            cursor: cursor.into(),
        };
        Ok(self.extension.request::<ReadDirectory>(&params).await?)
    }
}

impl fmt::Debug for SkillsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillsClient")
            .field("label", &self.label)
            .field("has_approval_hook", &self.hook.is_some())
            .finish_non_exhaustive()
    }
}
