//! `mcp pack`.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use mcp::Client;
use mcp::types::escape_json;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::cli::PackArgs;
use crate::failure::{Failure, usage};
use crate::hosts::{is_secret, secret_argument};
use crate::output::Output;
use crate::{target, written};

/// Largest program in bytes.
const MAX_PROGRAM: u64 = 1 << 30;
/// Largest `Cargo.toml` in bytes.
const MAX_MANIFEST: u64 = 1 << 20;
/// Longest description that the registry accepts, in characters.
const MAX_DESCRIPTION: usize = 100;
/// The file with the entry for the registry.
const ENTRY: &str = "server.json";
/// The schema of `server.json`.
const REGISTRY_SCHEMA: &str =
    "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

pub(super) async fn run(args: &PackArgs, output: &Output) -> Result<(), Failure> {
    let Some(program) = args.target.server.command.first() else {
        return Err(Failure::usage(
            "pass the program after `--`: mcp pack -- target/release/shop",
        ));
    };
    let program = Path::new(program);
    let mut packed = Packed::open(program)?;
    if let Some(name) = secret_argument(&args.target.server.command[1..]) {
        return Err(usage!(
            "the argument {name} looks like a secret, and the bundle would contain its value; pass it as a variable: --env NAME, \
             so that users are asked for theirs"
        ));
    }
    let package = Package::of_folder();
    let server = target::with_client_only(&args.target, output, describe).await?;
    let manifest = manifest(args, &server, &package, program)?;
    let registry = args
        .registry_name
        .as_deref()
        .map(|name| check_registry(name, args, &manifest));
    let registry = registry.transpose()?;
    if args.dry_run {
        output.document(&manifest);
        return Ok(());
    }
    let path = args
        .output
        .clone()
        .unwrap_or_else(|| bundle_name(&manifest));
    if let Some(name) = registry {
        keep_entry(&path.with_file_name(ENTRY), name, output)?;
    }
    let written = written::write_with(&path, |file| write_bundle(file, &manifest, &mut packed));
    written.map_err(|error| Failure::unwritable(&path, &error))?;
    let digest = File::open(&path).and_then(|bundle| copy(bundle, &mut io::sink()));
    let digest = digest.map_err(|error| Failure::unwritable(&path, &error))?;
    let entry = match registry {
        Some(name) => Some(write_entry(&path, name, &digest, args, &manifest)?),
        None => None,
    };
    print(&path, &digest, &manifest, entry.as_deref(), output);
    Ok(())
}

/// The server's own description.
struct Described {
    info: mcp::Implementation,
    tools: Vec<mcp::Tool>,
}

async fn describe(client: &Client) -> Result<Described, Failure> {
    let has = client.capabilities().await?;
    let Some(info) = client.server_info() else {
        return Err(Failure::usage("the server has no name; a bundle needs one"));
    };
    let tools = match has.tools {
        Some(_) => client.list_tools().await?,
        None => Vec::new(),
    };
    Ok(Described { info, tools })
}

/// The package in the current folder, for what the server does not say.
#[derive(Debug, Default, Deserialize)]
struct Package {
    description: Option<String>,
    license: Option<String>,
    #[serde(default)]
    authors: Vec<String>,
}

impl Package {
    fn of_folder() -> Self {
        #[derive(Deserialize)]
        struct Manifest {
            package: Package,
        }
        let path = Path::new("Cargo.toml");
        let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
        let text = is_file.then(|| mcp_files::read(path, MAX_MANIFEST).ok());
        let text = text.flatten().unwrap_or_default();
        let manifest = toml::from_str(&text);
        manifest.map_or_else(|_| Self::default(), |manifest: Manifest| manifest.package)
    }
}

/// The program as it was before its start: it can replace its own file by another one while it is described.
struct Packed {
    file: File,
    digest: String,
}

