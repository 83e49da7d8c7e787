//! A strict reader of the little XML that pictures are made of: elements, attributes, texts.

/// An element with its attributes and the text directly inside it.
#[derive(Debug, Default)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) text: String,
    /// The `class` attributes of the elements around it.
    pub(crate) within: Vec<String>,
}

impl Element {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(crate) fn number(&self, name: &str) -> f64 {
        let text = self.get(name).unwrap_or_else(|| panic!("no {name} in {self:?}"));
        text.parse().unwrap_or_else(|_| panic!("{name}=\"{text}\" is no number"))
    }

    pub(crate) fn is(&self, class: &str) -> bool {
        self.get("class").is_some_and(|all| all.split(' ').any(|one| one == class))
    }
}

/// Every element in the order of the file. Panics where the text is not well-formed.
#[track_caller]
pub(crate) fn elements(text: &str) -> Vec<Element> {
    let mut found: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut rest = text;
    let mut roots = 0;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        match open.last() {
            Some(&inside) => found[inside].text.push_str(&plain(before)),
            None => assert!(before.trim().is_empty(), "text outside of the root: {before}"),
        }
        let end = tag.find('>').unwrap_or_else(|| panic!("a tag never ends: {tag:.40}"));
        let inner = &tag[1..end];
        rest = &tag[end + 1..];
        if let Some(name) = inner.strip_prefix('/') {
            let last = open.pop().unwrap_or_else(|| panic!("</{name}> ends nothing"));
            assert_eq!(found[last].name, name, "</{name}> ends <{}>", found[last].name);
            continue;
        }
        let empty = inner.ends_with('/');
        let inner = inner.trim_end_matches('/').trim_end();
        let (name, attributes) = inner.split_once(' ').unwrap_or((inner, ""));
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "the name <{name}>");
        roots += usize::from(open.is_empty());
        let within =
            open.iter().filter_map(|k| found[*k].get("class")).map(str::to_owned).collect();
        let attributes = attributes_of(attributes);
        found.push(Element { name: name.to_owned(), attributes, text: String::new(), within });
        if !empty {
            open.push(found.len() - 1);
        }
    }
    assert!(open.is_empty(), "<{}> is never closed", found[open[0]].name);
    assert_eq!(roots, 1, "there is one root");
    assert!(rest.trim().is_empty());
    found
}

fn attributes_of(mut text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    while !text.trim_start().is_empty() {
        let (name, value) =
            text.trim_start().split_once("=\"").unwrap_or_else(|| panic!("no =\" in {text}"));
        let (value, after) =
            value.split_once('"').unwrap_or_else(|| panic!("{name} is never closed"));
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "the name {name}");
        assert!(found.iter().all(|(known, _)| known != name), "{name} stands twice");
        assert!(after.is_empty() || after.starts_with(' '), "no blank after {name}");
        found.push((name.to_owned(), plain(value)));
        text = after;
    }
    found
}

/// Text with its entities replaced; anything that must be escaped and is not is refused.
fn plain(text: &str) -> String {
    assert!(!text.contains('<') && !text.contains('>'), "a bare bracket in {text}");
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "a control character in {text:?}");
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let (entity, after) = after.split_once(';').unwrap_or_else(|| panic!("a bare & in {text}"));
        out.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            other => panic!("the entity &{other};"),
        });
        rest = after;
    }
    out + rest
}
