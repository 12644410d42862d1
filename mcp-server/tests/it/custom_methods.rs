//! Extensions with typed settings, requests, notifications, layers and requirements.

use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use mcp_core::extension::{CustomNotification, CustomRequest, Extension as ProtocolExtension};
use mcp_core::tower::from_fn;
use mcp_core::{Call, ClientContext, Exchange, Fault, Reply, ResultBody, Service};
use mcp_server::middleware::Next;
use mcp_server::{
    Args, Declared, RawExtension, RequestError, Routes, Server, ServerExtension, ServerSetup,
    State, Tool, ToolExt,
};
use mcp_types::{ClientCapabilities, ProtocolVersion, RawObject};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::kit;

/// A clock, which records its ticks.
#[derive(Clone, Default)]
struct Clock {
    ticks: Arc<Mutex<Vec<u32>>>,
}

#[derive(Serialize, Deserialize)]
struct ClockSettings {
    zone: String,
}

#[derive(Serialize, Deserialize)]
struct ClockClient {
    twelve_hours: bool,
}

impl ProtocolExtension for Clock {
    const ID: &'static str = "com.example/clock";
    type ServerSettings = ClockSettings;
    type ClientSettings = ClockClient;
}

struct Now;

#[derive(Serialize, Deserialize)]
struct NowParams {
    zone: String,
}

#[derive(Serialize, Deserialize)]
struct NowResult {
    time: String,
}

impl CustomRequest for Now {
    const METHOD: &'static str = "clock/now";
    type Extension = Clock;
    type Params = NowParams;
    type Result = NowResult;
}

struct Tick;

#[derive(Serialize, Deserialize)]
struct TickParams {
    number: u32,
}

impl CustomNotification for Tick {
    const METHOD: &'static str = "notifications/clock/tick";
    type Extension = Clock;
    type Params = TickParams;
}

impl ServerExtension for Clock {
    fn settings(&self) -> ClockSettings {
        let zone = "UTC".to_owned();
        ClockSettings { zone }
    }

    fn register(self, setup: &mut ServerSetup<Self>) {
        setup.state(self.clone());
        setup.request::<Now, _>(now);
        setup.notification::<Tick, _>(|tick: TickParams, State(clock): State<Self>| async move {
            clock.ticks.lock().unwrap().push(tick.number);
        });
    }
}

async fn now(
    params: NowParams,
    Declared(client): Declared<Clock>,
    State(_): State<Clock>,
) -> Result<NowResult, RequestError> {
    if params.zone != "UTC" {
        return Err(RequestError::invalid_params("`zone`: only UTC is known"));
    }
    let time = if client.twelve_hours {
        "12 pm"
    } else {
        "12:00"
    };
    Ok(NowResult { time: time.into() })
}

fn declared() -> ClientCapabilities {
    let settings = json!({"twelve_hours": true});
    ClientCapabilities::default().with_extension(Clock::ID, &settings)
}

fn exchange(call: Call, capabilities: ClientCapabilities) -> Exchange {
    let mut facts = ClientContext::new(ProtocolVersion::LATEST);
    facts.capabilities = capabilities;
    Exchange::new(call, Arc::new(facts))
}

fn request(method: &str, params: &str) -> Call {
    Call::Other {
        method: method.into(),
        params: RawObject::from_text(params).ok(),
    }
}

fn reply(server: &Server, call: Call, capabilities: ClientCapabilities) -> Reply {
    block_on(server.call(exchange(call, capabilities)))
}

fn result(reply: Reply) -> String {
    match reply {
        Reply::Complete {
            body: ResultBody::Other(result),
            ..
        } => result.as_str().to_owned(),
        other => panic!("{other:?}"),
    }
}

fn problems(server: &Server) -> Vec<String> {
    server.check().unwrap_err().problems().to_vec()
}

// spec: EXT-01
#[test]
fn extension_is_published() {
    let server = Server::new("clock", "1.0.0").extension(Clock::default());
    server.check().unwrap();
    let settings: serde_json::Value = server.profile().capabilities.extension(Clock::ID).unwrap();
    assert_eq!(settings, json!({"zone": "UTC"}));
}

