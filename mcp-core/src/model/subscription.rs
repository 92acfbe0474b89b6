//! `subscriptions/listen` (2026-07-28, basic, patterns, "Subscriptions").

use alloc::borrow::Cow;

use super::List;
use super::codec::{record, result_impls};
use crate::json::Json;

record! {
    /// What is listened for.
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

record! {
    /// The params of `subscriptions/listen`.
    pub struct SubscriptionsListenRequestParams<'a> {
        /// What is listened for.
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
        /// What of it is honoured (SUB-04).
        notifications: req SubscriptionFilter<'a> = "notifications";
        /// `_meta`, which names the subscription.
        meta: opt Json<'a> = "_meta";
    }
}
