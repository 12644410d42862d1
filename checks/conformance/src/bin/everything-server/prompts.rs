//! The prompts of the suite.

use conformance::PNG;
use mcp::prelude::*;

pub(crate) struct Prompts;

#[mcp::server(routes = routes)]
impl Prompts {
    /// A simple prompt without arguments
    #[prompt]
    fn test_simple_prompt() -> &'static str {
        "This is a simple prompt for testing."
    }

    /// A prompt with two arguments
    #[prompt]
    fn test_prompt_with_arguments(
        /** First test argument */
        arg1: String,
        /** Second test argument */
        arg2: String,
    ) -> String {
        format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
    }

    #[completion(prompt = "test_prompt_with_arguments", argument = "arg1")]
    fn values_of_arg1(prefix: &str) -> Vec<&'static str> {
        let values = ["paris", "park", "party", "testValue1"];
        values
            .into_iter()
            .filter(|value| value.starts_with(prefix))
            .collect()
    }

    /// A prompt with an embedded resource
    #[prompt]
    fn test_prompt_with_embedded_resource(
        /** URI of the resource to embed */
        #[arg(name = "resourceUri")]
        uri: String,
    ) -> [PromptMessage; 2] {
        let contents = ResourceContents::text(uri, "Embedded resource content for testing.");
        [
            user(ContentBlock::resource(contents.mime_type("text/plain"))),
            user("Please process the embedded resource above."),
        ]
    }

    /// A prompt with an image
    #[prompt]
    fn test_prompt_with_image() -> [PromptMessage; 2] {
        [
            user(ContentBlock::image(PNG, "image/png")),
            user("Please analyze the image above."),
        ]
    }
}
