//! Lists of resources that functions compute.

use mcp_core::{Call, Exchange, Fault, Principal, Reply, ResultBody, Service as _};
use mcp_macros::{resource, server};
use mcp_server::{
    Identity, PageCursor, Resource, ResourceError, ResourceExt, ResourceList, ResourceTemplate,
    Server, State, routes,
};
use mcp_types::{Cursor, Page};

use crate::kit::{exchange, fault, read_text, reply, resources, server};

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
fn listed_resources_have_the_mime_type_of_their_template() {
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
fn error_and_unknown_cursor_of_list_are_faults() {
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
fn missing_state_of_list_is_reported() {
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
fn method_lists_resources_of_caller() {
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
