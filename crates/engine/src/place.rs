//! Which class of place a path is: system, credential store, shell profile, manifest and so on.

/// A directory whose programs belong to the system.
pub fn is_program_directory(path: &str) -> bool {
    ["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"].iter().any(|directory| {
        path.strip_prefix(directory).is_some_and(|name| !name.contains('/'))
    })
}
use crate::effect::*; use crate::marks::Marks; use crate::world::World;
pub struct Place { pub scope: Scope, pub reach: Reach, pub marks: Marks, pub sensitivity: Sensitivity }
pub fn classify(_path: &str, _w: &dyn World) -> Place { Place{scope:Scope::File,reach:Reach::Project,marks:Marks::default(),sensitivity:Sensitivity::None} }
pub fn is_harmless_device(path:&str)->bool { path=="/dev/null" }
pub fn glob_may_match_sensitive(_p:&str,_i:bool)->bool{false}
