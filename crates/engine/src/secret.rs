//! stub
use crate::effect::Sensitivity;
pub struct Finding { pub start: usize, pub end: usize, pub kind: &'static str, pub sensitivity: Sensitivity }
pub fn scan(_t:&str)->Vec<Finding>{Vec::new()}
pub fn redact<'a>(t:&'a str,_k:&[u8;16])->std::borrow::Cow<'a,str>{t.into()}
