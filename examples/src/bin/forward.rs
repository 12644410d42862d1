//! A gateway of one's own, for one server: it passes on tools with their questions, resource updates, and an
//! extension that it does not know. `mcp::gateway` is made of the same items.
//!
//! `cargo run -p examples --bin forward`

#![allow(clippy::print_stdout, reason = "example output")]

use std::sync::Arc;

use examples::budget::{Budget, GetBudget};
use futures_util::{StreamExt as _, TryStreamExt as _};
use mcp::extension::{CustomRequest as _, Method, RawExtension, RequestError};
use mcp::prelude::*;
use mcp::types::{InputRequired, RawObject};
use mcp::{SubscribedResources, Subscription, ToolRoute};
use serde_json::json;
use tokio::net::TcpListener;

/// The amount for an order.
#[derive(Elicit)]
struct Amount {
    cakes: u8,
}

/// The server behind the gateway.
struct Shop;

#[mcp::server]
impl Shop {
    /// Order cakes.
    #[tool]
    async fn order(&self, ask: Ask, notify: Notify) -> Result<String, ToolError> {
        let amount = ask.form::<Amount>("amount", "How many cakes?").await?;
        notify.resource_updated("shop://stock");
        Ok(match amount {
            Answer::Accept(Amount { cakes }) => format!("{cakes} cakes are ordered"),
            Answer::Decline | Answer::Cancel => "nothing is ordered".to_owned(),
        })
    }

    /// The cakes that are left.
    #[resource("shop://stock")]
    fn stock(&self) -> &'static str {
        "some cakes"
    }
}

/// Returns the server's tool as a tool of the gateway.
fn tool(client: &Client, tool: Tool) -> ToolRoute {
    let (client, name) = (client.clone(), Arc::<str>::from(&*tool.name));
    let route = tool.handler(
        move |RawArgs(arguments): RawArgs, info: ClientInfo, ask: Ask| {
            let (client, name) = (client.clone(), name.clone());
            async move { call(&client, &name, &arguments, &info, &ask).await }
        },
    );
    route.forwarded()
}

/// Calls a tool of the server, and passes its questions on. This function runs again with the answers of the client,
/// maybe at another node: everything that it needs is in the state that the client returns.
async fn call(
    client: &Client,
    name: &str,
    arguments: &RawObject,
    info: &ClientInfo,
    ask: &Ask,
) -> Result<CallToolResult, ToolError> {
    // The number of the round, and what the server requires.
    let mut kept: Option<(usize, InputRequired)> = ask.kept()?;
    let mut round = 0;
    loop {
        // The server asks what the client of the gateway can answer.
        let call = client.call(name, arguments.clone());
        let mut call = call.capabilities(info.capabilities().clone());
        if let Some((number, required)) = kept.take() {
            let requests = required.requests()?;
            let questions = requests
                .iter()
                .map(|(key, request)| ask.forward(format!("{number}/{key}"), request.clone()));
            let answers = ask.all(questions.collect::<Vec<_>>()).await?;
            call = call.resume(required, requests.into_keys().zip(answers));
            round = number;
        }
        match call.step().await? {
            Step::Done(result) => return Ok(result),
            Step::Extended { .. } => return Err(ToolError::new("the gateway passes no tasks on")),
            Step::InputRequired(input) => {
                let next = (round + 1, input.required().clone());
                ask.keep(&next)?;
                kept = Some(next);
            }
        }
    }
}

/// Returns the server's extensions. Their messages stay JSON.
fn extensions(client: &Client, methods: &'static [&'static str]) -> Vec<RawExtension> {
    let has = client.server_capabilities().unwrap_or_default();
    let extensions = has.extensions.iter().map(|(id, settings)| {
        let client = client.clone();
        RawExtension::new(id, settings).requests(
            |method| methods.contains(&method),
            move |params: RawObject, Method(method): Method, info: ClientInfo| {
                let call = client.request(&*method, params);
                let call = call.capabilities(info.capabilities().clone());
                async move {
                    call.await
                        .map_err(|error| RequestError::new(error.to_string()))
                }
            },
        )
    });
    extensions.collect()
}

/// Subscribes to the resources that clients of the gateway are subscribed to.
async fn pass_updates(client: Client, mut subscribed: SubscribedResources, notify: Notify) {
    let mut changes: Option<Subscription> = None;
    loop {
        let next = async {
            match &mut changes {
                Some(changes) => changes.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = subscribed.changed() => {
                let uris = subscribed.uris();
                changes = client.subscribe(uris.iter().map(|uri| &**uri)).await.ok();
            }
            change = next => match change {
                Some(Ok(Change::Resource { uri })) => notify.resource_updated(uri),
                Some(_) => {}
                None => changes = None,
            }
        }
    }
}

/// Returns the gateway's server.
async fn gateway(client: Client) -> mcp::Result<Server> {
    let server = Server::new("gateway", "1.0.0");
    let tools = client.list_tools().if_offered().await?;
    let tools = tools.into_iter().map(|listed| tool(&client, listed));
    server
        .tools()
        .extend(tools)
        .map_err(std::io::Error::other)?;
    for resource in client.list_resources().if_offered().await? {
        let (client, uri) = (client.clone(), resource.uri.clone());
        let route = resource.read(move || {
            let call = client.read_resource(&uri);
            async move { Ok::<_, ResourceError>(call.await?) }
        });
        server
            .resources()
            .add(route)
            .map_err(std::io::Error::other)?;
    }
    // Call `replace` again when the server publishes other extensions.
    server
        .extensions()
        .replace(extensions(&client, &[GetBudget::METHOD]));
    let (subscribed, notify) = (server.subscribed_resources(), server.notify());
    tokio::spawn(pass_updates(client, subscribed, notify));
    server.check()?;
    Ok(server)
}

/// Serves a server at a free port. Returns its URL.
async fn serve(server: Server) -> mcp::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(mcp::serve_http(server, listener));
    Ok(url)
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let shop = serve(Server::of(Shop).extension(Budget::of_server(1))).await?;
    // Questions of a session come to handlers of its client: `mcp::gateway` keeps the call meanwhile.
    let modern = Client::builder().mode(ConnectMode::Pin(ProtocolVersion::LATEST));
    let upstream = modern.connect(&shop).await?;
    upstream.discover().await?;
    let url = serve(gateway(upstream).await?).await?;

    let (budget, _) = Budget::of_client(0);
    let client = Client::builder()
        .extension(budget)
        .on_elicit(async |form: ElicitRequest| form.accept(json!({"cakes": 2})))
        .connect(&url)
        .await?;
    let mut changes = client.subscribe(["shop://stock"]).await?;
    println!("order: {}", client.call("order", ()).await?.text());
    println!("change: {:?}", changes.try_next().await?);
    let budget = client.extension::<Budget>()?;
    let granted = budget.settings().credits;
    let left = budget.request::<GetBudget>(&()).await?.credits;
    println!("credits: {left} of {granted}");
    Ok(())
}
