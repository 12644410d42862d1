//! The catalogs of real servers, with the names of a gateway. Each file names its package.

use mcp_types::Tool;
use serde::Deserialize;

const CATALOGS: [(&str, &str); 12] = [
    ("context7", include_str!("catalogs/context7.json")),
    ("fetch", include_str!("catalogs/fetch.json")),
    ("filesystem", include_str!("catalogs/filesystem.json")),
    ("git", include_str!("catalogs/git.json")),
    ("github", include_str!("catalogs/github.json")),
    ("kubernetes", include_str!("catalogs/kubernetes.json")),
    ("maps", include_str!("catalogs/maps.json")),
    ("memory", include_str!("catalogs/memory.json")),
    ("notion", include_str!("catalogs/notion.json")),
    ("playwright", include_str!("catalogs/playwright.json")),
    ("slack", include_str!("catalogs/slack.json")),
    ("time", include_str!("catalogs/time.json")),
];

/// The head of a picture with one pixel.
pub(crate) const PNG: &[u8; 24] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01";

/// Returns the tools of all catalogs, named `server__tool`.
pub(crate) fn tools() -> Vec<Tool> {
    #[derive(Deserialize)]
    struct Catalog {
        tools: Vec<Tool>,
    }

    let catalogs = CATALOGS.into_iter().flat_map(|(server, json)| {
        let catalog: Catalog = serde_json::from_str(json).unwrap();
        catalog.tools.into_iter().map(move |mut tool| {
            tool.name = format!("{server}__{}", tool.name);
            tool
        })
    });
    catalogs.collect()
}
