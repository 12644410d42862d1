//! Results with a malformed part: the other parts are kept.
//!
//! An item that cannot be read is left out of its list, a content block becomes a note. Each part is read alone, so the
//! work is proportional to the size of the result.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use mcp_types::{
    CallToolResult, ContentBlock, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, Method, Prompt, PromptMessage, RawJson, RawObject,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, Tool, escape_line,
    shorten,
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::mend::{self, DECISIVE, Mended, Repairs};
use super::strict::{self, mend_schemas};
use crate::deserialize::DeserializeError;
use crate::message::{Listing, Omission, ResultBody};

/// The maximum number of omissions that a page names. The last one counts the others.
const MAX_OMISSIONS: usize = 100;

/// The maximum number of characters of a name or URI in a note.
const MAX_NAME: usize = 64;

const NO_DEFAULTS: Repairs = Repairs::Optional(&[]);
const CAPABILITIES: (&str, &str) = ("capabilities", "{}");
const SERVER_NAME: (&str, &str) = ("serverInfo.name", "\"\"");
const SERVER_INFO: (&str, &str) = ("serverInfo", r#"{"name":""}"#);

/// Reads a result of which the strict reader has refused a part. Returns `None` if nothing of it can be used.
#[cold]
pub(super) fn read(method: Option<Method>, raw: RawJson<'_>) -> Option<ResultBody> {
    let text = mend::whole_characters(method, raw.as_str());
    let object = RawObject::from_text(&*text).ok()?;
    if let (Cow::Owned(_), Ok(body)) = (&text, strict::read(method, object.as_raw())) {
        return Some(body);
    }
    let object = Members::read(&object)?;
    let method = method?;
    Some(match method {
        Method::ListTools => {
            let mut page = list(method, &object)?;
            mend_schemas(&mut page.0);
            ResultBody::ListTools(listing(page))
        }
        Method::ListResources => ResultBody::ListResources(listing(list(method, &object)?)),
        Method::ListResourceTemplates => {
            ResultBody::ListResourceTemplates(listing(list(method, &object)?))
        }
        Method::ListPrompts => ResultBody::ListPrompts(listing(list(method, &object)?)),
        Method::CallTool => ResultBody::CallTool(call_tool(&object)?),
        Method::ReadResource => ResultBody::ReadResource(read_resource(&object)?),
        Method::GetPrompt => ResultBody::GetPrompt(get_prompt(&object)?),
        Method::Complete => ResultBody::Complete(object.read_as(None, NO_DEFAULTS)?.value),
        Method::Initialize => {
            let defaults = Repairs::Optional(&[CAPABILITIES, SERVER_INFO, SERVER_NAME]);
            ResultBody::Initialize(Arc::new(object.read_as(None, defaults)?.value))
        }
        Method::Discover => {
            let defaults = Repairs::Optional(&[CAPABILITIES]);
            ResultBody::Discover(Arc::new(object.read_as(None, defaults)?.value))
        }
        _ => return None,
    })
}

/// The members of a result.
struct Members<'a>(Vec<(Cow<'a, str>, RawJson<'a>)>);

impl<'a> Members<'a> {
    /// Returns `None` if a member comes twice: two readers would take different ones.
    fn read(object: &'a RawObject) -> Option<Self> {
        let members: Vec<_> = object.as_raw().members().collect();
        let mut names = HashSet::new();
        let is_unique = members.iter().all(|(name, _)| names.insert(&**name));
        is_unique.then_some(Self(members))
    }

    /// Returns the items of a list member. `None` if the member is missing or is not a list.
    fn items(&self, name: &str) -> Option<Vec<&'a str>> {
        let value = self.one(name)?;
        if value.is_null() {
            return Some(Vec::new());
        }
        let items: Vec<&RawValue> = value.read().ok()?;
        Some(items.into_iter().map(RawValue::get).collect())
    }

    fn one(&self, name: &str) -> Option<RawJson<'a>> {
        let mut members = self.0.iter();
        members
            .find(|(member, _)| member == name)
            .map(|(_, value)| *value)
    }

    /// Reads the members as `T`, with an empty list as member `emptied`, and with the defaults of missing members.
    fn read_as<T: DeserializeOwned>(
        &self,
        emptied: Option<&str>,
        repairs: Repairs,
    ) -> Option<Mended<T>> {
        let mut members = self.0.clone();
        for _ in 0..=members.len() {
            let text = written(&members, emptied, repairs);
            let error = match mend::read(&text, repairs) {
                Ok(read) => return Some(read),
                Err(error) => error,
            };
            // What cannot be repaired in a member takes the member with it, and not the others.
            let name = error.path.split(['.', '[']).next().unwrap_or_default();
            if DECISIVE.contains(&name) {
                return None;
            }
            let at = members.iter().position(|(member, _)| member == name)?;
            members.remove(at);
        }
        None
    }
}

