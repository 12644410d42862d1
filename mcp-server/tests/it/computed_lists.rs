//! Lists of resources that functions compute.

use mcp_core::{Call, Exchange, Fault, Principal, Reply, ResultBody, Service as _};
use mcp_macros::{resource, server};
use mcp_server::{
    Identity, PageCursor, Resource, ResourceError, ResourceExt, ResourceList, ResourceTemplate,
    Server, State, routes,
};
use mcp_types::{Cursor, Page};
use tracing::Level;

use crate::kit::{exchange, fault, read_text, reply, resources, server};
use crate::request_log::logged;

#[derive(Clone)]
struct Count(u32);

fn numbered(kind: &str, count: u32) -> Vec<Resource> {
    let resource = |n| Resource::new(format!("{kind}://{n}"));
    (0..count).map(resource).collect()
}

async fn list_notes(State(count): State<Count>) -> Result<Vec<Resource>, ResourceError> {
    match count.0 {
        99 => Err(ResourceError::new("too many")),
        count => Ok(numbered("note", count)),
    }
}

/// A note.
#[resource("note://{id}", list = list_notes, crate = mcp_server)]
fn note(id: u8) -> String {
    format!("note {id}")
}

/// Three pages of two files.
fn list_files(PageCursor(cursor): PageCursor) -> ResourceList {
    let page: u32 = cursor.map_or(0, |cursor| {
        cursor.strip_prefix("p-").unwrap().parse().unwrap()
    });
    let files = numbered("file", 6)
        .into_iter()
        .skip(page as usize * 2)
        .take(2);
    ResourceList {
        resources: files.collect(),
        next: (page < 2).then(|| format!("p-{}", page + 1)),
    }
}

fn files() -> mcp_server::TemplateRoute {
    ResourceTemplate::new("file://{name}")
        .read(|| "file")
        .list(list_files)
}

/// Returns the URIs of each page.
fn pages(server: &Server) -> Vec<Vec<String>> {
    let (mut pages, mut page) = (Vec::new(), Page::default());
    loop {
        let Reply::Complete {
            body: ResultBody::ListResources(list),
            ..
        } = reply(server, Call::ListResources(page))
        else {
            panic!("no list")
        };
        pages.push(
            list.resources
                .iter()
                .map(|resource| resource.uri.clone())
                .collect(),
        );
        match list.next_cursor.clone() {
            Some(next) => page = Page::from(next),
            None => return pages,
        }
    }
}

fn with_help(count: u32) -> Server {
    Server::new("s", "1")
        .resource(Resource::new("s://help").read(|| "help"))
        .merge(routes![note, files()])
        .state(Count(count))
}

#[test]
fn computed_items_follow_routes_on_first_page() {
    let server = server(with_help(2));
    assert_eq!(
        pages(&server),
        [
            &["s://help", "note://0", "note://1"][..],
            &["file://0", "file://1"],
            &["file://2", "file://3"],
            &["file://4", "file://5"],
        ]
    );
    assert_eq!(read_text(&server, "note://1"), "note 1");
}

#[test]
fn listed_resources_get_the_mime_type_from_their_template() {
    let own = Resource::new("file://own").mime_type("text/csv");
    let files = ResourceTemplate::new("file://{name}")
        .mime_type("text/markdown")
        .read(|| "file")
        .list(move || vec![Resource::new("file://plain"), own.clone()]);
    let server = server(Server::new("s", "1").template(files));
    let Reply::Complete {
        body: ResultBody::ListResources(list),
        ..
    } = reply(&server, Call::ListResources(Page::default()))
    else {
        panic!("no list")
    };
    let types = list
        .resources
        .iter()
        .map(|resource| resource.mime_type.as_deref());
    let types: Vec<_> = types.collect();
    assert_eq!(types, [Some("text/markdown"), Some("text/csv")]);
}

#[test]
fn page_size_divides_computed_list() {
    let server = server(with_help(3).page_size(2));
    assert_eq!(
        pages(&server)[..3],
        [
            &["s://help", "note://0"][..],
            &["note://1", "note://2"],
            &["file://0", "file://1"],
        ]
    );
}

#[test]
fn failed_list_and_unknown_cursor_become_faults() {
    let call = |cursor: &str| Call::ListResources(Page::from(Cursor::new(cursor)));
    let broken = server(with_help(99));
    assert_eq!(
        fault(reply(&broken, Call::ListResources(Page::default()))),
        Fault::internal("too many")
    );
    for cursor in ["x", "l", "l0", "l0-", "lx-0-"] {
        let fault = fault(reply(&broken, call(cursor)));
        assert!(matches!(fault, Fault::BadParams { .. }), "{cursor}");
    }
    // A cursor behind the last list is an empty page.
    let server = server(with_help(1));
    assert!(matches!(
        reply(&server, call("l9-0-")),
        Reply::Complete { .. }
    ));
}

#[test]
fn missing_state_for_a_list_is_reported() {
    let server = Server::new("s", "1").merge(routes![note]);
    let error = server.check().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the list of the resource template `note://{id}`")
    );
}