#[test]
fn request_reaches_its_handler_with_types_and_extractors() {
    let server = Server::new("clock", "1.0.0").extension(Clock::default());
    let call = request(Now::METHOD, r#"{"zone":"UTC"}"#);
    assert_eq!(
        result(reply(&server, call, declared())),
        r#"{"time":"12 pm"}"#
    );
    let call = request(Now::METHOD, r#"{"zone":"CET"}"#);
    let fault = kit::fault(reply(&server, call, declared()));
    assert_eq!(fault, Fault::bad_params("`zone`: only UTC is known"));
}

#[test]
fn malformed_parameters_and_settings_are_bad_params_with_their_path() {
    let server = Server::new("clock", "1.0.0").extension(Clock::default());
    for (params, capabilities, expected) in [
        (r#"{"zone":7}"#, declared(), "`params`: zone: invalid type"),
        ("{}", declared(), "`params`: missing field `zone`"),
        (
            r#"{"zone":"UTC"}"#,
            ClientCapabilities::default().with_extension(Clock::ID, &json!({"twelve_hours": 1})),
            "the settings of the extension `com.example/clock` are malformed: twelve_hours: ",
        ),
    ] {
        let fault = kit::fault(reply(&server, request(Now::METHOD, params), capabilities));
        let Fault::BadParams { message, .. } = &fault else {
            panic!("{fault:?}")
        };
        assert!(message.starts_with(expected), "{message}");
    }
}

// spec: EXT-05, VER-18
#[test]
fn error_names_the_extension_that_a_client_did_not_declare() {
    let server = Server::new("clock", "1.0.0").extension(Clock::default());
    let call = request(Now::METHOD, r#"{"zone":"UTC"}"#);
    let fault = kit::fault(reply(&server, call, ClientCapabilities::default()));
    let Fault::MissingCapability { required } = fault else {
        panic!("{fault:?}")
    };
    assert!(required.has_extension(Clock::ID));
}

#[test]
fn undeclared_method_is_unknown_and_kinds_are_not_mixed() {
    let server = Server::new("clock", "1.0.0").extension(Clock::default());
    let notification = Call::Notification {
        method: Now::METHOD.into(),
        params: None,
    };
    for call in [
        request("clock/later", "{}"),
        request(Tick::METHOD, r#"{"number":1}"#),
        notification,
    ] {
        let fault = kit::fault(reply(&server, call, declared()));
        assert!(matches!(fault, Fault::NoSuchMethod { .. }), "{fault:?}");
    }
}

// spec: VER-18
#[test]
fn notification_reaches_its_handler_if_the_client_declares_the_extension() {
    let clock = Clock::default();
    let server = Server::new("clock", "1.0.0").extension(clock.clone());
    for (number, capabilities) in [(1, declared()), (2, ClientCapabilities::default())] {
        let params = RawObject::from_value(&TickParams { number }).unwrap();
        let call = Call::Notification {
            method: Tick::METHOD.into(),
            params: Some(params),
        };
        reply(&server, call, capabilities);
    }
    assert_eq!(*clock.ticks.lock().unwrap(), [1]);
}

/// An extension with a method of another one, and a method of the protocol.
struct Thief;

impl ProtocolExtension for Thief {
    const ID: &'static str = "com.example/thief";
    type ServerSettings = ();
    type ClientSettings = ();
}

struct Stolen;

impl CustomRequest for Stolen {
    const METHOD: &'static str = Now::METHOD;
    type Extension = Thief;
    type Params = ();
    type Result = ();
}

struct Core;

impl CustomRequest for Core {
    const METHOD: &'static str = "tools/call";
    type Extension = Thief;
    type Params = ();
    type Result = ();
}

impl ServerExtension for Thief {
    fn settings(&self) {}

    fn register(self, setup: &mut ServerSetup<Self>) {
        setup.request::<Stolen, _>(|()| async {});
        setup.request::<Core, _>(|()| async {});
    }
}

// spec: VER-17, META-01, META-04
#[test]
fn taken_names_and_identifiers_are_setup_errors() {
    let server = Server::new("clock", "1.0.0")
        .extension(Clock::default())
        .extension(Thief)
        .extension(Clock::default())
        .extension(RawExtension::new("nonsense", &()));
    let problems = problems(&server);
    assert_eq!(problems.len(), 4, "{problems:?}");
    assert_eq!(
        problems[0],
        "the extensions `com.example/clock` and `com.example/thief` both define `clock/now`; \
         remove one"
    );
    assert!(problems[1].contains("`tools/call`, which is a method of the protocol"));
    assert!(problems[2].contains("`com.example/clock` is registered twice, by `it::"));
    assert!(problems[3].contains("`nonsense` is not a valid extension identifier"));
}

/// An extension that needs tools and the clock.
struct Alarm;

impl ProtocolExtension for Alarm {
    const ID: &'static str = "com.example/alarm";
    type ServerSettings = ();
    type ClientSettings = ();
}

struct Ring;

impl CustomRequest for Ring {
    const METHOD: &'static str = "alarm/ring";
    type Extension = Alarm;
    type Params = ();
    type Result = ();
}

impl ServerExtension for Alarm {
    fn settings(&self) {}

    fn register(self, setup: &mut ServerSetup<Self>) {
        setup.requires("tools", |capabilities| capabilities.tools.is_some());
        setup.requires_extension(Clock::ID);
        setup.request::<Ring, _>(|()| async {});
        setup.allow_undeclared_clients();
    }
}

fn tool() -> Routes {
    Routes::new().tool(Tool::new("bell").handler(|| "rings"))
}

#[test]
fn requirements_are_checked_against_the_final_server() {
    let early = Server::new("clock", "1.0.0").extension(Alarm);
    assert_eq!(
        problems(&early),
        [
            "the extension `com.example/alarm` needs tools, which is missing; add it, or remove the \
             extension",
            "the extension `com.example/alarm` needs the extension `com.example/clock`, which is \
             missing; add it, or remove the extension",
        ]
    );
    let late = early.extension(Clock::default()).merge(tool());
    late.check().unwrap();
}

#[test]
fn unmet_requirement_at_run_time_is_an_internal_error() {
    let server = Server::new("clock", "1.0.0")
        .extension(Alarm)
        .extension(Clock::default());
    let ring = || {
        reply(
            &server,
            request(Ring::METHOD, "{}"),
            ClientCapabilities::default(),
        )
    };
    let fault = kit::fault(ring());
    assert!(matches!(fault, Fault::Internal(_)), "{fault:?}");
    let tools = server.tools();
    tools.add(Tool::new("bell").handler(|| "rings")).unwrap();
    assert_eq!(result(ring()), "{}");
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[test]
fn custom_method_fails_setup_without_its_state_or_arguments() {
    struct Bad;

    impl ProtocolExtension for Bad {
        const ID: &'static str = "com.example/bad";
        type ServerSettings = ();
        type ClientSettings = ();
    }

    struct Run;

    impl CustomRequest for Run {
        const METHOD: &'static str = "bad/run";
        type Extension = Bad;
        type Params = ();
        type Result = ();
    }

    impl ServerExtension for Bad {
        fn settings(&self) {}

        fn register(self, setup: &mut ServerSetup<Self>) {
            setup.request::<Run, _>(|(), _: State<u8>, _: Args<Nothing>| async {});
        }
    }

    let problems = problems(&Server::new("bad", "1.0.0").extension(Bad));
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("method `bad/run` of the extension `com.example/bad` takes"));
    assert!(problems[1].contains("has no `Args`"));
}

/// An extension whose layers record their order.
struct Layered(&'static str, Arc<Mutex<Vec<&'static str>>>);

impl ProtocolExtension for Layered {
    const ID: &'static str = "com.example/layered";
    type ServerSettings = ();
    type ClientSettings = ();
}

fn recorder(
    name: &'static str,
    log: &Arc<Mutex<Vec<&'static str>>>,
) -> impl mcp_core::tower::Middleware + use<> {
    let log = log.clone();
    from_fn(move |exchange: Exchange, next: Next| {
        log.lock().unwrap().push(name);
        async move { next.run(exchange).await }
    })
}

impl ServerExtension for Layered {
    fn settings(&self) {}

    fn register(self, setup: &mut ServerSetup<Self>) {
        setup.layer(recorder("inner", &self.1));
        setup.layer(recorder(self.0, &self.1));
    }
}

#[test]
fn application_orders_extension_layers() {
    let log = Arc::default();
    let server = Server::new("layers", "1.0.0")
        .layer(recorder("first", &log))
        .extension(Layered("outer", log.clone()))
        .layer(recorder("last", &log));
    kit::fault(reply(&server, request("x/y", "{}"), declared()));
    assert_eq!(*log.lock().unwrap(), ["last", "outer", "inner", "first"]);
}

#[test]
fn notification_handler_that_asks_is_a_setup_error() {
    struct Asking;

    impl ProtocolExtension for Asking {
        const ID: &'static str = "com.example/asking";
        type ServerSettings = ();
        type ClientSettings = ();
    }

    struct Poke;

    impl CustomNotification for Poke {
        const METHOD: &'static str = "notifications/asking/poke";
        type Extension = Asking;
        type Params = ();
    }

    impl ServerExtension for Asking {
        fn settings(&self) {}

        fn register(self, setup: &mut ServerSetup<Self>) {
            setup.notification::<Poke, _>(|(), _: mcp_server::Ask| async {});
        }
    }

    let error = Server::new("asking", "1.0.0").extension(Asking).check();
    let error = error.unwrap_err().to_string();
    assert!(error.contains("its handler cannot `Ask`"), "{error}");
}