/// Writes the members as an object.
fn written(
    members: &[(Cow<'_, str>, RawJson<'_>)],
    emptied: Option<&str>,
    repairs: Repairs,
) -> String {
    let mut text = String::from("{");
    let mut push = |name: &str, value: &str| {
        let comma = if text.len() > 1 { "," } else { "" };
        let name = serde_json::Value::from(name);
        text.push_str(&format!("{comma}{name}:{value}"));
    };
    let kept = members.iter().filter(|(name, _)| Some(&**name) != emptied);
    kept.for_each(|(name, value)| push(name, value.as_str()));
    if let Some(name) = emptied {
        push(name, "[]");
    }
    if let Repairs::Optional(defaults) = repairs {
        let is_missing = |name: &str| members.iter().all(|(member, _)| member != name);
        let missing = defaults.iter().filter(|(name, _)| {
            let is_member = !name.contains('.');
            is_member && is_missing(name)
        });
        missing.for_each(|(name, value)| push(name, value));
    }
    text.push('}');
    text
}

/// A page of a list.
trait ReceivedPage: DeserializeOwned {
    type Item;

    /// The member with the items.
    const ITEMS: &'static str;

    /// The member that names an item.
    const NAME: &'static str;

    fn items(&mut self) -> &mut Vec<Self::Item>;
}

macro_rules! received_page {
    ($($page:ident of $item:ident: $member:literal in $field:ident by $name:literal;)*) => {
        $(impl ReceivedPage for $page {
            type Item = $item;

            const ITEMS: &'static str = $member;
            const NAME: &'static str = $name;

            fn items(&mut self) -> &mut Vec<$item> {
                &mut self.$field
            }
        })*
    };
}

received_page! {
    ListToolsResult of Tool: "tools" in tools by "name";
    ListResourcesResult of Resource: "resources" in resources by "uri";
    ListResourceTemplatesResult of ResourceTemplate: "resourceTemplates" in resource_templates by "uriTemplate";
    ListPromptsResult of Prompt: "prompts" in prompts by "name";
}

fn listing<T>((page, omissions): (T, Vec<Omission>)) -> Arc<Listing<T>> {
    Arc::new(Listing::new(page).with_omissions(omissions))
}

