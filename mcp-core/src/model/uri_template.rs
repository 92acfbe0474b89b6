//! Stands in until the real one is merged.
#![allow(missing_docs)]
use alloc::borrow::Cow;
use alloc::string::String;
#[derive(Debug)]
pub struct UriTemplate<'a>(Cow<'a, str>);
impl<'a> UriTemplate<'a> {
    pub fn parse(t: &'a str) -> Result<Self, ()> {
        if t.contains('{') {
            Ok(Self(t.into()))
        } else {
            Err(())
        }
    }
    pub fn into_owned(self) -> UriTemplate<'static> {
        UriTemplate(Cow::Owned(String::from(self.0)))
    }
    pub fn matches(&self, uri: &str) -> Option<()> {
        let (a, b) = self.0.split_once('{')?;
        let (_, b) = b.split_once('}')?;
        (uri.starts_with(a) && uri.ends_with(b) && uri.len() > a.len() + b.len()).then_some(())
    }
}
