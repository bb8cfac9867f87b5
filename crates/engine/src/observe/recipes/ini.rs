//! Files of sections and keys, such as `tox.ini` and `setup.cfg`.

/// Sections with their keys, in order.
pub(super) type Sections = Vec<(String, Vec<(String, String)>)>;

/// Reads the text; `None` if a line fits nowhere.
pub(super) fn read(text: &str) -> Option<Sections> {
    let mut sections: Sections = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            sections.push((name.trim_end().strip_suffix(']')?.trim().to_owned(), Vec::new()));
            continue;
        }
        let values = &mut sections.last_mut()?.1;
        if line.starts_with([' ', '\t']) {
            let (_, value) = values.last_mut()?;
            value.push('\n');
            value.push_str(trimmed);
            continue;
        }
        let at = line.find(['=', ':'])?;
        values.push((line.get(..at)?.trim().to_ascii_lowercase(), line.get(at + 1..)?.trim().to_owned()));
    }
    Some(sections)
}
