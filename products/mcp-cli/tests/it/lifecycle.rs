//! `mcp new`, `mcp install` and `mcp uninstall`.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::kit::{folder, mcp_in, stdio_shop};

#[test]
fn new_writes_a_crate_of_each_template() {
    let folder = folder("new");
    for (template, extra) in [
        ("minimal", None),
        ("http", Some("deploy/http-server.service")),
        ("protected", None),
        ("agent", Some("mcp.json")),
    ] {
        let name = format!("{template}-server");
        let run = mcp_in(&folder, &["new", &name, "--template", template], "");
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.err.contains("cargo test"), "{run:?}");
        let manifest = fs::read_to_string(folder.join(&name).join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        assert_eq!(manifest["package"]["name"].as_str(), Some(name.as_str()));
        let sdk = manifest["dependencies"]["omnimcp"]["path"]
            .as_str()
            .unwrap();
        assert!(Path::new(sdk).join("Cargo.toml").is_file(), "{sdk}");
        // Each template has `#[mcp::server]`, the agent in its test.
        let has_macros = |table: &str| {
            manifest[table].get("omnimcp").is_some_and(|sdk| {
                let is_default = sdk.get("default-features").is_none();
                let features = sdk.get("features").and_then(|list| list.as_array());
                let mut features = features.into_iter().flatten();
                is_default || features.any(|feature| feature.as_str() == Some("macros"))
            })
        };
        assert!(
            has_macros("dependencies") || has_macros("dev-dependencies"),
            "{manifest:?}"
        );
        for file in ["src/main.rs", "README.md", ".gitignore", "Cargo.lock"]
            .into_iter()
            .chain(extra)
        {
            let text = fs::read_to_string(folder.join(&name).join(file)).unwrap();
            assert!(!text.contains("{{"), "{file}");
        }
    }
}

#[test]
fn new_overwrites_nothing() {
    let folder = folder("new-refused");
    fs::create_dir(folder.join("shop")).unwrap();
    fs::write(folder.join("shop/notes.txt"), "mine").unwrap();
    let run = mcp_in(&folder, &["new", "shop"], "");
    assert_eq!((run.code, run.out.as_str()), (1, ""), "{run:?}");
    assert!(run.err.contains("has files"), "{run:?}");
    for (words, problem) in [
        (["new", "2shop", "--dry-run"], "name of a package"),
        (["new", "other", "--sdk=/nowhere"], "is not a clone"),
    ] {
        let run = mcp_in(&folder, &words, "");
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.err.contains(problem), "{run:?}");
    }
    let run = mcp_in(&folder, &["new", "other", "--dry-run", "--json"], "");
    let printed = run.json();
    assert_eq!(printed["files"][0], "Cargo.toml");
    assert_eq!(printed["next"][0], "cargo test");
    assert!(!folder.join("other").exists());
}

/// Hosts with the member that lists servers.
pub(crate) const HOSTS: [&str; 13] = [
    "claude-code",
    "claude-desktop",
    "cline",
    "codex",
    "copilot-cli",
    "cursor",
    "gemini-cli",
    "goose",
    "opencode",
    "qwen-code",
    "vscode",
    "windsurf",
    "zed",
];

#[test]
fn installed_server_is_found_in_settings_for_each_host() {
    let program = stdio_shop();
    for host in HOSTS {
        let folder = folder(&format!("install-{host}"));
        let install = ["install", "--host", host, "--name", "shop", "--", &program];
        // No `claude` of this machine.
        let run = mcp_in(&folder, &install, "");
        assert_eq!(run.code, 0, "{host}: {run:?}");
        let servers = mcp_in(&folder, &["servers", "--json"], "").json();
        assert!(
            servers.to_string().contains("\"shop\""),
            "{host}: {servers}"
        );
        let called = mcp_in(&folder, &["call", "shop", "add", "a=1", "b=2"], "");
        assert_eq!(
            (called.code, called.out.trim()),
            (0, "3"),
            "{host}: {called:?}"
        );

        let again = mcp_in(
            &folder,
            &[
                "install", "--host", host, "--name", "shop", "--json", "--", &program,
            ],
            "",
        );
        assert_eq!(again.json()["changed"], false, "{host}: {again:?}");
        let other = [
            "install",
            "--host",
            host,
            "--name",
            "shop",
            "https://shop.example/mcp",
        ];
        let taken = mcp_in(&folder, &other, "");
        assert!(
            taken.code == 1 && taken.err.contains("--replace"),
            "{host}: {taken:?}"
        );

        let removed = mcp_in(&folder, &["uninstall", "shop", "--host", host], "");
        assert_eq!(removed.code, 0, "{host}: {removed:?}");
        let missing = mcp_in(&folder, &["uninstall", "shop", "--host", host], "");
        assert!(
            missing.code == 1 && missing.err.contains("no server"),
            "{host}: {missing:?}"
        );
    }
}

