//! The arguments of the function, and what becomes of each.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Error, FnArg, Lit, LitStr, Meta, Pat, PatType, Result, Type, TypeReference};

/// One argument.
pub(crate) enum Argument {
    /// What the client gives: a field of the arguments' type.
    Given(Box<Given>),
    /// The call's context.
    Context { reference: bool },
    /// What the author of the server gives, once.
    State(Box<State>),
}

pub(crate) struct Given {
    pub(crate) name: Ident,
    ty: Type,
    /// Documentation, and what serde and schemars are told.
    attributes: Vec<Attribute>,
    default: Option<Default>,
}

enum Default {
    OfType,
    Value(TokenStream),
}

pub(crate) struct State {
    pub(crate) name: Ident,
    /// Without the reference, if it is one.
    pub(crate) ty: Type,
    pub(crate) reference: bool,
}

impl Argument {
    /// Takes what is meant for the tool out of the attributes of `argument`.
    pub(crate) fn take(argument: &mut FnArg) -> Result<Self> {
        let argument = match argument {
            FnArg::Receiver(receiver) => {
                let message = "a tool is a function, not a method: what its calls share is an argument with `#[state]`, such as `#[state] notes: &Notes`";
                return Err(Error::new_spanned(receiver, message));
            }
            FnArg::Typed(argument) => argument,
        };
        let mut attributes = Vec::new();
        let mut default = None;
        let mut state = None;
        let mut kept = Vec::new();
        for attribute in core::mem::take(&mut argument.attrs) {
            let path = attribute.path();
            if path.is_ident("cfg") || path.is_ident("cfg_attr") {
                let message = "the arguments of a tool cannot depend on `cfg`";
                return Err(Error::new_spanned(attribute, message));
            }
            if ["doc", "serde", "schemars"]
                .iter()
                .any(|known| path.is_ident(known))
            {
                attributes.push(attribute);
            } else if path.is_ident("default") {
                default = Some(Default::parse(&attribute)?);
            } else if path.is_ident("state") {
                attribute.meta.require_path_only()?;
                state = Some(attribute);
            } else {
                kept.push(attribute);
            }
        }
        argument.attrs = kept;

        let context = is_context(&argument.ty);
        if context.is_none() && state.is_none() {
            return Ok(Self::Given(Box::new(Given::new(
                argument, attributes, default,
            )?)));
        }
        // Only what the client gives is described, decoded and left out.
        if let Some(attribute) = attributes.first().filter(|attribute| !is_doc(attribute)) {
            let message = "only what the client gives has attributes of serde and schemars";
            return Err(Error::new_spanned(attribute, message));
        }
        if default.is_some() {
            let message = "only what the client gives has a default";
            return Err(Error::new_spanned(&argument.pat, message));
        }
        match (context, state) {
            (Some(reference), None) => Ok(Self::Context { reference }),
            _ => Ok(Self::State(Box::new(State::new(argument)?))),
        }
    }
}

impl Given {
    fn new(
        argument: &PatType,
        attributes: Vec<Attribute>,
        default: Option<Default>,
    ) -> Result<Self> {
        if let Type::Reference(reference) = &*argument.ty {
            let message = "what the client gives is owned by the call: take `String` for `&str`, `Vec<T>` for `&[T]`; what calls share is an argument with `#[state]`";
            return Err(Error::new_spanned(reference, message));
        }
        if let Type::ImplTrait(generic) = &*argument.ty {
            let message = "the arguments of a tool have types of their own: `impl Trait` says nothing about what the client may give";
            return Err(Error::new_spanned(generic, message));
        }
        Ok(Self {
            name: name(argument)?,
            ty: (*argument.ty).clone(),
            attributes,
            default,
        })
    }

    /// The field of the arguments' type.
    pub(crate) fn field(&self) -> TokenStream {
        let Self {
            name,
            ty,
            attributes,
            default,
        } = self;
        let default = default.as_ref().map(|default| match default {
            Default::OfType => quote!(#[serde(default)]),
            Default::Value(_) => {
                let function = LitStr::new(&self.default_name().to_string(), name.span());
                quote!(#[serde(default = #function)])
            }
        });
        quote!(#(#attributes)* #default #name: #ty)
    }

    /// The function that serde asks for the default.
    pub(crate) fn default(&self) -> Option<TokenStream> {
        let Some(Default::Value(value)) = &self.default else {
            return None;
        };
        let (function, ty) = (self.default_name(), &self.ty);
        Some(quote!(fn #function() -> #ty { #value }))
    }

    fn default_name(&self) -> Ident {
        format_ident!("__default_{}", self.name.unraw(), span = Span::call_site())
    }
}

impl Default {
    fn parse(attribute: &Attribute) -> Result<Self> {
        match &attribute.meta {
            Meta::Path(_) => Ok(Self::OfType),
            Meta::List(list) if !list.tokens.is_empty() => {
                let value = &list.tokens;
                // `"text"` for a `String`.
                Ok(Self::Value(match syn::parse2::<Lit>(value.clone()) {
                    Ok(Lit::Str(text)) => quote!(::core::convert::Into::into(#text)),
                    _ => value.clone(),
                }))
            }
            Meta::List(_) | Meta::NameValue(_) => {
                let message = "a default is `#[default(value)]`, or `#[default]` for that of the argument's type";
                Err(Error::new_spanned(attribute, message))
            }
        }
    }
}

impl State {
    fn new(argument: &PatType) -> Result<Self> {
        let name = name(argument)?;
        if let Type::Reference(reference) = &*argument.ty
            && reference.mutability.is_some()
        {
            let message = "calls run side by side: take `&`, and lock what changes inside of it";
            return Err(Error::new_spanned(reference, message));
        }
        let (ty, reference) = if let Type::Reference(reference) = &*argument.ty
            && !is_static(reference)
        {
            (&*reference.elem, true)
        } else {
            (&*argument.ty, false)
        };
        Ok(Self {
            name,
            ty: ty.clone(),
            reference,
        })
    }
}

/// The name that the pattern gives.
fn name(argument: &PatType) -> Result<Ident> {
    if let Pat::Ident(pattern) = &*argument.pat
        && pattern.by_ref.is_none()
        && pattern.subpat.is_none()
    {
        return Ok(pattern.ident.clone());
    }
    let message =
        "the client gives arguments by name: write a name here, and the pattern in the body";
    Err(Error::new_spanned(&argument.pat, message))
}

/// Whether it is the context, and if so whether by reference. The name has to do: a macro sees no types.
fn is_context(ty: &Type) -> Option<bool> {
    let (ty, reference) = if let Type::Reference(reference) = ty {
        (&*reference.elem, true)
    } else {
        (ty, false)
    };
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let named = last.ident == "Context" || last.ident == "ToolContext";
    (path.qself.is_none() && named && last.arguments.is_empty()).then_some(reference)
}

fn is_static(reference: &TypeReference) -> bool {
    reference
        .lifetime
        .as_ref()
        .is_some_and(|lifetime| lifetime.ident == "static")
}

pub(crate) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}
