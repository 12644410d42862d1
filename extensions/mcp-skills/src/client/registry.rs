//! The skills of several servers.

use std::collections::HashMap;

use super::approval::SkillId;
use super::error::SkillError;
use super::loaded::LoadedSkill;
use super::skills_client::SkillsClient;
use crate::types::Skill;

/// The skills of several servers, each in its own name space. A skill never hides one of the same name on
/// another server.
///
/// # Examples
///
/// ```
/// use mcp::skills::client::SkillRegistry;
/// use mcp::skills::SkillsClient;
///
/// # async fn example(docs: SkillsClient, shop: SkillsClient) -> Result<(), mcp::skills::SkillError> {
/// let registry = SkillRegistry::new().add(docs.label("docs"))?.add(shop.label("shop"))?;
/// for skill in registry.list().await? {
///     // `refunds`, or `docs: refunds` and `shop: refunds` if both have one.
///     println!("{}", skill.display_name);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct SkillRegistry {
    servers: Vec<SkillsClient>,
}

/// A skill in a registry's list.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ListedSkill {
    /// The identity, for [`SkillRegistry::load`].
    pub id: SkillId,
    /// The name for users. It contains the server's label and the URI as far as several skills have the
    /// same name.
    pub display_name: String,
    /// The server's entry.
    pub skill: Skill,
}

impl SkillRegistry {
    /// Creates a registry without servers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a server's skills.
    ///
    /// # Errors
    ///
    /// Returns [`SkillError::DuplicateLabel`] if a server with the same label exists.
    #[expect(clippy::should_implement_trait, reason = "adds a server, not a number")]
    pub fn add(mut self, skills: SkillsClient) -> Result<Self, SkillError> {
        if self.find(&skills.label).is_some() {
            return Err(SkillError::DuplicateLabel(skills.label));
        }
        self.servers.push(skills);
        Ok(self)
    }

    fn find(&self, label: &str) -> Option<&SkillsClient> {
        self.servers.iter().find(|server| server.label == label)
    }

    /// Lists the skills of all servers, one after the other.
    ///
    /// # Errors
    ///
    /// Returns the error of the first server that fails.
    pub async fn list(&self) -> Result<Vec<ListedSkill>, SkillError> {
        let mut listed = Vec::new();
        for server in &self.servers {
            for skill in server.list().await? {
                let id = SkillId::new(&server.label, skill.uri.clone());
                let display_name = skill.name().unwrap_or(&skill.uri).to_owned();
                listed.push(ListedSkill {
                    id,
                    display_name,
                    skill,
                });
            }
        }
        // spec: SKILL-28
        disambiguate(&mut listed, |skill| {
            format!("{}: {}", skill.id.label, skill.display_name)
        });
        disambiguate(&mut listed, |skill| {
            format!("{} ({})", skill.display_name, skill.id.uri)
        });
        Ok(listed)
    }

    /// Loads a skill, like [`SkillsClient::load`].
    ///
    /// # Errors
    ///
    /// Returns [`SkillError::UnknownLabel`] if there is no such server, and the errors of
    /// [`SkillsClient::load`].
    pub async fn load(&self, id: &SkillId) -> Result<LoadedSkill, SkillError> {
        // spec: SKILL-21
        let server = self.find(&id.label);
        let server = server.ok_or_else(|| SkillError::UnknownLabel(id.label.clone()))?;
        server.load(id.uri.clone()).await
    }
}

/// Renames all skills whose display name is not unique.
fn disambiguate(listed: &mut [ListedSkill], rename: impl Fn(&ListedSkill) -> String) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for skill in &*listed {
        *counts.entry(skill.display_name.clone()).or_default() += 1;
    }
    for skill in listed {
        if counts
            .get(&skill.display_name)
            .is_some_and(|count| *count > 1)
        {
            skill.display_name = rename(skill);
        }
    }
}