#[test]
fn install_keeps_other_content_and_a_backup() {
    let folder = folder("install-backup");
    let text = "{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"}\n  }\n}\n";
    let file = folder.join("my.json");
    fs::write(&file, text).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let permissions = fs::metadata(&file).unwrap().permissions();
    let dry = [
        "install",
        "--host",
        "cursor",
        "--file",
        "my.json",
        "--dry-run",
        "https://shop.example/mcp",
    ];
    let run = mcp_in(&folder, &dry, "");
    assert!(
        run.code == 0 && run.out.contains("would be changed"),
        "{run:?}"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), text);

    let install = [
        "install",
        "--host",
        "cursor",
        "--file",
        "my.json",
        "--json",
        "https://shop.example/mcp",
    ];
    let printed = mcp_in(&folder, &install, "").json();
    assert_eq!(printed["name"], "shop-example");
    assert_eq!(printed["entry"], json!({"url": "https://shop.example/mcp"}));
    assert_eq!(fs::metadata(&file).unwrap().permissions(), permissions);
    let edited = fs::read_to_string(&file).unwrap();
    assert!(
        edited.contains("// mine") && edited.contains("shop-example"),
        "{edited}"
    );
    assert_eq!(
        fs::read_to_string(folder.join("my.json.mcp-backup")).unwrap(),
        text
    );
}

#[test]
fn secrets_are_never_written() {
    let folder = folder("install-secrets");
    let entry = json!({"mcpServers": {"a": {"command": "npx", "env": {"A_KEY": "s3cret"}}}});
    fs::write(folder.join("mcp.json"), entry.to_string()).unwrap();
    for words in [
        [
            "install",
            "--host",
            "cursor",
            "--env",
            "SHOP_KEY=s3cret",
            "--",
            "npx",
        ]
        .as_slice(),
        &[
            "install",
            "--host",
            "cursor",
            "--header",
            "Authorization: Bearer s3cret",
            "https://shop.example/mcp",
        ],
    ] {
        let run = mcp_in(&folder, words, "");
        assert_eq!(run.code, 1, "{run:?}");
        assert!(!run.err.contains("s3cret"), "{run:?}");
    }
    let words = [
        "install",
        "--host",
        "cursor",
        "--project",
        "--env",
        "SHOP_KEY",
        "--",
        "npx",
    ];
    assert_eq!(mcp_in(&folder, &words, "").code, 0);
    let file = fs::read_to_string(folder.join(".cursor/mcp.json")).unwrap();
    assert!(file.contains("${env:SHOP_KEY}"), "{file}");
}

