#![allow(missing_docs)]
use alloc::{borrow::Cow,string::{String,ToString},vec::Vec};
#[derive(Clone,Debug)]
pub struct UriTemplate<'a>(Cow<'a,str>);
impl<'a> UriTemplate<'a> {
 pub fn parse(t:&'a str)->Result<Self,()> { if t.contains('{') {Ok(Self(t.into()))} else {Err(())} }
 pub fn into_owned(self)->UriTemplate<'static> { UriTemplate(Cow::Owned(String::from(self.0))) }
 pub fn matches(&self, uri:&str)->Option<Vec<(String,String)>> {
   let mut t=&*self.0; let mut u=uri; let mut out=Vec::new();
   loop {
     let Some((a,b))=t.split_once('{') else { return (t==u).then_some(out) };
     u=u.strip_prefix(a)?; let (n,b)=b.split_once('}')?;
     let end=match b.chars().next() { None=>u.len(), Some(c)=>u.find(c)? };
     if u[..end].contains('/')||end==0 {return None}
     out.push((n.to_string(),u[..end].to_string())); u=&u[end..]; t=b;
   }
 }
}
