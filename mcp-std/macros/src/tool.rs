//! The function, and the tool that is made of it.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, ExprLit, Lit, LitStr, Meta, Result, ReturnType, Safety, Signature,
    Visibility,
};

use crate::argument::{Argument, Given, State, is_doc};
use crate::options::{Options, and};

/// A function whose body is not looked at: half-written ones expand too, so that editors can help.
struct Function {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    signature: Signature,
    body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input
            .parse()
            .map_err(|error| Error::new(error.span(), format!("a tool is a function: {error}")))?;
        Ok(Self {
            attributes,
            visibility,
            signature,
            body: input.parse()?,
        })
    }
}

/// The function as it was, and a companion that makes the tool; if something is wrong, the function and the errors.
pub(crate) fn expand(options: TokenStream, function: TokenStream) -> TokenStream {
    let mut function = match syn::parse2::<Function>(function.clone()) {
        Ok(function) => function,
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#function #error);
        }
    };
    let (arguments, errors) = take_arguments(&mut function.signature);
    let companion = match (Options::parse(options), errors) {
        (Ok(options), None) => companion(&options, &function, &arguments),
        (Ok(_), Some(errors)) => Err(errors),
        (Err(error), errors) => {
            let mut error = Some(error);
            errors.into_iter().for_each(|more| and(&mut error, more));
            Err(error.expect("there is one"))
        }
    };
    let companion = companion.unwrap_or_else(Error::into_compile_error);
    let Function {
        attributes,
        visibility,
        signature,
        body,
    } = &function;
    quote! {
        #(#attributes)*
        #visibility #signature #body

        #companion
    }
}

fn take_arguments(signature: &mut Signature) -> (Vec<Argument>, Option<Error>) {
    let mut errors = None;
    if let Err(error) = plain(signature) {
        and(&mut errors, error);
    }
    let mut arguments = Vec::new();
    let mut has_context = false;
    for input in &mut signature.inputs {
        match Argument::take(input) {
            Ok(Argument::Context { .. }) if has_context => {
                let message = "a call has one context; what is shared between calls is an argument with `#[state]`";
                and(&mut errors, Error::new_spanned(input, message));
            }
            Ok(argument) => {
                has_context |= matches!(argument, Argument::Context { .. });
                arguments.push(argument);
            }
            Err(error) => and(&mut errors, error),
        }
    }
    (arguments, errors)
}

/// A function that a closure can call without knowing more.
fn plain(signature: &Signature) -> Result<()> {
    let generics = &signature.generics;
    if !generics.params.is_empty() || generics.where_clause.is_some() {
        let message = "a tool is one function, not a generic one: its arguments are described to the client by their types";
        return Err(Error::new_spanned(&generics.params, message));
    }
    if let Safety::Unsafe(token) = &signature.safety {
        let message = "a client can call a tool with any arguments: it cannot be `unsafe`";
        return Err(Error::new(token.span, message));
    }
    if let Some(variadic) = &signature.variadic {
        return Err(Error::new_spanned(
            variadic,
            "the arguments of a tool have names",
        ));
    }
    Ok(())
}

