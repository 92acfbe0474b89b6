//! What a client is told of anything that is offered.

/// The setters that tools, prompts, resources and templates share: each type has a field `definition`.
macro_rules! described {
    ($($of:ident)*) => {$(
        impl<S: $crate::server::handler::Sharing> $of<S> {
            /// What it is called, for people.
            #[must_use]
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.definition.title = Some(title.into().into());
                self
            }

            /// Adds a picture of it.
            #[must_use]
            pub fn icon(mut self, icon: mcp_core::model::Icon<'static>) -> Self {
                $crate::server::push(&mut self.definition.icons, icon);
                self
            }

            /// `_meta` of its definition: an object.
            #[must_use]
            pub fn meta(mut self, meta: mcp_core::json::Json<'static>) -> Self {
                self.definition.meta = Some(meta);
                self
            }
        }

        impl<S: $crate::server::handler::Sharing> core::fmt::Debug for $of<S> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($of))
                    .field("name", &self.definition.name)
                    .finish_non_exhaustive()
            }
        }
    )*};
}

pub(super) use described;
