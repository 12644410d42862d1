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
const HOSTS: [&str; 13] = [
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
fn installed_server_is_found_in_the_settings_of_each_host() {
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
fn install_keeps_the_rest_of_the_file_and_a_backup() {
    let folder = folder("install-backup");
    let text = "{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\"}\n  }\n}\n";
    fs::write(folder.join("my.json"), text).unwrap();
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
    assert_eq!(fs::read_to_string(folder.join("my.json")).unwrap(), text);

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
    let edited = fs::read_to_string(folder.join("my.json")).unwrap();
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
        &["install", "--host", "zed", "--env", "SHOP_KEY", "--", "npx"],
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
fn programs_that_a_host_could_not_start_are_refused() {
    let folder = folder("install-refused");
    for (program, problem) in [
        ("./missing", "is not a file"),
        ("cargo run", "--manifest-path"),
    ] {
        let words = ["install", "--host", "cursor", "--"]
            .into_iter()
            .chain(program.split(' '));
        let run = mcp_in(&folder, &words.collect::<Vec<_>>(), "");
        assert!(run.code == 1 && run.err.contains(problem), "{run:?}");
    }
}