impl Packed {
    fn open(path: &Path) -> Result<Self, Failure> {
        let found = std::fs::metadata(path)
            .ok()
            .filter(std::fs::Metadata::is_file);
        let Some(found) = found else {
            return Err(usage!(
                "{} is not a file; a bundle contains the program itself: build it first",
                path.display()
            ));
        };
        if found.len() > MAX_PROGRAM {
            return Err(usage!("{} has more than 1 GiB", path.display()));
        }
        let opened = File::open(path).and_then(|file| {
            let digest = copy((&file).take(MAX_PROGRAM), &mut io::sink())?;
            Ok(Self { file, digest })
        });
        opened.map_err(|error| Failure::unusable(path, error))
    }

    /// Copies the program.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or is not what it was before.
    fn copy(&mut self, to: &mut impl io::Write) -> io::Result<()> {
        self.file.rewind()?;
        if copy((&self.file).take(MAX_PROGRAM), to)? == self.digest {
            return Ok(());
        }
        Err(io::Error::other(
            "the program has changed its own file while it was described",
        ))
    }
}

fn manifest(
    args: &PackArgs,
    server: &Described,
    package: &Package,
    program: &Path,
) -> Result<Value, Failure> {
    let Described { info, tools } = server;
    let author = args.author.as_ref().or(package.authors.first());
    let description = [&args.description, &info.description, &package.description];
    let description = description.into_iter().find_map(Option::as_ref);
    let (Some(author), Some(description)) = (author, description) else {
        let missing = [
            author
                .is_none()
                .then_some("an author (--author, or `authors` in Cargo.toml)"),
            description
                .is_none()
                .then_some("a description (--description, or that of Cargo.toml)"),
        ];
        let missing: Vec<_> = missing.into_iter().flatten().collect();
        return Err(usage!("a bundle needs {}", missing.join(" and ")));
    };
    let file = program.file_name().unwrap_or_default().to_string_lossy();
    let entry_point = format!("server/{file}");
    let (env, asked) = environment(&args.target.server.env)?;
    let tools = tools.iter().map(|tool| {
        let mut listed = Map::new();
        listed.insert("name".to_owned(), tool.name.as_str().into());
        if let Some(description) = &tool.description {
            listed.insert("description".to_owned(), description.as_str().into());
        }
        Value::Object(listed)
    });
    let mut manifest = json!({
        "manifest_version": "0.3",
        "name": info.name,
        "version": info.version,
        "description": description,
        "author": author_of(author),
        "server": {
            "type": "binary",
            "entry_point": entry_point,
            "mcp_config": {
                "command": format!("${{__dirname}}/{entry_point}"),
                "args": args.target.server.command[1..],
                "env": env,
            },
        },
        "tools": tools.collect::<Vec<_>>(),
        "compatibility": {"platforms": [platform()]},
    });
    let optional = [
        ("display_name", info.title.as_ref()),
        ("homepage", info.website_url.as_ref()),
        ("license", package.license.as_ref()),
    ];
    for (member, value) in optional {
        if let Some(value) = value {
            manifest[member] = value.as_str().into();
        }
    }
    if !asked.is_empty() {
        manifest["user_config"] = asked.into();
    }
    Ok(manifest)
}

/// Splits `Name <mail>`.
fn author_of(text: &str) -> Value {
    match text.split_once('<') {
        Some((name, mail)) => {
            json!({"name": name.trim(), "email": mail.trim_end_matches('>').trim()})
        }
        None => json!({"name": text.trim()}),
    }
}

/// Variables by name.
type Variables = Map<String, Value>;

/// The program variables: with values, and those that the user is asked for when the bundle is installed.
///
/// # Errors
///
/// Returns a usage [`Failure`] for the value of a secret: everybody who gets the bundle can read it.
fn environment(list: &[String]) -> Result<(Variables, Variables), Failure> {
    let (mut env, mut asked) = (Map::new(), Map::new());
    for text in list {
        if let Some((name, value)) = text.split_once('=') {
            if is_secret(name) {
                return Err(usage!(
                    "the variable {name:?} looks like a secret, and the bundle would contain its value; pass --env {name}, \
                     so that users are asked for theirs"
                ));
            }
            env.insert(name.to_owned(), value.into());
            continue;
        }
        env.insert(text.clone(), format!("${{user_config.{text}}}").into());
        let question = json!({
            "type": "string",
            "title": text,
            "description": format!("Value of the variable {text}"),
            "required": true,
            "sensitive": true,
        });
        asked.insert(text.clone(), question);
    }
    Ok((env, asked))
}

