//! The definition of the extension: its settings and requests.

use mcp_core::extension::{CustomRequest, Extension};
use mcp_types::ext::skills::{
    GetSkillParams, GetSkillResult, ListSkillsParams, ListSkillsResult, ReadDirectoryParams,
    ReadDirectoryResult, SkillsSettings,
};
use mcp_types::{Method, meta::keys};

use super::skills::Skills;

// spec: SKILL-01
impl Extension for Skills {
    const ID: &'static str = keys::SKILLS_EXTENSION;
    type ServerSettings = SkillsSettings;
    type ClientSettings = ();
}

/// `skills/list`
pub(crate) struct ListSkills;

impl CustomRequest for ListSkills {
    const METHOD: &'static str = Method::ListSkills.as_str();
    type Extension = Skills;
    type Params = ListSkillsParams;
    type Result = ListSkillsResult;
}

/// `skills/get`
pub(crate) struct GetSkill;

impl CustomRequest for GetSkill {
    const METHOD: &'static str = Method::GetSkill.as_str();
    type Extension = Skills;
    type Params = GetSkillParams;
    type Result = GetSkillResult;
}

/// `resources/directory/read`
pub(crate) struct ReadDirectory;

impl CustomRequest for ReadDirectory {
    const METHOD: &'static str = Method::ReadDirectory.as_str();
    type Extension = Skills;
    type Params = ReadDirectoryParams;
    type Result = ReadDirectoryResult;
}
