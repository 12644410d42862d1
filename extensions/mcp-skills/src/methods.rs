//! The extension's definition: its settings and requests.

use mcp_core::extension::{CustomRequest, Extension, ListRequest};
use mcp_types::{Method, meta::keys};

use crate::types::{
    GetSkillParams, GetSkillResult, ListSkillsParams, ListSkillsResult, ReadDirectoryParams,
    ReadDirectoryResult, Skill, SkillsSettings,
};

#[cfg(feature = "server")]
pub(crate) use crate::server::Skills;

/// The extension in a program that publishes no skills.
#[cfg(not(feature = "server"))]
pub(crate) struct Skills;

// spec: SKILL-01
impl Extension for Skills {
    const ID: &'static str = keys::SKILLS_EXTENSION;
    type ServerSettings = SkillsSettings;
    type ClientSettings = ();
}

macro_rules! requests {
    ($($request:ident: $params:ty => $result:ty;)*) => {
        $(
            pub(crate) struct $request;

            impl CustomRequest for $request {
                const METHOD: &'static str = Method::$request.as_str();
                type Extension = Skills;
                type Params = $params;
                type Result = $result;
            }
        )*
    };
}

requests! {
    ListSkills: ListSkillsParams => ListSkillsResult;
    GetSkill: GetSkillParams => GetSkillResult;
    ReadDirectory: ReadDirectoryParams => ReadDirectoryResult;
}

impl ListRequest for ListSkills {
    type Item = Skill;

    fn into_items(page: ListSkillsResult) -> Vec<Skill> {
        page.skills
    }
}
