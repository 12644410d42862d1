//! Every package that is built or tested with has a licence that this project may be used under.

use cargo_metadata::{CargoOpt, MetadataCommand, Package};
use spdx::{Expression, LicenseReq, ParseMode};

use crate::Result;
use crate::workspace::Workspace;

/// Licences that ask for no more than their text being passed on.
const ALLOWED: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Prints every package with another licence; whether there is none.
pub(crate) fn run(workspace: &Workspace) -> Result<bool> {
    let manifest = workspace.root().join("Cargo.toml");
    let mut command = MetadataCommand::new();
    let metadata = command
        .manifest_path(manifest)
        .features(CargoOpt::AllFeatures)
        .exec()?;
    let foreign: Vec<&Package> = metadata
        .packages
        .iter()
        .filter(|p| p.source.is_some())
        .collect();
    let mut good = true;
    for package in &foreign {
        if let Err(reason) = judge(package.license.as_deref()) {
            println!("{} {}: {reason}", package.name, package.version);
            good = false;
        }
    }
    println!("licences: {} packages", foreign.len());
    Ok(good)
}

/// Whether a licence expression can be met by allowed licences alone.
fn judge(licence: Option<&str>) -> std::result::Result<(), String> {
    let text = licence.ok_or("names no licence; look at its files and decide")?;
    // Old manifests write `MIT/Apache-2.0`, which was never SPDX.
    let expression = Expression::parse_mode(text, ParseMode::LAX)
        .map_err(|error| format!("`{text}` is not a licence expression: {error}"))?;
    if expression.evaluate(|licence: &LicenseReq| ALLOWED.contains(&licence.to_string().as_str())) {
        Ok(())
    } else {
        Err(format!(
            "`{text}` is not on the list in xtask/src/ci/licences.rs; use another crate"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::judge;

    #[test]
    fn permissive_expressions_pass() {
        for licence in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "Unlicense/MIT",
            "GPL-3.0-only OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
            "Apache-2.0 AND ISC",
        ] {
            assert_eq!(judge(Some(licence)), Ok(()), "{licence}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for licence in [
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "AGPL-3.0-or-later OR GPL-2.0-only",
            "Apache-2.0 WITH Classpath-exception-2.0",
            "LicenseRef-Own",
            "Freeware",
            "",
        ] {
            assert!(judge(Some(licence)).is_err(), "{licence}");
        }
        assert!(judge(None).is_err());
    }
}