#[test]
fn placeholder_for_a_secret_is_named_with_its_line() {
    let folder = folder("install-placeholder");
    let words = [
        "install", "--host", "zed", "--name", "shop", "--env", "SHOP_KEY", "--", "npx",
    ];
    let run = mcp_in(&folder, &words, "");
    assert_eq!(run.code, 0, "{run:?}");
    let path = folder.join("home/.config/zed/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    let (_, line) = run.err.split_once("in place of <SHOP_KEY> in ").unwrap();
    let (shown, line) = line.lines().next().unwrap().split_once(", line ").unwrap();
    assert_eq!(Path::new(shown), path);
    let line: usize = line.parse().unwrap();
    assert!(
        text.lines()
            .nth(line - 1)
            .unwrap()
            .contains("\"SHOP_KEY\": \"<SHOP_KEY>\""),
        "{text}"
    );
}

#[test]
fn program_that_is_not_in_path_gets_a_word() {
    let folder = folder("install-path");
    let words = ["install", "--host", "cursor", "--", "no-such-program"];
    let run = mcp_in(&folder, &words, "");
    assert!(
        run.code == 0
            && run
                .err
                .contains("no program \"no-such-program\" is in PATH"),
        "{run:?}"
    );
}

#[test]
fn uninstall_restores_the_bytes_before_the_install() {
    for (host, file, text) in [
        ("cursor", ".cursor/mcp.json", "\u{feff}{\"mcpServers\":{}}"),
        ("cursor", ".cursor/mcp.json", "{\r\n}\r\n"),
        (
            "codex",
            ".codex/config.toml",
            "model = \"x\" # mine\r\n\r\n\r\n",
        ),
        (
            "goose",
            ".config/goose/config.yaml",
            "extensions: {} # none\n\n# end",
        ),
        ("goose", ".config/goose/config.yaml", ""),
    ] {
        let folder = folder("install-undo");
        let file = folder.join("home").join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let install = |name: &str, more: &[&str]| {
            let words = ["install", "--host", host, "--name", name];
            mcp_in(&folder, &[&words, more, &["--", "npx", name]].concat(), "")
        };
        let uninstall = |name: &str| mcp_in(&folder, &["uninstall", name, "--host", host], "");
        assert_eq!(install("shop", &[]).code, 0);
        // Also after the entry was replaced, and after another one came and went.
        assert_eq!(install("shop", &["--env", "A=1", "--replace"]).code, 0);
        let between = fs::read(&file).unwrap();
        assert_eq!(install("other", &[]).code, 0);
        assert_eq!(uninstall("other").code, 0);
        assert_eq!(fs::read(&file).unwrap(), between);
        let removed = uninstall("shop");
        assert_eq!(removed.code, 0, "{removed:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{host}");
        let kept = fs::read_dir(folder.join("home/.local/share/mcp/installs"));
        assert_eq!(kept.map_or(0, Iterator::count), 0);
        // A file that did not exist.
        fs::remove_file(&file).unwrap();
        assert_eq!(install("shop", &[]).code, 0);
        assert_eq!(uninstall("shop").code, 0);
        assert!(!file.exists());
    }
}

#[test]
fn edits_between_two_installs_stay_in_either_removal_order() {
    for (host, file, text, old, new) in [
        (
            "cursor",
            ".cursor/mcp.json",
            "{\n  \"a\": 1, // mine\n  \"mcpServers\": {\n    \"b\": {}\n  }\n}",
            "1",
            "2",
        ),
        ("codex", ".codex/config.toml", "a = 1 # mine\r\n", "1", "2"),
        (
            "goose",
            ".config/goose/config.yaml",
            "a: 1 # mine\nextensions:\n  b:\n    cmd: c\n  # last\n",
            "1",
            "2",
        ),
    ] {
        for order in [["one", "two"], ["two", "one"]] {
            let folder = folder("install-orders");
            let file = folder.join("home").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, text).unwrap();
            let install = |name: &str| {
                let words = ["install", "--host", host, "--name", name, "--", "npx"];
                assert_eq!(mcp_in(&folder, &words, "").code, 0);
            };
            install("one");
            let edited = fs::read_to_string(&file).unwrap().replacen(old, new, 1);
            fs::write(&file, edited).unwrap();
            install("two");
            for name in order {
                let run = mcp_in(&folder, &["uninstall", name, "--host", host], "");
                assert_eq!(run.code, 0, "{run:?}");
            }
            assert_eq!(
                fs::read_to_string(&file).unwrap(),
                text.replacen(old, new, 1),
                "{host} {order:?}"
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn claude_code_command_replaces_and_repeats_like_other_hosts() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;

    let folder = folder("install-claude");
    fs::create_dir_all(folder.join("bin")).unwrap();
    fs::create_dir_all(folder.join("home")).unwrap();
    let claude = folder.join("bin/claude");
    // As the real one: it refuses to replace an entry.
    let script = "#!/bin/sh\necho \"$@\" >> \"$HOME/log\"\n[ \"$(pwd -P)\" = \"$(cd \"$HOME\" && pwd -P)\" ] || exit 9\nfile=\"$HOME/.claude.json\"\nif [ $2 = remove ]; then echo '{}' > \"$file\"; exit; fi\n\
        case \"$6\" in *impossible*) echo refused >&2; exit 1;; *ignored*) exit 0;; esac\n\
        if grep -q '\"shop\"' \"$file\" 2>/dev/null; then echo \"MCP server $5 already exists\" >&2; exit 1; fi\n\
        printf '{\"mcpServers\":{\"%s\":%s}}' \"$5\" \"$6\" > \"$file\"\n";
    fs::write(&claude, script).unwrap();
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!(
        "{}:{}",
        folder.join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp"));
        command.args(words).current_dir(&folder).env("PATH", &path);
        command.env("HOME", folder.join("home")).output().unwrap()
    };
    let install = |more: &[&str]| {
        let words = [
            "install",
            "--host",
            "claude-code",
            "--name",
            "shop",
            "--json",
        ];
        let done = run(&[&words, more].concat());
        let printed = serde_json::from_slice(&done.stdout).unwrap_or(serde_json::Value::Null);
        (done.status.code(), printed["changed"].clone())
    };
    let file = folder.join("home/.claude.json");
    assert_eq!(install(&["--", "npx", "a"]), (Some(0), json!(true)));
    assert_eq!(install(&["--", "npx", "a"]), (Some(0), json!(false)));
    assert_eq!(install(&["--", "npx", "b"]).0, Some(1));
    assert_eq!(
        install(&["--replace", "--", "npx", "b"]),
        (Some(0), json!(true))
    );
    assert!(fs::read_to_string(&file).unwrap().contains("[\"b\"]"));
    // The old entry comes back when the new one is refused, and is on no command line.
    let old = "{\"mcpServers\": {\"shop\": {\"args\": [\"b\"], \"env\": {\"KEY\": \"sk-123\"}}}}\n";
    fs::write(&file, old).unwrap();
    assert_eq!(
        install(&["--replace", "--", "npx", "impossible"]).0,
        Some(1)
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), old);
    assert_eq!(install(&["--replace", "--", "npx", "ignored"]).0, Some(1));
    let log = fs::read_to_string(folder.join("home/log")).unwrap();
    assert!(
        log.contains("impossible") && !log.contains("sk-123"),
        "{log}"
    );
    fs::write(&file, old).unwrap();
    let uninstall = ["uninstall", "shop", "--host", "claude-code"];
    assert_eq!(run(&uninstall).status.code(), Some(0));
    assert_eq!(run(&uninstall).status.code(), Some(1));
}

#[test]
fn programs_that_a_host_could_not_start_are_refused() {
    let folder = folder("install-refused");
    for (program, problem) in [
        ("./missing", "is not a file; build it first"),
        ("cargo run", "--manifest-path"),
    ] {
        let words = ["install", "--host", "cursor", "--"]
            .into_iter()
            .chain(program.split(' '));
        let run = mcp_in(&folder, &words.collect::<Vec<_>>(), "");
        assert!(run.code == 1 && run.err.contains(problem), "{run:?}");
    }
}

#[cfg(unix)]
#[test]
fn bundle_contains_the_program_and_what_its_server_says() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = folder("pack");
    // A small program: compressing a large one takes half a minute without optimization.
    let program = folder.join("shop");
    fs::write(&program, format!("#!/bin/sh\nexec '{}'\n", stdio_shop())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap().to_owned();
    let pack = |more: &[&str]| {
        let words = [
            "pack",
            "--author",
            "Ada",
            "--description",
            "A shop.",
            "-e",
            "SHOP_KEY",
        ];
        let words = [words.as_slice(), more, &["--", &program, "--fast"]].concat();
        mcp_in(&folder, &words, "")
    };
    let registry = [
        "--registry-name",
        "io.github.ada/shop",
        "--url",
        "https://example.com/shop.mcpb",
    ];
    let printed = pack(&[&["--json", "-o", "shop.mcpb"], registry.as_slice()].concat()).json();
    let file = fs::read(folder.join("shop.mcpb")).unwrap();
    let mut bundle = zip::ZipArchive::new(std::io::Cursor::new(file)).unwrap();
    let manifest: serde_json::Value =
        serde_json::from_reader(bundle.by_name("manifest.json").unwrap()).unwrap();
    assert_eq!(manifest, printed["manifest"]);
    let entry_point = manifest["server"]["entry_point"].as_str().unwrap();
    let packed = bundle.by_name(entry_point).unwrap();
    assert_eq!(packed.size(), fs::metadata(&program).unwrap().len());
    assert_eq!(packed.unix_mode().map(|mode| mode & 0o777), Some(0o755));
    drop(packed);
    assert_eq!(manifest["server"]["mcp_config"]["args"], json!(["--fast"]));
    assert_eq!(manifest["user_config"]["SHOP_KEY"]["sensitive"], true);
    let tools = manifest["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "add"), "{tools:?}");

    let entry = fs::read_to_string(folder.join("server.json")).unwrap();
    let entry: serde_json::Value = serde_json::from_str(&entry).unwrap();
    assert_eq!(entry["packages"][0]["fileSha256"], printed["sha256"]);
    assert_eq!(
        entry["packages"][0]["environmentVariables"][0]["name"],
        "SHOP_KEY"
    );

    let again = pack(&["--json", "-o", "again.mcpb"]).json();
    assert_eq!(again["sha256"], printed["sha256"]);
    for (words, problem) in [
        (
            ["--registry-name", "shop", "--url", "https://example.com/a"],
            "backwards",
        ),
        (
            [
                "--registry-name",
                "io.github.ada/shop",
                "--url",
                "http://example.com/a",
            ],
            "https",
        ),
    ] {
        let refused = pack(&words);
        assert!(
            refused.code == 1 && refused.err.contains(problem),
            "{refused:?}"
        );
    }
    assert_eq!(pack(&["--dry-run"]).json(), manifest);
}
