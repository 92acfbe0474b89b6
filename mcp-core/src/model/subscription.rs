//! `subscriptions/listen` (2026-07-28, basic, patterns, "Subscriptions").

use crate::Cow;

use super::List;
use super::codec::{record, result_impls};
use crate::json::Json;

record! {
    /// Which changes a client wants to be told of.
    ///
    /// ```
    /// use mcp_core::model::SubscriptionFilter;
    ///
    /// let filter = SubscriptionFilter::new().tools().resource("note://1").resource("note://2");
    /// assert!(filter.tools_list_changed && !filter.prompts_list_changed);
    /// assert_eq!(filter.resource_subscriptions.map(|uris| uris.len()), Some(2));
    /// ```
    #[derive(Default)]
    pub struct SubscriptionFilter<'a> {
        /// `notifications/tools/list_changed`.
        tools_list_changed: flag bool = "toolsListChanged";
        /// `notifications/prompts/list_changed`.
        prompts_list_changed: flag bool = "promptsListChanged";
        /// `notifications/resources/list_changed`.
        resources_list_changed: flag bool = "resourcesListChanged";
        /// `notifications/resources/updated` of these URIs.
        resource_subscriptions: opt List<'a, Cow<'a, str>> = "resourceSubscriptions";
    }
}

impl<'a> SubscriptionFilter<'a> {
    /// Of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The list of tools.
    #[must_use]
    pub fn tools(mut self) -> Self {
        self.tools_list_changed = true;
        self
    }

    /// The list of prompts.
    #[must_use]
    pub fn prompts(mut self) -> Self {
        self.prompts_list_changed = true;
        self
    }

    /// The list of resources.
    #[must_use]
    pub fn resources(mut self) -> Self {
        self.resources_list_changed = true;
        self
    }

    /// The resource of this URI; can be said of several.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn resource(mut self, uri: impl Into<Cow<'a, str>>) -> Self {
        let mut uris = self.resource_subscriptions.unwrap_or_default().into_vec();
        uris.push(uri.into());
        self.resource_subscriptions = Some(uris.into());
        self
    }
}

record! {
    /// The params of `subscriptions/listen`.
    pub struct SubscriptionsListenRequestParams<'a> {
        /// Which changes the client wants to be told of.
        notifications: req SubscriptionFilter<'a> = "notifications";
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}

record! {
    /// The result of `subscriptions/listen`, when the server ends it. Its `_meta` names the subscription (SUB-11).
    #[derive(Default)]
    pub struct SubscriptionsListenResult<'a> {}
    around {
        /// `_meta`.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(SubscriptionsListenResult);

record! {
    /// The params of `notifications/subscriptions/acknowledged`.
    pub struct SubscriptionsAcknowledgedParams<'a> {
        /// Those of them that the server will tell of (SUB-04).
        notifications: req SubscriptionFilter<'a> = "notifications";
        /// `_meta`, which names the subscription.
        meta: opt Json<'a> = "_meta";
    }
}
