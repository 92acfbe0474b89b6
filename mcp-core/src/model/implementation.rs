//! `Implementation`: who a peer says it is (TYP-01).

use crate::Cow;

use super::codec::record;
use super::{Icon, List};

record! {
    /// Name and version of a program; self-reported, for display and logs only (META-13).
    pub struct Implementation<'a> {
        /// For programs.
        name: req Cow<'a, str> = "name";
        /// For people. From 2025-06-18 on.
        title: opt Cow<'a, str> = "title" [C E];
        /// Any format.
        version: req Cow<'a, str> = "version";
        /// What it is, for people. From 2025-11-25 on.
        description: opt Cow<'a, str> = "description" [D E];
        /// Pictures of it. From 2025-11-25 on.
        icons: opt List<'a, Icon<'a>> = "icons" [D E];
        /// Its page. From 2025-11-25 on.
        website_url: opt Cow<'a, str> = "websiteUrl" [D E];
    }
}
