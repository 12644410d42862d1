//! `mcp new`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::cli::{NewArgs, Template};
use crate::failure::{Failure, usage};
use crate::output::Output;
use crate::written;

/// The clone in which this program was built. It does not exist where the program comes from a registry.
const OWN_CLONE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// Maximum length of a package name.
const MAX_NAME: usize = 64;

/// A file of the new crate: its path in the folder, and its text.
type NewFile = (String, String);

pub(super) fn run(args: &NewArgs, output: &Output) -> Result<(), Failure> {
    let name = package_name(&args.path)?;
    let sdk = find_sdk(args.sdk.as_deref())?;
    let files = files(args.template, name, sdk.as_deref(), &args.path);
    if args.dry_run {
        print(args, &files, output);
        return Ok(());
    }
    create_folder(&args.path)?;
    for (path, text) in &files {
        write(&args.path.join(path), text)?;
    }
    // The versions with which the SDK was tested; cargo drops those that the crate does not need.
    if let Some(lock) = sdk
        .map(|sdk| sdk.join("Cargo.lock"))
        .filter(|lock| lock.is_file())
    {
        let copied = fs::copy(&lock, args.path.join("Cargo.lock"));
        copied.map_err(|error| Failure::unwritable(&lock, &error))?;
    }
    print(args, &files, output);
    Ok(())
}

/// Returns the last part of the path, which becomes the name of the package and its program.
fn package_name(path: &Path) -> Result<&str, Failure> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let is_valid = name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        && !matches!(
            name,
            "test" | "core" | "std" | "alloc" | "proc_macro" | "mcp" | "omnimcp" | "tokio"
        );
    if is_valid {
        return Ok(name);
    }
    Err(usage!(
        "{name:?} cannot be the name of a package: begin with a letter, then letters, digits, `-` and `_`, up to {MAX_NAME}"
    ))
}

/// Finds the clone of the SDK. `None` takes the packages from the registry.
fn find_sdk(given: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    let folder = given.unwrap_or(Path::new(OWN_CLONE));
    let is_clone = folder.join("mcp/Cargo.toml").is_file();
    match fs::canonicalize(folder) {
        Ok(folder) if is_clone => Ok(Some(folder)),
        _ if given.is_none() => Ok(None),
        _ => Err(usage!(
            "{} is not a clone of the SDK: it has no file mcp/Cargo.toml",
            folder.display()
        )),
    }
}

fn create_folder(path: &Path) -> Result<(), Failure> {
    written::destination(path).map_err(|error| Failure::unwritable(path, &error))?;
    match fs::read_dir(path).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Err(usage!(
            "{} has files; choose another name, or a folder that is empty",
            path.display()
        )),
        Ok(false) => Ok(()),
        Err(_) => fs::create_dir_all(path).map_err(|error| Failure::unwritable(path, &error)),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = folder.and_then(|()| fs::write(path, text));
    written.map_err(|error| Failure::unwritable(path, &error))
}

/// Returns the source of a template.
const fn source(template: Template) -> &'static str {
    match template {
        Template::Minimal => include_str!("../../templates/minimal/main.rs"),
        Template::Http => include_str!("../../templates/http/main.rs"),
        Template::Protected => include_str!("../../templates/protected/main.rs"),
        Template::Agent => include_str!("../../templates/agent/main.rs"),
    }
}

/// The files for the deployment of a server over HTTP, by path.
const DEPLOYMENT: [(&str, &str); 6] = [
    (
        "deploy/Dockerfile",
        include_str!("../../templates/deploy/Dockerfile"),
    ),
    (
        "deploy/compose.yaml",
        include_str!("../../templates/deploy/compose.yaml"),
    ),
    (
        "deploy/nginx.conf",
        include_str!("../../templates/deploy/nginx.conf"),
    ),
    (
        "deploy/Caddyfile",
        include_str!("../../templates/deploy/Caddyfile"),
    ),
    (
        "deploy/{{name}}.service",
        include_str!("../../templates/deploy/service.service"),
    ),
    (
        "deploy/kubernetes.yaml",
        include_str!("../../templates/deploy/kubernetes.yaml"),
    ),
];

fn files(template: Template, name: &str, sdk: Option<&Path>, folder: &Path) -> Vec<NewFile> {
    let named = |text: &str| text.replace("{{name}}", name);
    let file = |path: &str, text: &str| (named(path), named(text));
    let mut files = vec![
        file("Cargo.toml", &manifest(template, name, sdk, folder)),
        file("src/main.rs", source(template)),
        file("README.md", &readme(template)),
        file(".gitignore", "/target\n"),
    ];
    match template {
        Template::Http => files.extend(DEPLOYMENT.map(|(path, text)| file(path, text))),
        Template::Agent => files.push(file(
            "mcp.json",
            include_str!("../../templates/agent/mcp.json"),
        )),
        Template::Minimal | Template::Protected => {}
    }
    files
}

