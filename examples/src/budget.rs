//! A protocol extension, written as if it were its own crate: a server charges one credit for each tool
//! call.
//!
//! It has a request in each direction, a notification, a layer and a tool. `src/bin/extension.rs` uses
//! it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use mcp::extension::{
    Asker, ClientExtension, ClientSetup, CustomNotification, CustomRequest, Extension, Notifier,
    ServerExtension, ServerSetup,
};
use mcp::middleware::{Call, Exchange, Fault, Next, Reply, from_fn};
use mcp::{Ask, Routes, State, Tool, ToolError, ToolExt as _};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// The extension. Servers and clients use the same type.
#[derive(Debug)]
pub struct Budget {
    credits: u32,
    charged: watch::Sender<u32>,
}

impl Budget {
    /// Creates a server's extension, whose clients share `credits`.
    pub fn of_server(credits: u32) -> Self {
        let charged = watch::Sender::new(credits);
        Self { credits, charged }
    }

    /// Creates a client's extension that grants up to `credits` at a time. The receiver yields the
    /// server's remaining credits after each call.
    pub fn of_client(credits: u32) -> (Self, watch::Receiver<u32>) {
        let charged = watch::Sender::default();
        let receiver = charged.subscribe();
        (Self { credits, charged }, receiver)
    }
}

/// The settings that a server declares.
#[derive(Debug, Serialize, Deserialize)]
pub struct BudgetSettings {
    /// The credits when the server starts.
    pub credits: u32,
}

impl Extension for Budget {
    const ID: &'static str = "com.example/budget";
    type ServerSettings = BudgetSettings;
    type ClientSettings = ();
}

/// An amount of credits: what remains, what a server wants, or what a client grants.
#[derive(Debug, Serialize, Deserialize)]
pub struct Credits {
    /// The number of credits.
    pub credits: u32,
}

/// `budget/get`: a client asks how many credits remain.
#[derive(Debug)]
pub struct GetBudget;

impl CustomRequest for GetBudget {
    const METHOD: &'static str = "budget/get";
    type Extension = Budget;
    type Params = ();
    type Result = Credits;
}

/// `budget/grant`: a server asks its client for more credits, and receives those that it grants.
#[derive(Debug)]
pub struct GrantCredits;

impl CustomRequest for GrantCredits {
    const METHOD: &'static str = "budget/grant";
    type Extension = Budget;
    type Params = Credits;
    type Result = Credits;
}

/// `notifications/budget/charged`: a server notifies its client about the remaining credits.
#[derive(Debug)]
pub struct Charged;

impl CustomNotification for Charged {
    const METHOD: &'static str = "notifications/budget/charged";
    type Extension = Budget;
    type Params = Credits;
}

/// A server's account, which its handlers share.
#[derive(Debug, Clone)]
struct Account(Arc<AtomicU32>);

impl Account {
    fn credits(&self) -> Credits {
        let credits = self.0.load(Ordering::Relaxed);
        Credits { credits }
    }

    fn add(&self, credits: u32) {
        let add = |old: u32| Some(old.saturating_add(credits));
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Takes one credit. Returns false if none is left.
    fn charge(&self) -> bool {
        let charge = |credits: u32| credits.checked_sub(1);
        let charged = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, charge);
        charged.is_ok()
    }
}

impl ServerExtension for Budget {
    fn settings(&self) -> BudgetSettings {
        let credits = self.credits;
        BudgetSettings { credits }
    }

    fn register(self, setup: &mut ServerSetup<Self>) {
        let account = Account(Arc::new(AtomicU32::new(self.credits)));
        setup.state(account.clone());
        setup.requires("tools", |capabilities| capabilities.tools.is_some());
        setup.request::<GetBudget, _>(|(), State(account): State<Account>| async move {
            account.credits()
        });
        setup.routes(
            Routes::new().tool(
                Tool::new("top_up")
                    .description("Ask the client for five more credits")
                    .handler(top_up),
            ),
        );
        setup.layer(from_fn(move |exchange, next| {
            charge(account.clone(), exchange, next)
        }));
    }
}

async fn top_up(ask: Ask, State(account): State<Account>) -> Result<String, ToolError> {
    let wanted = Credits { credits: 5 };
    let granted = ask.request::<GrantCredits>("grant", &wanted).await?;
    // A client may grant fewer credits, but not more.
    account.add(granted.credits.min(wanted.credits));
    Ok(format!("{} credits", account.credits().credits))
}

/// The layer: charges one credit for each tool result, except for those of `top_up`. Calls that start
/// together with the last credit all run, because each is charged when it ends.
async fn charge(account: Account, exchange: Exchange, next: Next) -> Result<Reply, Fault> {
    let is_charged = matches!(&exchange.call, Call::CallTool(params) if params.name != "top_up");
    if !is_charged {
        return Ok(next.run(exchange).await);
    }
    if account.credits().credits == 0 {
        return Err(Fault::Refused("no credits are left; call `top_up`".into()));
    }
    let notifier = Notifier::from(&exchange);
    let reply = next.run(exchange).await;
    // A request for input is not a result: the client repeats the call.
    if matches!(reply, Reply::Complete { .. }) && account.charge() {
        notifier.send::<Charged>(&account.credits()).await;
    }
    Ok(reply)
}

impl ClientExtension for Budget {
    fn settings(&self) {}

    fn register(self, setup: &mut ClientSetup<Self>) {
        let Self { credits, charged } = self;
        setup.request::<GrantCredits, _, _>(move |wanted: Credits, _: Arc<Asker>| async move {
            let credits = wanted.credits.min(credits);
            Credits { credits }
        });
        setup.notification::<Charged, _, _>(move |left: Credits, _: Arc<Asker>| {
            charged.send_replace(left.credits);
            async {}
        });
    }
}
