//! What a client hears of changes at the server.

use futures_lite::FutureExt as _;
use mcp_core::model::{ResourceContents, SubscriptionFilter};
use mcp_std::client::{Change, Client, Subscription};

use crate::{Failure, QUIET, Report, SOON, a_while, holds, same};

const WATCHED: &str = "test://watched-resource";

async fn next(subscription: &mut Subscription) -> Result<Change, Failure> {
    let late = async {
        async_io::Timer::after(SOON).await;
        None
    };
    subscription
        .next()
        .or(late)
        .await
        .ok_or_else(|| format!("no change within {SOON:?}").into())
}

async fn none(subscription: &mut Subscription) -> Result<(), Failure> {
    let quiet = async {
        async_io::Timer::after(QUIET).await;
        None
    };
    same(subscription.next().or(quiet).await, None)
}

pub(crate) async fn run(report: &mut Report, client: &Client) {
    let trigger = async |kind: &str| {
        let outcome = client
            .call_tool(&format!("test_trigger_{kind}_change"), &())
            .await?;
        Ok::<_, Failure>(outcome.text())
    };
    report
        .check("lists change", async {
            let mut filter = SubscriptionFilter::default();
            filter.tools_list_changed = true;
            filter.prompts_list_changed = true;
            filter.resources_list_changed = true;
            let mut changes = client.subscribe(filter.clone()).await?;
            same(changes.acknowledged(), filter)?;
            for (said, there) in [("added", true), ("removed", false)] {
                same(trigger("tool").await?, said)?;
                same(next(&mut changes).await?, Change::Tools)?;
                let tools = client.list_tools().await?;
                same(tools.iter().any(|it| it.name == "test_dummy_tool"), there)?;
                same(trigger("prompt").await?, said)?;
                same(next(&mut changes).await?, Change::Prompts)?;
                let prompts = client.list_prompts().await?;
                same(
                    prompts.iter().any(|it| it.name == "test_dummy_prompt"),
                    there,
                )?;
                same(trigger("resource").await?, said)?;
                same(next(&mut changes).await?, Change::Resources)?;
                let resources = client.list_resources().await?;
                same(resources.iter().any(|it| it.name == "dummy"), there)?;
            }
            none(&mut changes).await
        })
        .await;
    report
        .check("a resource changes", async {
            let update = async || {
                let outcome = client.call_tool("test_update_resource", &()).await?;
                Ok::<_, Failure>(outcome.text())
            };
            let mut filter = SubscriptionFilter::default();
            filter.resource_subscriptions = Some(vec![WATCHED.into()].into());
            let mut changes = client.subscribe(filter).await?;
            for _ in 0..2 {
                let version = update().await?;
                same(
                    next(&mut changes).await?,
                    Change::Resource(WATCHED.to_owned()),
                )?;
                let read = client.read_resource(WATCHED).await?;
                let ResourceContents::Text(text) = &read.contents[0] else {
                    return Err(format!("{read:?}").into());
                };
                same(&*text.text, &*version)?;
            }
            drop(changes);
            // Nothing is heard of what nobody listens to.
            let mut filter = SubscriptionFilter::default();
            filter.tools_list_changed = true;
            let mut changes = client.subscribe(filter).await?;
            update().await?;
            none(&mut changes).await?;
            holds(changes.end().is_none(), changes.end())?;
            // rmcp does not end while somebody listens.
            drop(changes);
            a_while().await;
            Ok(())
        })
        .await;
}
