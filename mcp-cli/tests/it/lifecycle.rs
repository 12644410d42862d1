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