/// Reads a page whose unreadable items are left out.
fn list<T: ReceivedPage>(method: Method, object: &Members<'_>) -> Option<(T, Vec<Omission>)> {
    let omission = |place, name, reason| Omission::new(method.as_str(), place, name, reason);
    let items = object.items(T::ITEMS)?;
    let Mended { value, absent } = object.read_as::<T>(Some(T::ITEMS), NO_DEFAULTS)?;
    let mut page = value;
    let mut omissions = absent
        .into_iter()
        .map(|(place, reason)| omission(place, None, reason))
        .collect::<Vec<_>>();
    let mut more = 0;
    for (index, item) in items.into_iter().enumerate() {
        // As deep as in the page: what is read here can be read again in a list.
        let alone = format!(r#"{{"{}":[{item}]}}"#, T::ITEMS);
        match mend::read::<T>(&alone, Repairs::Evident) {
            Ok(mut read) => page.items().append(read.value.items()),
            Err(_) if omissions.len() >= MAX_OMISSIONS => more += 1,
            Err(error) => {
                let reason = mend::reason(&error, &format!("{}[0]", T::ITEMS));
                let place = format!("{}[{index}]", T::ITEMS);
                omissions.push(omission(place, name(item, T::NAME), reason));
            }
        }
    }
    if more > 0 {
        let reason = format!("{more} more items cannot be read");
        omissions.push(omission(T::ITEMS.to_owned(), None, reason));
    }
    Some((page, omissions))
}

/// Returns a member that is a text.
fn name(item: &str, member: &str) -> Option<String> {
    let item = RawObject::from_text(item).ok()?;
    let mut members = item.as_raw().members();
    let (_, value) = members.find(|(name, _)| name == member)?;
    Some(value.text()?.into_owned())
}

fn call_tool(object: &Members<'_>) -> Option<CallToolResult> {
    let Mended { value, absent } = object.read_as(Some("content"), NO_DEFAULTS)?;
    let mut result: CallToolResult = value;
    // A failure must not pass for a success.
    if absent.iter().any(|(path, _)| path == "isError") {
        result.is_error = Some(true);
    }
    result.content = match (object.items("content"), object.one("content")) {
        (Some(blocks), _) => blocks.into_iter().enumerate().map(block).collect(),
        // One block without the list around it.
        (None, Some(content)) => vec![read_block(content.as_str()).ok()?],
        (None, None) => Vec::new(),
    };
    Some(result)
}

/// Reads a content block, or a text without its block.
fn read_block(json: &str) -> Result<ContentBlock, DeserializeError> {
    match serde_json::from_str::<String>(json) {
        Ok(text) => Ok(ContentBlock::text(text)),
        Err(_) => mend::read(json, Repairs::Evident).map(|block| block.value),
    }
}

/// Reads a content block. An unreadable one becomes a note.
fn block((index, json): (usize, &str)) -> ContentBlock {
    match read_block(json) {
        Ok(block) => block,
        Err(error) => {
            let kind = name(json, "type").unwrap_or_default();
            let kind = escape_line(&shorten(&kind, MAX_NAME)).into_owned();
            let reason = mend::reason(&error, "");
            ContentBlock::text(format!(
                "[content block {index} ({kind:?}) cannot be read: {reason}]"
            ))
        }
    }
}

fn get_prompt(object: &Members<'_>) -> Option<GetPromptResult> {
    let mut result: GetPromptResult = object.read_as(Some("messages"), NO_DEFAULTS)?.value;
    let messages = object.items("messages")?.into_iter().enumerate();
    result.messages = messages
        .map(|(index, json)| match mend::read(json, Repairs::Evident) {
            Ok(message) => message.value,
            Err(_) => message(index, json),
        })
        .collect();
    Some(result)
}

/// Reads a message whose role or content is malformed. A message without a readable role is one of the user.
fn message(index: usize, json: &str) -> PromptMessage {
    let role = name(json, "role").and_then(|role| serde_json::from_value(role.into()).ok());
    let object = RawObject::from_text(json).ok();
    let content = object
        .as_ref()
        .and_then(|object| Members::read(object)?.one("content"));
    let content = content.map_or(json, RawJson::as_str);
    PromptMessage::new(role.unwrap_or(Role::User), block((index, content)))
}

fn read_resource(object: &Members<'_>) -> Option<ReadResourceResult> {
    let mut result: ReadResourceResult = object.read_as(Some("contents"), NO_DEFAULTS)?.value;
    let contents = object.items("contents")?.into_iter().enumerate();
    result.contents = contents
        .map(|(index, json)| match mend::read(json, Repairs::Evident) {
            Ok(contents) => contents.value,
            Err(error) => {
                let reason = mend::reason(&error, "");
                let note = format!("[content {index} cannot be read: {reason}]");
                ResourceContents::text(name(json, "uri").unwrap_or_default(), note)
            }
        })
        .collect();
    Some(result)
}
