//! Files that commands write: links, existing files, other programs.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::kit::{Run, folder, mcp_in, stdio_shop};
use crate::lifecycle::HOSTS;

/// The state of the path that a command writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Absent,
    File,
    Link,
    DanglingLink,
    LinkedFolder,
}

const ALL: [Before; 5] = [
    Before::Absent,
    Before::File,
    Before::Link,
    Before::DanglingLink,
    Before::LinkedFolder,
];

/// The text of a file that is there already: settings with a comment.
const OLD: &str = "{ /* mine */ }\n";
/// A file of the user that a link leads to.
const VICTIM: &str = "ssh-ed25519 AAAA user\n";

/// A command that writes `path`, which is relative to its folder.
struct Writer {
    name: &'static str,
    path: &'static str,
    words: Vec<String>,
    /// True if it refuses an existing file of another kind, or keeps it.
    merges: bool,
}

fn writers(program: &str) -> Vec<Writer> {
    let writer = |name, path, merges, line: &str| {
        let words = line.split(' ').map(|word| word.replace("PROGRAM", program));
        Writer {
            name,
            path,
            words: words.collect(),
            merges,
        }
    };
    let pack = "pack --author Ada --description Shop --registry-name io.github.ada/shop --url https://a.example/a";
    vec![
        writer(
            "install",
            "sub/.mcp.json",
            true,
            "install --host claude-code --file sub/.mcp.json --name shop -- PROGRAM",
        ),
        writer(
            "install-project",
            ".cursor/mcp.json",
            true,
            "install --host cursor --project --name shop -- PROGRAM",
        ),
        writer(
            "install-codex",
            ".codex/config.toml",
            true,
            "install --host codex --project --name shop -- PROGRAM",
        ),
        writer(
            "pack",
            "sub/shop.mcpb",
            false,
            &format!("{pack} -o sub/shop.mcpb -- PROGRAM"),
        ),
        writer(
            "pack-entry",
            "sub/server.json",
            false,
            &format!("{pack} -o sub/shop.mcpb -- PROGRAM"),
        ),
        writer(
            "snapshot",
            "sub/shop.json",
            false,
            "snapshot -o sub/shop.json -- PROGRAM",
        ),
        writer(
            "gen",
            "sub/shop.rs",
            false,
            "gen rust -o sub/shop.rs -- PROGRAM",
        ),
    ]
}