fn manifest(template: Template, name: &str, sdk: Option<&Path>, folder: &Path) -> String {
    let package = |package: &str, folder: &str| match sdk {
        // A literal TOML string keeps Windows backslashes.
        Some(sdk) => format!("{package} = {{ path = '{}'", sdk.join(folder).display()),
        None => format!("{package} = {{ version = \"{}\"", env!("CARGO_PKG_VERSION")),
    };
    let features = match template {
        Template::Minimal => {
            "default-features = false, features = [\"macros\", \"server\", \"stdio\"]"
        }
        Template::Http => "features = [\"client\"]",
        Template::Protected => "features = [\"auth\", \"client\"]",
        Template::Agent => {
            "default-features = false, features = [\"client\", \"http\", \"stdio\", \"toolset\"]"
        }
    };
    let tokio = match template {
        Template::Minimal | Template::Agent => "\"macros\", \"rt-multi-thread\"",
        Template::Http | Template::Protected => "\"macros\", \"net\", \"rt-multi-thread\"",
    };
    let mut manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n"
    );
    if template == Template::Http {
        manifest.push_str("axum = \"0.8\"\n");
    }
    manifest.push_str(&format!("{}, {features} }}\n", package("omnimcp", "mcp")));
    if template == Template::Agent {
        manifest.push_str("reqwest = \"0.13\"\nserde_json = \"1\"\n");
    }
    manifest.push_str(&format!(
        "tokio = {{ version = \"1\", features = [{tokio}] }}\n"
    ));
    manifest.push_str("\n[dev-dependencies]\n");
    if template == Template::Agent {
        // The server of its test.
        let sdk = package("omnimcp", "mcp");
        manifest.push_str(&format!(
            "{sdk}, default-features = false, features = [\"macros\"] }}\n"
        ));
    }
    let testing = package("omnimcp-testing", "integrations/mcp-testing");
    manifest.push_str(&format!("{testing} }}\nserde_json = \"1\"\n"));
    if is_inside_of_a_package(folder) {
        manifest.push_str("\n# A workspace of its own; remove the table to join the one around it.\n[workspace]\n");
    }
    manifest
}

/// Returns true if cargo would look for the crate in the workspace of a folder above it.
fn is_inside_of_a_package(folder: &Path) -> bool {
    let folder = std::path::absolute(folder).unwrap_or_default();
    folder
        .ancestors()
        .skip(1)
        .any(|above| above.join("Cargo.toml").is_file())
}

fn readme(template: Template) -> String {
    let what = match template {
        Template::Minimal => "A server of the Model Context Protocol on standard streams.",
        Template::Http => {
            "A server of the Model Context Protocol over HTTP, in an axum application. `deploy` has files for containers, systemd, Kubernetes, nginx and Caddy."
        }
        Template::Protected => {
            "A server of the Model Context Protocol over HTTP that demands access tokens."
        }
        Template::Agent => "An agent: a language model that works with the servers in `mcp.json`.",
    };
    let commands = commands(template).join("\n");
    format!("# {{{{name}}}}\n\n{what}\n\n```sh\n{commands}\n```\n")
}

/// The next commands, in the crate's folder.
const fn commands(template: Template) -> [&'static str; 3] {
    match template {
        Template::Minimal => [
            "cargo test",
            "mcp dev --http --inspect",
            "cargo build --release && mcp install --host claude-code -- target/release/{{name}}",
        ],
        Template::Http | Template::Protected => {
            ["cargo test", "mcp dev --http --inspect", "cargo run"]
        }
        Template::Agent => [
            "cargo test",
            "export ANTHROPIC_API_KEY=… MODEL=…",
            "cargo run -- 'Which tools do you have?'",
        ],
    }
}

fn print(args: &NewArgs, files: &[NewFile], output: &Output) {
    let name = args.path.file_name().unwrap_or_default().to_string_lossy();
    let next = commands(args.template).map(|command| command.replace("{{name}}", &name));
    if output.json {
        output.document(&json!({
            "folder": args.path,
            "files": files.iter().map(|(path, _)| path).collect::<Vec<_>>(),
            "next": next,
            "dryRun": args.dry_run,
        }));
        return;
    }
    for (path, _) in files {
        output.line(&args.path.join(path).display().to_string());
    }
    output.note(&format!("next, in {}:", args.path.display()));
    for command in next {
        output.note(&format!("  {command}"));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::package_name;

    #[test]
    fn package_gets_its_name_from_the_folder() {
        for (path, name) in [
            ("shop", Some("shop")),
            ("work/my-shop_2", Some("my-shop_2")),
        ] {
            assert_eq!(package_name(Path::new(path)).ok(), name);
        }
        for path in [
            "",
            ".",
            "..",
            "2shop",
            "my shop",
            "shop.rs",
            "test",
            "tokio",
            "l\u{f6}ffel",
        ] {
            assert!(package_name(Path::new(path)).is_err(), "{path:?}");
        }
        assert!(package_name(Path::new(&"x".repeat(65))).is_err());
    }
}
