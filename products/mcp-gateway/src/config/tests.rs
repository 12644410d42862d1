//! Tests of configuration files.

use std::path::Path;
use std::sync::Arc;

use mcp_client::group::{ServerSpec, Variables};
use mcp_client::{Client, ClientBuilder, Error};
use parking_lot::Mutex;

use super::{ConfigError, ConfigText, GatewayConfig};

async fn connect(_: ClientBuilder, _: ServerSpec) -> Result<Client, Error> {
    Err(Error::other("no server is started"))
}

fn http() -> mcp::HttpClient {
    mcp::HttpClient::new().unwrap()
}

/// Returns the error of a file.
fn error(content: &str) -> String {
    let config = match GatewayConfig::parse(content) {
        Ok(config) => config,
        Err(error) => return error.to_string(),
    };
    let gateway = config.gateway(&Variables::new(), connect, http());
    gateway.expect_err("the file is accepted").to_string()
}

#[test]
fn errors_say_where_and_what() {
    for (content, parts) in [
        (
            "nam = 1",
            &["line 1, column 1", "unknown field `nam`", "`name`"][..],
        ),
        (
            "[servers.a]\nurl = \"x\"\n[servers.a.tools.b]\nhide = 1",
            &["line 4", "`hide`"],
        ),
        ("[tools]\nmode = \"all\"", &["line 2", "`list`", "`search`"]),
        ("[servers.a]\nurl = 5", &["line 2, column 7"]),
        ("[servers.a", &["line 1"]),
        ("[servers.a]", &["`servers.a`", "`url`", "`command`"]),
        ("[servers.a]\nurl = \"x\"\ncommand = \"y\"", &["either"]),
        (
            "[servers.a]\nurl = \"x\"\nargs = [\"y\"]",
            &["`servers.a`", "`args`"],
        ),
        (
            "[servers.a]\ncommand = \"x\"\nheaders = { A = \"b\" }",
            &["`headers`"],
        ),
        (
            "[servers.a]\nurl = \"${NOT_SET}\"",
            &["`servers.a.url`", "`NOT_SET`"],
        ),
        (
            "[servers.a]\nurl = \"x\"\nheaders = { A = \"file:/does/not/exist\" }",
            &["`servers.a.headers.A`", "/does/not/exist"],
        ),
        (
            "[servers.a]\nurl = \"x\"\nprotocol = \"new\"",
            &["`servers.a.protocol`", "`auto`"],
        ),
        (
            "[servers.a]\nurl = \"x\"\ntimeout_seconds = 0",
            &["`servers.a.timeout_seconds`"],
        ),
        (
            "[servers.a]\ncommand = \"x\"\nstart = \"lazy\"",
            &["`servers.a.start`", "`manifests`"],
        ),
        (
            "[servers.a]\ncommand = \"x\"\nstart = \"later\"",
            &["line 3", "`later`", "`lazy`"],
        ),
        (
            "[servers.a]\ncommand = \"x\"\nidle_timeout_seconds = 0",
            &["`servers.a.idle_timeout_seconds`"],
        ),
        (
            "[servers.a]\ncommand = \"x\"\n\
             token_exchange = { issuer = \"https://l\", client_id = \"g\", client_secret = \"s\" }",
            &["`servers.a.token_exchange`", "`url`"],
        ),
        (
            "[servers.a]\nurl = \"https://a\"\n\
             token_exchange = { issuer = \"l\", client_id = \"g\", client_secret = \"s\" }",
            &["`servers.a.token_exchange.issuer`"],
        ),
        (
            "[servers.a]\nurl = \"https://a\"\n\
             token_exchange = { issuer = \"https://l\", client_id = \"g\", client_secret = \"${NONE}\" }",
            &["`servers.a.token_exchange.client_secret`", "NONE"],
        ),
        (
            "[servers.a]\ncommand = \"x\"\n\
             forward_identity = { header = \"X-Caller\", key = \"k\", issuer = \"g\", audience = \"a\" }",
            &["`servers.a.forward_identity`", "`url`"],
        ),
        (
            "[servers.a]\nurl = \"https://a\"\n\
             forward_identity = { header = \"X-Caller\", key = \"k\", issuer = \"g\", audience = \"a\" }",
            &["`servers.a.forward_identity.key`", "PEM"],
        ),
        (
            "[servers.a]\nurl = \"x\"\nlimits = { per_seconds = 5 }",
            &["`servers.a.limits.per_seconds`", "`calls`"],
        ),
        (
            "[servers.a]\nurl = \"x\"\n[servers.a.tools.b]\nlimits = { calls = 0 }",
            &["`servers.a.tools.b.limits.calls`"],
        ),
    ] {
        let error = error(content);
        for part in parts {
            assert!(error.contains(part), "{error:?} has no {part:?}");
        }
    }
}

fn resolve(text: &str, variables: &Variables) -> Result<String, ConfigError> {
    let text: ConfigText = serde_json::from_value(text.into()).unwrap();
    text.resolve(Path::new(""), "key", variables)
}

