//! Sampling and roots.

use std::sync::Arc;

use mcp_types::{
    ClientCapabilities, ContentBlock, CreateMessageParams, CreateMessageResult, ListRootsResult,
    ProtocolVersion, SamplingContent, SamplingMessage,
};

use super::content::{describe, describe_all, narrow_block};
use super::narrowed::Narrow;
use crate::message::Fault;

/// Checks that the revision has tools in sampling, if the request needs them.
// spec: SAMP-04
pub(super) fn check(params: &CreateMessageParams, to: ProtocolVersion) -> Result<(), Fault> {
    if params.needs_tools() && !to.has_sampling_tools() {
        let required = Arc::new(ClientCapabilities::default().with_sampling_tools());
        return Err(Fault::MissingCapability { required });
    }
    Ok(())
}

// spec: SAMP-06
impl Narrow for CreateMessageParams {
    fn narrow(&mut self, to: ProtocolVersion) {
        if !to.has_sampling_tools() {
            self.messages = std::mem::take(&mut self.messages)
                .into_iter()
                .flat_map(one_block_each)
                .collect();
        }
        self.messages
            .iter_mut()
            .for_each(|message| message.content.narrow(to));
        self.tools.iter_mut().for_each(|tool| tool.narrow(to));
        if !to.has_experimental_tasks() {
            self.task = None;
        }
    }
}

/// Splits a message of several blocks into several messages.
// spec: SAMP-07
fn one_block_each(message: SamplingMessage) -> impl Iterator<Item = SamplingMessage> {
    let SamplingMessage { role, content, .. } = message;
    let blocks = match content {
        SamplingContent::One(block) => vec![block],
        SamplingContent::Many(blocks) => blocks,
        _ => Vec::new(),
    };
    let blocks = blocks.into_iter();
    blocks.map(move |block| SamplingMessage::new(role.clone(), block))
}

impl Narrow for SamplingContent {
    fn narrow(&mut self, to: ProtocolVersion) {
        match self {
            Self::One(block) => narrow_sampled(block, to),
            Self::Many(blocks) => blocks
                .iter_mut()
                .for_each(|block| narrow_sampled(block, to)),
            _ => {}
        }
    }
}

/// Narrows a block of a conversation, which cannot contain resources and links to them.
// spec: SAMP-07
fn narrow_sampled(block: &mut ContentBlock, to: ProtocolVersion) {
    if let ContentBlock::Resource(_) | ContentBlock::ResourceLink(_) = block {
        *block = ContentBlock::text(describe(block));
    }
    narrow_block(block, to);
}

/// The result is one message. Several blocks become one text for older revisions.
// spec: SAMP-07, SAMP-12
impl Narrow for CreateMessageResult {
    fn narrow(&mut self, to: ProtocolVersion) {
        if let SamplingContent::Many(blocks) = &mut self.content
            && !to.has_sampling_tools()
        {
            let block = match blocks.pop() {
                Some(only) if blocks.is_empty() => only,
                last => {
                    blocks.extend(last);
                    ContentBlock::text(describe_all(blocks))
                }
            };
            self.content = SamplingContent::One(block);
        }
        self.content.narrow(to);
        if to.is_modern() {
            self.meta = None;
        }
    }
}

// spec: META-16, META-17
impl Narrow for ListRootsResult {
    fn narrow(&mut self, to: ProtocolVersion) {
        if !to.has_titles_and_structure() {
            self.roots.iter_mut().for_each(|root| root.meta = None);
        }
        if to.is_modern() {
            self.meta = None;
        }
    }
}
