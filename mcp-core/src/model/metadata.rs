//! What several types carry: annotations, icons, roles (basic, "Icons"; server, "Resources", "Annotations").

use crate::Cow;

use super::List;
use super::codec::{names, record};

names! {
    /// Who speaks, or whom something is for.
    pub enum Role {
        /// The person.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}

record! {
    /// What a client may go by when it uses or shows something.
    #[derive(Default)]
    pub struct Annotations<'a> {
        /// Whom it is for.
        audience: opt List<'a, Role<'a>> = "audience";
        /// How much it matters, from 0, entirely optional, to 1, effectively required.
        priority: opt f64 = "priority";
        /// When it was last changed, in ISO 8601. From 2025-06-18 on.
        last_modified: opt Cow<'a, str> = "lastModified" [C E];
    }
}

names! {
    /// What an icon is drawn for.
    pub enum IconTheme {
        /// A light background.
        Light = "light",
        /// A dark background.
        Dark = "dark",
    }
}

record! {
    /// A picture to show for something. From 2025-11-25 on.
    pub struct Icon<'a> {
        /// Where it is: `https:` or `data:`, and no other scheme may be followed (ICO-04).
        src: req Cow<'a, str> = "src";
        /// Its type, if the server's word is to be preferred.
        mime_type: opt Cow<'a, str> = "mimeType";
        /// `48x48` and the like, or `any`.
        sizes: opt List<'a, Cow<'a, str>> = "sizes";
        /// What it is drawn for; any background if absent.
        theme: opt IconTheme<'a> = "theme";
    }
}