#[test]
fn secrets_are_read_and_not_shown() {
    let path = std::env::temp_dir().join(format!("mcp-gateway-secret-{}", std::process::id()));
    std::fs::write(&path, "s3cret\n").unwrap();
    let variables = Variables::new()
        .env("TOKEN", "t0ken")
        .env("FILE", path.to_str().unwrap());
    let resolve = |text: &str| resolve(text, &variables).unwrap();
    assert_eq!(resolve("Bearer ${TOKEN}"), "Bearer t0ken");
    assert_eq!(resolve("file:${FILE}"), "s3cret");
    assert_eq!(resolve("file:///data"), "file:///data");
    std::fs::remove_file(&path).unwrap();

    let config = GatewayConfig::parse(
        "[servers.a]\nurl = \"https://s3cret@a\"\nheaders = { A = \"s3cret\" }\n\
         [servers.a.tools.b]\nhidden_arguments = { key = \"s3cret\", n = { m = \"s3cret\" } }\n\
         [servers.c]\ncommand = \"s3cret\"\nargs = [\"s3cret\"]\nenv = { A = \"s3cret\" }",
    )
    .unwrap();
    let gateway = config.gateway(&variables, connect, http()).unwrap();
    for shown in [format!("{config:?}"), format!("{gateway:?}")] {
        assert!(!shown.contains("s3cret"), "{shown}");
    }
    // A value that the file does not contain is not repeated either.
    let error = error("[servers.a]\nheaders = { A = \"s3cret\" }\nx = \"s3cret\"");
    assert!(!error.contains("s3cret"), "{error}");
}

#[test]
fn errors_about_documents_name_their_key() {
    let file = |rest: &str| format!("[servers.a]\nurl = \"http://a/\"\nopenapi = {{ {rest} }}");
    let missing = error(&file("document = \"x\""));
    assert!(
        missing.contains("`servers.a.openapi.document`"),
        "{missing}"
    );
    let error = error(&file("documents = \"x\""));
    assert!(
        error.contains("line 3") && error.contains("`documents`"),
        "{error}"
    );
}

#[tokio::test]
async fn unusable_document_does_not_stop_the_gateway() {
    let path = std::env::temp_dir().join(format!("mcp-swagger-{}.json", std::process::id()));
    std::fs::write(&path, r#"{"swagger": "2.0", "paths": {}}"#).unwrap();
    let file = format!(
        "[servers.old]\nurl = \"http://a/\"\nopenapi = {{ document = {:?} }}\n[servers.other]\nurl = \"http://b/\"",
        path.to_str().unwrap()
    );
    let config = GatewayConfig::parse(&file).unwrap();
    let gateway = config.gateway(&Variables::new(), connect, http());
    std::fs::remove_file(&path).unwrap();
    let opened = gateway.unwrap().connect().await.unwrap();
    let status = opened.control.status().await.unwrap();
    let status = format!("{:?}", status.servers);
    assert!(status.contains("Swagger 2.0 is not supported"), "{status}");
}

#[test]
fn value_from_a_variable_names_no_file() {
    let variables = Variables::new().env("VALUE", "file:/etc/hostname");
    let value = resolve("${VALUE}", &variables);
    assert_eq!(value.unwrap(), "file:/etc/hostname");
}

#[tokio::test]
async fn extension_of_two_servers_is_an_error_that_names_both() {
    let server = "url = \"x\"\n[servers.NAME.extensions]\n\"com.example/ID\" = [\"budget/*\"]\n";
    let table = |name: &str, id: &str| {
        let server = server.replace("NAME", name).replace("ID", id);
        format!("[servers.{name}]\n{server}")
    };
    let file = table("one", "a") + &table("two", "b");
    let config = GatewayConfig::parse(&file).unwrap();
    let gateway = config.gateway(&Variables::new(), connect, http()).unwrap();
    let error = gateway.connect().await.unwrap_err().to_string();
    for part in ["\"budget/*\"", "\"one\"", "\"two\""] {
        assert!(error.contains(part), "{error}");
    }
}

#[tokio::test]
async fn paths_in_a_file_are_relative_to_its_folder() {
    let folder = std::env::temp_dir().join(format!("mcp-gateway-paths-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("token", "t0ken\n");
    write(
        "api.json",
        r#"{"openapi": "3.1.0", "info": {"title": "a", "version": "1"}, "paths": {"/a": {"get": {"operationId": "a", "responses": {}}}}}"#,
    );
    let servers = "[servers.a]\ncommand = \"bin/a\"\nargs = [\"./b\"]\ncwd = \"data\"\nenv = { TOKEN = \"file:token\" }\n\
        [servers.b]\ncommand = \"b\"\n\
        [servers.c]\nurl = \"http://127.0.0.1:1\"\nopenapi = { document = \"api.json\" }\n";
    write("gateway.toml", servers);
    let specs = Arc::new(Mutex::new(Vec::new()));
    let seen = specs.clone();
    let connect = move |_: ClientBuilder, spec: ServerSpec| {
        seen.lock().push(spec);
        async { Err(Error::other("no server is started")) }
    };
    let config = GatewayConfig::read(folder.join("gateway.toml")).unwrap();
    let gateway = config.gateway(&Variables::new(), connect, http()).unwrap();
    let opened = gateway.connect().await.unwrap();
    let status = opened.control.status().await.unwrap();
    assert!(
        status.servers.iter().any(|server| server.tools == ["c__a"]),
        "{status:?}"
    );
    let inside = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let mut expected = ServerSpec::program(inside("bin/a"), ["./b"]);
    if let ServerSpec::Command { cwd, env, .. } = &mut expected {
        *cwd = Some(inside("data"));
        env.push(("TOKEN".to_owned(), "t0ken".to_owned()));
    }
    let specs = specs.lock().clone();
    assert!(specs.contains(&expected), "{specs:?}");
    assert!(specs.contains(&ServerSpec::program("b", [""; 0])));

    write("pins.json", "{");
    write(
        "gateway.toml",
        &format!("[tools]\npin = \"pins.json\"\n{servers}"),
    );
    let config = GatewayConfig::read(folder.join("gateway.toml")).unwrap();
    let gateway = config.gateway(&Variables::new(), self::connect, http());
    let error = gateway.unwrap_err().to_string();
    assert!(error.contains(&inside("pins.json")), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}