/// Writes a small program, because a large one takes long to pack.
fn program(folder: &Path) -> String {
    let program = folder.join("shop");
    fs::write(&program, format!("#!/bin/sh\nexec '{}'\n", stdio_shop())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program.to_str().unwrap().to_owned()
}

fn run(folder: &Path, writer: &Writer) -> Run {
    let words: Vec<_> = writer.words.iter().map(String::as_str).collect();
    mcp_in(folder, &words, "")
}

#[test]
fn files_in_a_project_are_written_through_no_link() {
    let outside = folder("written-outside");
    let shop = program(&outside);
    for writer in writers(&shop) {
        for before in ALL {
            let case = format!("{} {before:?}", writer.name);
            let folder = folder(&format!("written-{}-{before:?}", writer.name));
            let victim = outside.join(format!("victim-{}-{before:?}", writer.name));
            let path = folder.join(writer.path);
            let parent = path.parent().unwrap().to_owned();
            fs::write(&victim, VICTIM).unwrap();
            if before == Before::LinkedFolder {
                let elsewhere = folder.join("../written-outside/elsewhere");
                fs::create_dir_all(&elsewhere).unwrap();
                symlink(fs::canonicalize(&elsewhere).unwrap(), &parent).unwrap();
            } else {
                fs::create_dir_all(&parent).unwrap();
            }
            match before {
                Before::Absent | Before::LinkedFolder => {}
                Before::File => {
                    let old = if writer.path.ends_with("toml") {
                        "# mine\n"
                    } else {
                        OLD
                    };
                    fs::write(&path, old).unwrap();
                    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
                }
                Before::Link => symlink(&victim, &path).unwrap(),
                Before::DanglingLink => {
                    fs::remove_file(&victim).unwrap();
                    symlink(&victim, &path).unwrap();
                }
            }
            let done = run(&folder, &writer);
            let is_refused = matches!(
                before,
                Before::Link | Before::DanglingLink | Before::LinkedFolder
            );
            assert_eq!(done.code, i32::from(is_refused), "{case}: {done:?}");
            if is_refused {
                assert!(done.err.contains("is a link"), "{case}: {done:?}");
            } else {
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                let keeps = text.contains("mine");
                assert_eq!(
                    keeps,
                    before == Before::File && writer.merges,
                    "{case}: {text}"
                );
            }
            if before == Before::File {
                let mode = fs::metadata(&path).unwrap().permissions().mode();
                assert_eq!(mode & 0o777, 0o640, "{case}");
            }
            if before == Before::DanglingLink {
                assert!(!victim.exists(), "{case}");
            } else {
                assert_eq!(fs::read_to_string(&victim).unwrap(), VICTIM, "{case}");
            }
            let left = fs::read_dir(outside.join("elsewhere"));
            assert_eq!(left.map_or(0, Iterator::count), 0, "{case}");
        }
    }
}

#[test]
fn link_at_a_backup_is_not_followed() {
    let folder = folder("written-backup");
    let victim = folder.join("authorized_keys");
    let backup = folder.join(".mcp.json.mcp-backup");
    let words = [
        "install",
        "--host",
        "claude-code",
        "--project",
        "--name",
        "shop",
        "--",
        "npx",
    ];
    for dangling in [false, true] {
        drop(fs::remove_file(&backup));
        fs::write(folder.join(".mcp.json"), "{ // ssh-ed25519 AAAA evil\n}\n").unwrap();
        fs::write(&victim, VICTIM).unwrap();
        symlink(&victim, &backup).unwrap();
        if dangling {
            fs::remove_file(&victim).unwrap();
        }
        let done = mcp_in(&folder, &words, "");
        assert_eq!(done.code, 0);
        assert!(done.err.contains("the old file is not kept"), "{done:?}");
        assert_eq!(victim.exists(), !dangling);
        assert!(dangling || fs::read_to_string(&victim).unwrap() == VICTIM);
    }
    assert_eq!(fs::read_link(&backup).unwrap(), victim);
}

#[test]
fn first_backup_stays() {
    let folder = folder("written-first-backup");
    fs::write(folder.join(".mcp.json"), OLD).unwrap();
    for name in ["a", "b"] {
        let words = [
            "install",
            "--host",
            "claude-code",
            "--project",
            "--name",
            name,
            "--",
            "npx",
        ];
        assert_eq!(mcp_in(&folder, &words, "").code, 0);
    }
    let backup = fs::read_to_string(folder.join(".mcp.json.mcp-backup")).unwrap();
    assert_eq!(backup, OLD);
}

#[test]
fn link_by_the_user_stays_and_its_target_is_replaced() {
    for is_dangling in [false, true] {
        let folder = folder(&format!("written-user-{is_dangling}"));
        let target = folder.join("home/dotfiles/cursor.json");
        let link = folder.join("home/.cursor/mcp.json");
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        if !is_dangling {
            fs::write(&target, OLD).unwrap();
        }
        symlink("../dotfiles/cursor.json", &link).unwrap();
        let words = ["install", "--host", "cursor", "--name", "shop", "--", "npx"];
        let done = mcp_in(&folder, &words, "");
        assert_eq!(done.code, 0, "{done:?}");
        assert!(link.is_symlink());
        assert!(fs::read_to_string(&target).unwrap().contains("\"shop\""));
        if is_dangling {
            let mode = fs::metadata(&target).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        } else {
            let backup = folder.join("home/dotfiles/cursor.json.mcp-backup");
            assert_eq!(fs::read_to_string(backup).unwrap(), OLD);
        }
    }
}

/// Creates a clone for a test: tests may run below a clone of this repository.
fn project(name: &str) -> PathBuf {
    let folder = folder(name);
    fs::create_dir(folder.join(".git")).unwrap();
    folder
}

/// The project is the whole clone: also a path above the current folder goes through none of its links.
#[test]
fn path_above_current_folder_follows_no_link_in_the_clone() {
    folder("written-above");
    let folder = project("written-above/clone");
    fs::create_dir(folder.join("sub")).unwrap();
    symlink("../../authorized_keys", folder.join("m.json")).unwrap();
    symlink("..", folder.join("up")).unwrap();
    for path in ["../m.json", "../up/m.json"] {
        let words = install_to(path);
        let refused = mcp_in(&folder.join("sub"), &words, "");
        assert!(
            refused.code == 1 && refused.err.contains("is a link"),
            "{path}: {refused:?}"
        );
    }
    // Outside of the clone, a link is one of the user.
    symlink("keys.json", folder.join("../link.json")).unwrap();
    let words = [
        "install",
        "--host",
        "cursor",
        "--file",
        "../../link.json",
        "--name",
        "shop",
        "--",
        "npx",
    ];
    let done = mcp_in(&folder.join("sub"), &words, "");
    assert_eq!(done.code, 0, "{done:?}");
    assert!(folder.join("../keys.json").is_file() && folder.join("../link.json").is_symlink());
}

/// The words that install a server into a file.
fn install_to(file: &str) -> [&str; 9] {
    [
        "install", "--host", "cursor", "--file", file, "--name", "shop", "--", "npx",
    ]
}

#[test]
fn path_that_leaves_a_project_is_refused() {
    let folder = project("written-out/project");
    let done = mcp_in(&folder, &install_to("a/../../mcp.json"), "");
    assert!(
        done.code == 1 && done.err.contains("not below the project's folder"),
        "{done:?}"
    );
    assert!(!folder.join("../mcp.json").exists());
}

#[test]
fn project_entry_is_installed_after_a_call_is_approved() {
    let folder = folder("written-approval");
    let entry = json!({"mcpServers": {"shop": {"command": "evil", "args": ["--all"]}}});
    fs::write(folder.join(".mcp.json"), entry.to_string()).unwrap();
    let install = ["install", "--host", "cursor", "shop"];
    let refused = mcp_in(&folder, &install, "");
    assert!(
        refused.code == 1 && refused.err.contains(".mcp.json") && refused.err.contains("--yes"),
        "{refused:?}"
    );
    assert!(!folder.join("home/.cursor/mcp.json").exists());
    let done = mcp_in(&folder, &[&install[..], &["--yes"]].concat(), "");
    assert_eq!(done.code, 0, "{done:?}");
    let text = fs::read_to_string(folder.join("home/.cursor/mcp.json")).unwrap();
    assert!(text.contains("evil"), "{text}");
}

/// Entries that would mean something else in a host's file, with a part of the reason.
fn other_in_the_file_of_a_host() -> Vec<(Value, &'static str)> {
    let expands = "could put a variable or a file";
    let oauth = json!({"url": "http://127.0.0.1:9/mcp", "oauth": {"clientId": "x"}});
    let mut entries = vec![(oauth, "\"oauth\"")];
    for text in [
        "$OPENAI_API_KEY",
        "{env:OPENAI_API_KEY}",
        "{file:id_rsa}",
        "${file:id_rsa",
    ] {
        entries.extend(
            [
                json!({"url": format!("http://127.0.0.1:9/mcp?x={text}")}),
                json!({"url": "http://127.0.0.1:9/mcp", "headers": {"X-Team": format!("a {text}")}}),
                json!({"url": "http://127.0.0.1:9/mcp", "headers": {text: "a"}}),
                json!({"command": "evil", "args": ["--all", text]}),
                json!({"command": "evil", "env": {"LEVEL": text}}),
                json!({"command": "evil", "env": {text: "a"}}),
                json!({"command": text}),
            ]
            .map(|entry| (entry, expands)),
        );
    }
    let in_folder = "is a path in this folder";
    entries.extend([
        (json!({"command": "evil", "cwd": "/opt/trusted"}), "\"cwd\""),
        (
            json!({"command": "evil", "envFile": "run.js"}),
            "\"envFile\"",
        ),
        (json!({"command": "./missing"}), "is not a file"),
        (json!({"command": "node", "args": ["run.js"]}), in_folder),
        (
            json!({"command": "node", "args": ["./missing.js"]}),
            in_folder,
        ),
        (
            json!({"command": "node", "args": ["--import=lib/a.js"]}),
            in_folder,
        ),
        (
            json!({"command": "uv", "args": ["--directory", "."]}),
            in_folder,
        ),
        (
            json!({"command": "npx", "env": {"PATH": "/bin:./bin"}}),
            in_folder,
        ),
        (
            json!({"command": "npx", "env": {"Path": "/bin"}}),
            "another program",
        ),
        (
            json!({"command": "node", "env": {"NODE_OPTIONS": "--require=run.js"}}),
            in_folder,
        ),
        (
            json!({"command": "evil", "args": ["--api-key", "sk-123"]}),
            "looks like a secret",
        ),
        (
            json!({"command": "evil", "env": {"API_KEY": "sk-123"}}),
            "in plain text",
        ),
        (
            json!({"url": "http://127.0.0.1:9/mcp?api_key=sk-123"}),
            "in plain text",
        ),
        (
            json!({"url": "http://ada:sk-123@127.0.0.1:9/mcp"}),
            "contains a password",
        ),
    ]);
    entries
}

/// Text of a cloned repository means in a host's file what it means in the repository's: it does not become a reference to the
/// user's secrets, and a program is not looked for in another folder.
#[test]
fn project_entry_means_the_same_in_a_host_file() {
    let entries = other_in_the_file_of_a_host();
    let folder = folder("written-expanded");
    fs::create_dir(folder.join("lib")).unwrap();
    for file in ["run.js", "lib/a.js"] {
        fs::write(folder.join(file), "").unwrap();
    }
    let servers = entries.iter().enumerate();
    let servers = servers.map(|(number, (entry, _))| (format!("s{number}"), entry.clone()));
    let servers: serde_json::Map<_, _> = servers.collect();
    fs::write(
        folder.join(".mcp.json"),
        json!({ "mcpServers": servers }).to_string(),
    )
    .unwrap();
    for host in HOSTS {
        for (number, (entry, reason)) in entries.iter().enumerate() {
            let (file, name) = (folder.join("settings"), format!("s{number}"));
            let path = file.to_str().unwrap();
            let install = ["install", "--host", host, "--file", path, &name, "--yes"];
            let refused = mcp_in(&folder, &install, "");
            assert!(
                refused.code == 1
                    && refused.err.contains(reason)
                    && !refused.err.contains("sk-123"),
                "{host} {entry}: {refused:?}"
            );
            assert!(!file.exists(), "{host} {entry}");
        }
    }
}

/// A program is written with its path, and a URL as it was shown, whichever parser a host has. A folder can have the name
/// of a package.
#[test]
fn project_entry_is_written_as_it_was_shown() {
    let folder = folder("written-shown");
    fs::create_dir(folder.join("lib")).unwrap();
    let tool = folder.join("tool");
    fs::write(&tool, "").unwrap();
    let content = json!({"mcpServers": {
        "shop": {"command": "./tool", "args": ["-y", "lib", "5$"]},
        "far": {"url": "http:\\\\127.0.0.1:9\\@good.example/mcp"},
    }});
    fs::write(folder.join(".mcp.json"), content.to_string()).unwrap();
    for name in ["shop", "far"] {
        let install = ["install", "--host", "cursor", name, "--yes"];
        let done = mcp_in(&folder, &install, "");
        assert_eq!(done.code, 0, "{done:?}");
    }
    let text = fs::read_to_string(folder.join("home/.cursor/mcp.json")).unwrap();
    assert!(text.contains(tool.to_str().unwrap()), "{text}");
    assert!(
        text.contains("http://127.0.0.1:9/@good.example/mcp"),
        "{text}"
    );
}

#[test]
fn bundle_contains_no_secret_value() {
    let folder = folder("written-secret");
    let shop = program(&folder);
    let words = [
        "pack",
        "--author",
        "Ada",
        "--description",
        "A",
        "-e",
        "SHOP_KEY=s3cret",
        "--",
        &shop,
    ];
    let refused = mcp_in(&folder, &words, "");
    assert!(
        refused.code == 1
            && refused.err.contains("--env SHOP_KEY")
            && !refused.err.contains("s3cret"),
        "{refused:?}"
    );
    let files = fs::read_dir(&folder).unwrap();
    assert_eq!(files.count(), 1);
}

/// Packs and installs a program with secrets among its arguments.
fn secrets_are_refused(folder: &Path, program: &str) {
    for secret in [&["--api-key", "sk-123"][..], &["--token=sk-123"]] {
        let words = [
            &[
                "pack",
                "--author",
                "Ada",
                "--description",
                "A",
                "--",
                program,
            ],
            secret,
        ]
        .concat();
        let refused = mcp_in(folder, &words, "");
        assert!(
            refused.code == 1
                && refused.err.contains("looks like a secret")
                && !refused.err.contains("sk-123"),
            "{refused:?}"
        );
        let install = [
            "install", "--host", "cursor", "--name", "shop", "--", program,
        ];
        let refused = mcp_in(folder, &[&install[..], secret].concat(), "");
        assert!(
            refused.code == 1 && refused.err.contains("looks like a secret"),
            "{refused:?}"
        );
    }
}

/// The bundle has the bytes that were described, and its sources are read with a limit.
#[test]
fn bundle_has_the_program_that_was_described() {
    let folder = folder("written-packed");
    fs::write(folder.join("id_rsa"), VICTIM).unwrap();
    symlink("/dev/zero", folder.join("Cargo.toml")).unwrap();
    let script = |change: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        let program = folder.join("shop");
        drop(fs::remove_file(&program));
        let text = format!("#!/bin/sh\n{change}\nexec '{}'\n", stdio_shop());
        fs::write(&program, &text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        (program.to_str().unwrap().to_owned(), text)
    };
    let pack = |program: &str, more: &[&str]| {
        let words = [
            "pack",
            "--author",
            "Ada",
            "--description",
            "A",
            "-o",
            "shop.mcpb",
        ];
        mcp_in(&folder, &[&words[..], more, &["--", program]].concat(), "")
    };
    // A long file is not read.
    let manifest = |length: usize| {
        let package =
            "[package]\nname = \"shop\"\ndescription = \"A shop.\"\nauthors = [\"Ada\"]\n";
        let manifest = format!("#{}\n{package}", "x".repeat(length));
        drop(fs::remove_file(folder.join("Cargo.toml")));
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    };
    let (program, _) = script("");
    for (length, code) in [(10, 0), (2 << 20, 1)] {
        manifest(length);
        let words = ["pack", "-o", "shop.mcpb", "--dry-run", "--", &*program];
        let packed = mcp_in(&folder, &words, "");
        assert_eq!(packed.code, code, "{length}: {packed:?}");
    }
    fs::remove_file(folder.join("Cargo.toml")).unwrap();
    symlink("/dev/zero", folder.join("Cargo.toml")).unwrap();
    // It becomes a link to a key of the user while it runs.
    let (program, text) = script("rm \"$0\"; ln -s id_rsa \"$0\"");
    let done = pack(&program, &[]);
    assert_eq!(done.code, 0, "{done:?}");
    let file = fs::File::open(folder.join("shop.mcpb")).unwrap();
    let mut bundle = zip::ZipArchive::new(file).unwrap();
    let packed = std::io::read_to_string(bundle.by_name("server/shop").unwrap()).unwrap();
    assert_eq!(packed, text);
    fs::remove_file(folder.join("shop.mcpb")).unwrap();
    // It changes its file in place.
    let (program, _) = script("echo '# more' >> \"$0\"");
    let refused = pack(&program, &[]);
    assert!(
        refused.err.contains("has changed its own file"),
        "{refused:?}"
    );
    assert!(!folder.join("shop.mcpb").exists());
    let (program, _) = script("");
    secrets_are_refused(&folder, &program);
    // A file of the user has the name of the entry.
    fs::write(folder.join("server.json"), VICTIM).unwrap();
    let registry = [
        "--registry-name",
        "io.github.ada/shop",
        "--url",
        "https://example.com/shop.mcpb",
    ];
    let (entry, kept) = (
        folder.join("server.json"),
        folder.join("server.json.mcp-backup"),
    );
    let done = pack(&program, &registry);
    assert!(
        done.code == 0 && done.err.contains("the old file is "),
        "{done:?}"
    );
    assert_eq!(fs::read_to_string(&kept).unwrap(), VICTIM);
    fs::write(&entry, "{}").unwrap();
    let refused = pack(&program, &registry);
    assert!(
        refused.code == 1 && refused.err.contains("is not the entry of"),
        "{refused:?}"
    );
    assert_eq!(fs::read_to_string(&entry).unwrap(), "{}");
    assert_eq!(fs::read_to_string(&kept).unwrap(), VICTIM);
    fs::remove_file(folder.join("server.json")).unwrap();
    for _ in 0..2 {
        let done = pack(&program, &registry);
        assert_eq!(done.code, 0, "{done:?}");
    }
}

#[test]
fn programs_at_the_same_time_leave_one_whole_file() {
    let folder = folder("written-together");
    let shop = stdio_shop();
    let runs: Vec<_> = (0..4)
        .map(|number| {
            let (folder, shop) = (folder.clone(), shop.clone());
            let name = format!("shop{number}");
            std::thread::spawn(move || {
                let snapshot = mcp_in(&folder, &["snapshot", "-o", "shop.json", "--", &shop], "");
                let words = [
                    "install",
                    "--host",
                    "cursor",
                    "--project",
                    "--name",
                    &name,
                    "--",
                    "npx",
                ];
                (snapshot, mcp_in(&folder, &words, ""))
            })
        })
        .collect();
    let mut installed = 0;
    for run in runs {
        let (snapshot, install) = run.join().unwrap();
        assert_eq!(snapshot.code, 0, "{snapshot:?}");
        installed += usize::from(install.code == 0);
    }
    let text = fs::read_to_string(folder.join("shop.json")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap();
    let text = fs::read_to_string(folder.join(".cursor/mcp.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    assert!(
        installed > 0 && settings["mcpServers"].is_object(),
        "{text}"
    );
    let names = fs::read_dir(&folder).unwrap().flatten();
    let left = names.filter(|file| file.file_name().to_string_lossy().ends_with(".tmp"));
    assert_eq!(left.count(), 0);
}

#[test]
fn audit_and_saved_contents_go_through_no_link() {
    let folder = folder("written-others");
    let outside = folder.join("../written-others-outside");
    drop(fs::remove_dir_all(&outside));
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("victim"), VICTIM).unwrap();
    symlink("../written-others-outside/victim", folder.join("audit.log")).unwrap();
    symlink("../written-others-outside", folder.join("out")).unwrap();
    fs::write(folder.join("gateway.json"), "{\"mcpServers\": {}}").unwrap();
    let words = ["gateway", "--stdio", "--audit", "audit.log", "gateway.json"];
    let audit = mcp_in(&folder, &words, "");
    assert!(
        audit.code == 1 && audit.err.contains("is a link"),
        "{audit:?}"
    );
    let url = crate::kit::http_shop();
    for words in [
        &["call", &url, "picture", "--save", "out"][..],
        &["record", &url, "-o", "out/session.jsonl"],
    ] {
        let refused = mcp_in(&folder, words, "");
        assert!(
            refused.code == 1 && refused.err.contains("is a link"),
            "{refused:?}"
        );
    }
    let files = fs::read_dir(&outside).unwrap();
    assert_eq!(files.count(), 1);
    assert_eq!(fs::read_to_string(outside.join("victim")).unwrap(), VICTIM);
}

#[test]
fn new_project_goes_through_no_link() {
    let folder = folder("written-new");
    let outside = folder.join("../written-new-outside");
    drop(fs::remove_dir_all(&outside));
    fs::create_dir_all(&outside).unwrap();
    symlink("../written-new-outside", folder.join("shop")).unwrap();
    symlink("../written-new-nowhere", folder.join("other")).unwrap();
    for name in ["shop", "other", "shop/inner"] {
        let refused = mcp_in(&folder, &["new", name], "");
        assert!(
            refused.code == 1 && refused.err.contains("is a link"),
            "{refused:?}"
        );
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert!(!folder.join("../written-new-nowhere").exists());
}

/// A file of the project that is a link to a device, or a pipe, would block each command in the folder.
#[test]
fn project_file_that_is_not_a_file_is_not_read() {
    let folder = folder("written-device");
    symlink("/dev/zero", folder.join("mcp.json")).unwrap();
    let pipe = Command::new("mkfifo")
        .arg(folder.join(".mcp.json"))
        .status();
    assert!(pipe.unwrap().success());
    let shown = mcp_in(&folder, &["servers", "--json"], "");
    assert_eq!(
        shown.out.matches("it is not a file").count(),
        2,
        "{shown:?}"
    );

    // Before anybody is asked.
    fs::remove_file(folder.join(".mcp.json")).unwrap();
    fs::remove_file(folder.join("mcp.json")).unwrap();
    fs::create_dir(folder.join(".cursor")).unwrap();
    for pipe in ["pipe", ".cursor/mcp.json"] {
        let made = Command::new("mkfifo").arg(folder.join(pipe)).status();
        assert!(made.unwrap().success());
    }
    let entry =
        json!({"mcpServers": {"shop": {"command": "tool", "envFile": "${workspaceFolder}/pipe"}}});
    fs::write(folder.join("mcp.json"), entry.to_string()).unwrap();
    let install = [
        "install",
        "--host",
        "cursor",
        "--project",
        "--name",
        "shop",
        "http://b.example/mcp",
    ];
    for words in [&["info", "shop"][..], &install] {
        let refused = mcp_in(&folder, words, "");
        assert!(
            refused.code == 1 && refused.err.contains("it is not a file"),
            "{refused:?}"
        );
    }
}

#[test]
fn other_name_for_the_project_hides_no_link() {
    let base = folder("written-alias");
    let victim = base.join("authorized_keys");
    fs::write(&victim, VICTIM).unwrap();
    let project = base.join("project");
    fs::create_dir_all(&project).unwrap();
    symlink("project", base.join("alias")).unwrap();
    symlink(&victim, project.join("mcp.json")).unwrap();
    for file in [
        base.join("alias/mcp.json"),
        base.join("alias/../project/mcp.json"),
        "../alias/mcp.json".into(),
    ] {
        let path = file.to_str().unwrap();
        let words = install_to(path);
        let done = mcp_in(&project, &words, "");
        assert!(
            done.code == 1 && done.err.contains("is a link"),
            "{path}: {done:?}"
        );
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), VICTIM);
}

#[test]
fn file_beside_the_project_is_written() {
    let project = folder("written-beside/project");
    let file = "../mcp.json";
    let done = mcp_in(&project, &install_to(file), "");
    assert_eq!(done.code, 0, "{done:?}");
    let text = fs::read_to_string(project.join(file)).unwrap();
    assert!(text.contains("shop"), "{text}");
}

#[test]
fn installs_at_the_same_time_lose_no_entry() {
    let folder = folder("written-installs");
    let runs: Vec<_> = (0..8)
        .map(|number| {
            let folder = folder.clone();
            std::thread::spawn(move || {
                let name = format!("shop{number}");
                let words = ["install", "--host", "cursor", "--name", &name, "--", "npx"];
                mcp_in(&folder, &words, "")
            })
        })
        .collect();
    for run in runs {
        let run = run.join().unwrap();
        assert_eq!(run.code, 0, "{run:?}");
    }
    let text = fs::read_to_string(folder.join("home/.cursor/mcp.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        settings["mcpServers"].as_object().unwrap().len(),
        8,
        "{text}"
    );
}