const fn platform() -> &'static str {
    if cfg!(windows) {
        "win32"
    } else if cfg!(target_os = "macos") {
        "darwin"
    } else {
        "linux"
    }
}

fn member<'a>(manifest: &'a Value, name: &str) -> &'a str {
    manifest[name].as_str().unwrap_or_default()
}

/// The default file: characters that file names cannot have are replaced.
fn bundle_name(manifest: &Value) -> PathBuf {
    let name = format!(
        "{}-{}",
        member(manifest, "name"),
        member(manifest, "version")
    );
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = name
        .chars()
        .map(|c| if is_plain(c) { c } else { '-' })
        .collect();
    // A name that begins with `-` is an option of other commands.
    format!("{}.mcpb", name.trim_start_matches(['.', '-'])).into()
}

/// Writes the bundle. The same inputs give the same bytes.
fn write_bundle(file: &mut File, manifest: &Value, program: &mut Packed) -> io::Result<()> {
    let mut bundle = ZipWriter::new(file);
    let options = SimpleFileOptions::default();
    bundle.start_file("manifest.json", options)?;
    let text = format!("{manifest:#}\n");
    bundle.write_all(escape_json(&text).as_bytes())?;
    let entry_point = manifest["server"]["entry_point"]
        .as_str()
        .unwrap_or_default();
    bundle.start_file(entry_point, options.unix_permissions(0o755))?;
    program.copy(&mut bundle)?;
    bundle.finish()?;
    Ok(())
}

/// Copies all bytes. Returns their digest.
fn copy(mut from: impl io::Read, to: &mut impl io::Write) -> io::Result<String> {
    struct Hashing<W>(hmac_sha256::Hash, W);
    impl<W: io::Write> io::Write for Hashing<W> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let written = self.1.write(bytes)?;
            self.0.update(&bytes[..written]);
            Ok(written)
        }
        fn flush(&mut self) -> io::Result<()> {
            self.1.flush()
        }
    }
    let mut copied = Hashing(hmac_sha256::Hash::new(), to);
    io::copy(&mut from, &mut copied)?;
    let digest = copied.0.finalize();
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Checks what the registry demands of an entry, before the bundle is written.
fn check_registry<'a>(
    name: &'a str,
    args: &PackArgs,
    manifest: &Value,
) -> Result<&'a str, Failure> {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
    };
    let is_valid = name
        .split_once('/')
        .is_some_and(|(space, server)| space.contains('.') && is_plain(space) && is_plain(server));
    if !is_valid {
        return Err(usage!(
            "{name:?} is not a name of the registry: a domain backwards and a name, such as io.github.ada/shop"
        ));
    }
    if args
        .url
        .as_deref()
        .is_none_or(|url| !url.starts_with("https://"))
    {
        return Err(Failure::usage(
            "the registry needs the https URL of the bundle: pass --url",
        ));
    }
    let length = member(manifest, "description").chars().count();
    if length > MAX_DESCRIPTION {
        return Err(usage!(
            "the registry accepts descriptions of {MAX_DESCRIPTION} characters, this one has {length}: pass --description"
        ));
    }
    Ok(name)
}