struct Desk(&'static str);

#[server(crate = mcp_server)]
impl Desk {
    #[resource("desk://{owner}/{drawer}", list = drawers)]
    fn drawer(owner: String, drawer: String) -> String {
        format!("{owner} {drawer}")
    }

    async fn drawers(&self, Identity(who): Identity) -> Vec<Resource> {
        vec![Resource::new(format!("desk://{}/{}", who.subject, self.0))]
    }
}

#[test]
fn method_lists_resources_for_the_caller() {
    use futures::executor::block_on;

    let server = server(Desk("top"));
    let call = |subject: Option<&str>| {
        let mut exchange: Exchange = exchange(Call::ListResources(Page::default()));
        if let Some(subject) = subject {
            exchange
                .extensions
                .insert(Principal::new("https://issuer.example", subject));
        }
        block_on(server.call(exchange))
    };
    let Reply::Complete {
        body: ResultBody::ListResources(list),
        ..
    } = call(Some("ada"))
    else {
        panic!("no list")
    };
    assert_eq!(list.resources[0].uri, "desk://ada/top");
    assert!(matches!(fault(call(None)), Fault::Refused(_)));
    assert_eq!(read_text(&server, "desk://ada/top"), "ada top");
}

#[test]
fn server_without_computed_lists_lists_routes() {
    let server = server(Server::new("s", "1").resource(Resource::new("s://help").read(|| "help")));
    assert_eq!(resources(&server).len(), 1);
}

#[test]
fn listed_resource_that_no_route_reads_is_a_warning() {
    let listing = |uris: &'static [&'static str]| {
        let route = ResourceTemplate::new("note://{id}").read(|| "note");
        let route = route.list(move || {
            let resources = uris.iter().map(|uri| Resource::new(*uri));
            resources.collect::<Vec<_>>()
        });
        Server::new("s", "1")
            .template(route)
            .resource(Resource::new("help://all").read(|| "help"))
    };
    for (uris, warned) in [
        // Clients fetch `https:` without the server.
        (
            &[
                "note://1",
                "help://all",
                "note://a%20b",
                "https://example.com/a",
            ][..],
            None,
        ),
        (&["note://1", "notes://2"], Some("notes://2")),
        (&["note://a/b"], Some("note://a/b")),
        (&["note://a%2Fb\n"], Some("note://a%2Fb\\n")),
    ] {
        let server = listing(uris);
        let log = logged(Level::WARN, || {
            resources(&server);
            resources(&server);
        });
        match warned {
            None => assert_eq!(log, ""),
            Some(uri) => {
                assert_eq!(log.lines().count(), 1, "{log}");
                assert!(log.contains("a listed resource cannot be read"), "{log}");
                assert!(log.contains(&format!("uri={uri}")), "{log}");
            }
        }
    }
}

#[test]
fn log_says_why_a_resource_was_not_found() {
    let notes = ResourceTemplate::new("note://{id}").read(|| "note");
    let hidden = Resource::new("hidden://a")
        .read(|| "a")
        .visible_to(|_| false);
    let server = Server::new("s", "1").template(notes).resource(hidden);
    let refused = "a resource was not found: its template refuses a value";
    let id = "template=\"note://{id}\" variable=id reason=\"it contains";
    for (uri, expected) in [
        ("other://1", String::new()),
        ("note://a/b", String::new()),
        (
            "hidden://a",
            "a resource was not found: the caller may not see it".to_owned(),
        ),
        ("note://a%2Fb", format!("{refused} {id} an encoded slash")),
        ("note://..", format!("{refused} {id} `..`")),
    ] {
        let read = Call::ReadResource(mcp_types::ReadResourceParams::from(uri));
        let log = logged(Level::DEBUG, || {
            reply(&server, read);
        });
        assert!(log.contains(&expected), "{uri}: {log}");
        assert_eq!(log.is_empty(), expected.is_empty(), "{uri}: {log}");
    }
}

#[test]
fn template_takes_encoded_slashes_where_it_is_told() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Branch {
        branch: String,
    }
    /// Commits of a branch.
    #[resource("log://{branch}", encoded_slashes("branch"), crate = mcp_server)]
    fn log(branch: String) -> String {
        branch
    }
    let route = || {
        ResourceTemplate::new("git://{branch}")
            .read(|mcp_server::Args(at): mcp_server::Args<Branch>| at.branch)
    };
    let server = Server::new("s", "1")
        .template(route().encoded_slashes(["branch"]))
        .template(log);
    server.check().unwrap();
    assert_eq!(read_text(&server, "git://fix%2F7"), "fix/7");
    assert_eq!(read_text(&server, "log://fix%2F7"), "fix/7");
    let wrong = Server::new("s", "1").template(route().encoded_slashes(["rev"]));
    let error = wrong.check().unwrap_err().to_string();
    assert!(
        error.contains("`rev` in `encoded_slashes` is not a variable of one segment"),
        "{error}"
    );
}
