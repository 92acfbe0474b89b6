//! What is written in the brackets of `#[tool(…)]`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::{Error, Expr, LitBool, LitStr, Path, Result, Token};

const KNOWN: &str = "`name`, `title`, `description`, `read_only`, `destructive`, `idempotent`, `open_world`, `local` and `crate`";

pub(crate) struct Options {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<Expr>,
    pub(crate) description: Option<Expr>,
    /// The hints, by the names that `Tool`'s methods have as well.
    pub(crate) hints: Vec<(Ident, LitBool)>,
    pub(crate) local: bool,
    pub(crate) krate: TokenStream,
}

impl Options {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self> {
        let mut options = Self {
            name: None,
            title: None,
            description: None,
            hints: Vec::new(),
            local: false,
            krate: quote!(::mcp_std),
        };
        let mut seen = Vec::new();
        syn::meta::parser(|meta| options.option(&meta, &mut seen)).parse2(tokens)?;
        Ok(options)
    }

    fn option(&mut self, meta: &ParseNestedMeta<'_>, seen: &mut Vec<Ident>) -> Result<()> {
        let unknown = || meta.error(format!("not an option of a tool; these are: {KNOWN}"));
        let key = meta.path.require_ident().map_err(|_| unknown())?.clone();
        if seen.contains(&key) {
            return Err(meta.error("said twice"));
        }
        match key.to_string().as_str() {
            "name" => self.name = Some(meta.value()?.parse()?),
            "title" => self.title = Some(meta.value()?.parse()?),
            "description" => self.description = Some(meta.value()?.parse()?),
            "read_only" | "destructive" | "idempotent" | "open_world" => {
                let hint = if meta.input.peek(Token![=]) {
                    meta.value()?.parse()?
                } else {
                    LitBool::new(true, key.span())
                };
                self.hints.push((key.clone(), hint));
            }
            "local" => self.local = true,
            "crate" => {
                let value = meta.value()?;
                // serde writes this path as a string, everything else would write it as a path.
                let path = if value.peek(LitStr) {
                    value.parse::<LitStr>()?.parse::<Path>()?
                } else {
                    value.call(Path::parse_mod_style)?
                };
                self.krate = quote!(#path);
            }
            _ => return Err(unknown()),
        }
        seen.push(key);
        Ok(())
    }
}

/// Adds to the errors found so far: all of them are shown at once.
pub(crate) fn and(errors: &mut Option<Error>, error: Error) {
    match errors {
        Some(errors) => errors.combine(error),
        None => *errors = Some(error),
    }
}
