//! stub
use crate::marks::Marks; use crate::world::World;
#[derive(Clone, Debug)]
pub struct Address { pub host: String, pub port: Option<u16>, pub scheme: String, pub marks: Marks }
pub fn url(text: &str, _w: &dyn World) -> Address { Address{host:text.into(),port:None,scheme:String::new(),marks:Marks::default()} }
pub fn host(text: &str, _w: &dyn World) -> Address { Address{host:text.into(),port:None,scheme:String::new(),marks:Marks::default()} }
pub fn remote_path(text: &str) -> Option<(&str,&str)> { text.split_once(':') }