/// An empty enum is a name among the types: the function keeps its own among the values, and `use` brings both.
fn companion(
    options: &Options,
    function: &Function,
    arguments: &[Argument],
) -> Result<TokenStream> {
    let Function {
        attributes,
        visibility,
        signature,
        ..
    } = function;
    let Options {
        title,
        hints,
        local,
        krate,
        ..
    } = options;
    let ident = &signature.ident;
    let cfgs: Vec<_> = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .collect();
    let name = match &options.name {
        Some(name) => name.clone(),
        None => LitStr::new(&ident.unraw().to_string(), ident.span()),
    };
    let description = match &options.description {
        Some(description) => quote!(#description),
        None => description(attributes)?,
    };

    let (kind, make) = if *local {
        (quote!(Tool<#krate::Local>), quote!(local))
    } else {
        (quote!(Tool), quote!(new))
    };
    let given: Vec<&Given> = arguments
        .iter()
        .filter_map(|argument| match argument {
            Argument::Given(given) => Some(&**given),
            Argument::Context { .. } | Argument::State(_) => None,
        })
        .collect();
    let states: Vec<&State> = arguments
        .iter()
        .filter_map(|argument| match argument {
            Argument::State(state) => Some(&**state),
            Argument::Context { .. } | Argument::Given(_) => None,
        })
        .collect();
    let (arguments_type, declared) = declare(krate, &given);
    let parameters = states.iter().map(|state| parameter(state));
    let shared = states.iter().filter(|state| state.reference).map(|state| {
        let (name, ty) = (&state.name, &state.ty);
        quote!(let #name: ::std::sync::Arc<#ty> = ::core::convert::Into::into(#name);)
    });
    let clones = states.iter().map(|state| &state.name);
    let passed = arguments.iter().map(pass);
    let awaited = signature.asyncness.map(|_| quote!(.await));
    let title = title.as_ref().map(|title| quote!(.title(#title)));
    let hints = hints.iter().map(|(hint, value)| quote!(.#hint(#value)));
    // What is wrong with the result is shown where its type is written.
    let result = match &signature.output {
        ReturnType::Default => ident.span(),
        ReturnType::Type(_, ty) => ty.span(),
    };
    let handler = quote_spanned! {result=>
        move |__context: #krate::__macros::Context, __args: #arguments_type| {
            #(let #clones = ::core::clone::Clone::clone(&#clones);)*
            async move { #ident(#(#passed),*) #awaited }
        }
    };
    let about = format!(
        "The tool `{0}`: [`{0}()`](fn@{0}) is what it runs.",
        ident.unraw()
    );
    let about_tool = format!("The tool `{}`, to be added to a server.", name.value());

    Ok(quote! {
        #(#cfgs)*
        #[doc = #about]
        #[allow(non_camel_case_types, clippy::exhaustive_enums)]
        #visibility enum #ident {}

        #(#cfgs)*
        impl #ident {
            #[doc = #about_tool]
            #[must_use]
            #visibility fn tool(#(#parameters),*) -> #krate::#kind {
                #declared
                #(#shared)*
                #krate::Tool::#make(#name, #description, #handler)
                #title
                #(#hints)*
            }
        }
    })
}

/// The type of the arguments, and its declaration.
fn declare(krate: &TokenStream, given: &[&Given]) -> (TokenStream, TokenStream) {
    if given.is_empty() {
        return (quote!(#krate::NoArguments), TokenStream::new());
    }
    let fields = given.iter().map(|given| given.field());
    let defaults = given.iter().filter_map(|given| given.default());
    let (serde, schemars) = (
        quote!(#krate::__macros::serde).to_string(),
        quote!(#krate::__macros::schemars).to_string(),
    );
    let declaration = quote! {
        #(#defaults)*
        #[derive(#krate::__macros::serde::Deserialize, #krate::__macros::schemars::JsonSchema)]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars)]
        struct __Arguments { #(#fields),* }
    };
    (quote!(__Arguments), declaration)
}

/// Of the function that makes the tool.
fn parameter(state: &State) -> TokenStream {
    let (name, ty) = (&state.name, &state.ty);
    if state.reference {
        quote!(#name: impl ::core::convert::Into<::std::sync::Arc<#ty>>)
    } else {
        quote!(#name: #ty)
    }
}

/// What the function is called with.
fn pass(argument: &Argument) -> TokenStream {
    let by_reference = |name: &Ident, reference: bool| {
        if reference {
            quote!(&#name)
        } else {
            quote!(#name)
        }
    };
    match argument {
        Argument::Given(given) => {
            let name = &given.name;
            quote!(__args.#name)
        }
        Argument::Context { reference } => by_reference(&format_ident!("__context"), *reference),
        Argument::State(state) => by_reference(&state.name, state.reference),
    }
}

/// The documentation as text.
fn description(attributes: &[Attribute]) -> Result<TokenStream> {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|attribute| is_doc(attribute)) {
        // `#[doc(hidden)]` and the like are no documentation.
        let Meta::NameValue(doc) = &attribute.meta else {
            continue;
        };
        let Expr::Lit(ExprLit {
            lit: Lit::Str(line),
            ..
        }) = &doc.value
        else {
            let message = "not known before it is compiled: say `#[tool(description = …)]`";
            return Err(Error::new(doc.value.span(), message));
        };
        let text = line.value();
        // A block comment is one attribute of several lines.
        lines.extend(text.split('\n').map(|line| {
            let line = line.trim_end();
            line.strip_prefix(' ').unwrap_or(line).to_owned()
        }));
    }
    let text = lines.join("\n");
    let text = text.trim();
    Ok(quote!(#text))
}

#[cfg(test)]
mod tests;