/// Keeps a file that would be replaced, unless it is an entry of the same server.
fn keep_entry(path: &Path, name: &str, output: &Output) -> Result<(), Failure> {
    let unwritable = |error| Failure::unwritable(path, &error);
    let path = &written::destination(path).map_err(unwritable)?;
    if !path.is_file() {
        return Ok(());
    }
    let old =
        mcp_files::read(path, MAX_MANIFEST).map_err(|error| Failure::unusable(path, error))?;
    let entry: Value = serde_json::from_str(&old).unwrap_or_default();
    if entry["name"] == name {
        return Ok(());
    }
    let kept = written::keep(path, old.as_bytes()).map_err(unwritable)?;
    let text = written::describe(&kept);
    if kept.0 {
        output.note(&text);
        return Ok(());
    }
    let path = path.display();
    Err(usage!(
        "{path} is not the entry of {name:?}, and {text}; move it away, or write into another folder with --output"
    ))
}

/// Writes `server.json` beside the bundle.
fn write_entry(
    bundle: &Path,
    name: &str,
    digest: &str,
    args: &PackArgs,
    manifest: &Value,
) -> Result<PathBuf, Failure> {
    let asked = manifest["user_config"].as_object().into_iter().flatten();
    let variables =
        asked.map(|(name, _)| json!({"name": name, "isRequired": true, "isSecret": true}));
    let entry = json!({
        "$schema": REGISTRY_SCHEMA,
        "name": name,
        "description": manifest["description"],
        "version": manifest["version"],
        "packages": [{
            "registryType": "mcpb",
            "identifier": args.url,
            "version": manifest["version"],
            "fileSha256": digest,
            "transport": {"type": "stdio"},
            "environmentVariables": variables.collect::<Vec<_>>(),
        }],
    });
    let path = bundle.with_file_name(ENTRY);
    written::write(&path, escape_json(&format!("{entry:#}\n")).as_bytes())?;
    Ok(path)
}

fn print(path: &Path, digest: &str, manifest: &Value, entry: Option<&Path>, output: &Output) {
    if output.json {
        return output.document(&json!({
            "bundle": path,
            "sha256": digest,
            "manifest": manifest,
            "serverJson": entry,
        }));
    }
    let tools = manifest["tools"].as_array().map_or(0, Vec::len);
    output.line(&format!(
        "{} ({tools} tools, {})",
        path.display(),
        platform()
    ));
    output.line(&format!("sha256 {digest}"));
    if let Some(entry) = entry {
        output.line(&entry.display().to_string());
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::Parser as _;
    use serde_json::json;

    use super::{Described, Package, author_of, bundle_name, environment, manifest};
    use crate::cli::{Cli, Command};

    #[test]
    fn one_error_names_all_that_is_missing() {
        let cli = Cli::try_parse_from(["mcp", "pack", "--", "shop"]).unwrap();
        let Command::Pack(args) = cli.command else {
            panic!("another command");
        };
        let server = Described {
            info: mcp::Implementation::new("shop", "1.0.0"),
            tools: Vec::new(),
        };
        let error = manifest(&args, &server, &Package::default(), Path::new("shop")).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("--author") && error.contains("--description"),
            "{error}"
        );
    }

    #[test]
    fn variables_without_a_value_are_asked_for() {
        let list = ["LEVEL=debug".to_owned(), "SHOP_KEY".to_owned()];
        let (env, asked) = environment(&list).unwrap();
        assert_eq!(
            json!(env),
            json!({"LEVEL": "debug", "SHOP_KEY": "${user_config.SHOP_KEY}"})
        );
        assert_eq!(asked["SHOP_KEY"]["sensitive"], true);
        assert_eq!(asked.len(), 1);
        let refused = environment(&["SHOP_KEY=s3cret".to_owned()]).unwrap_err();
        let refused = refused.to_string();
        assert!(refused.contains("--env SHOP_KEY"), "{refused}");
        assert!(!refused.contains("s3cret"), "{refused}");
    }

    #[test]
    fn server_names_become_file_names() {
        let manifest = json!({"name": "../my shop", "version": "1.0.0"});
        assert_eq!(bundle_name(&manifest), Path::new("my-shop-1.0.0.mcpb"));
        assert_eq!(
            author_of("Ada <ada@example.com>"),
            json!({"name": "Ada", "email": "ada@example.com"})
        );
    }
}
