//! The page itself, held in the program.

/// (address, kind, bytes) of every file of the page.
const FILES: &[(&str, &str, &[u8])] = &[
    ("/", "text/html; charset=utf-8", include_bytes!("../page/index.html")),
    ("/lab.css", "text/css; charset=utf-8", include_bytes!("../page/lab.css")),
    ("/icon.svg", "image/svg+xml", include_bytes!("../page/icon.svg")),
    script("/main.js", include_bytes!("../page/main.js")),
    script("/api.js", include_bytes!("../page/api.js")),
    script("/state.js", include_bytes!("../page/state.js")),
    script("/draw.js", include_bytes!("../page/draw.js")),
    script("/pattern.js", include_bytes!("../page/pattern.js")),
    script("/weight.js", include_bytes!("../page/weight.js")),
    script("/criterion.js", include_bytes!("../page/criterion.js")),
    script("/curves.js", include_bytes!("../page/curves.js")),
    script("/log.js", include_bytes!("../page/log.js")),
    script("/verdict.js", include_bytes!("../page/verdict.js")),
    script("/controls.js", include_bytes!("../page/controls.js")),
    script("/edit.js", include_bytes!("../page/edit.js")),
    script("/space.js", include_bytes!("../page/space.js")),
    script("/figures.js", include_bytes!("../page/figures.js")),
    script("/race.js", include_bytes!("../page/race.js")),
    script("/regions.js", include_bytes!("../page/regions.js")),
    script("/walk.js", include_bytes!("../page/walk.js")),
    script("/lift.js", include_bytes!("../page/lift.js")),
    script("/many.js", include_bytes!("../page/many.js")),
    script("/copy.js", include_bytes!("../page/copy.js")),
    script("/share.js", include_bytes!("../page/share.js")),
    script("/lessons.js", include_bytes!("../page/lessons.js")),
];

const fn script(
    address: &'static str,
    bytes: &'static [u8],
) -> (&'static str, &'static str, &'static [u8]) {
    (address, "text/javascript; charset=utf-8", bytes)
}

/// The kind and the bytes of an address.
pub(crate) fn find(address: &str) -> Option<(&'static str, &'static [u8])> {
    let found = FILES.iter().find(|(name, _, _)| *name == address);
    found.map(|(_, kind, bytes)| (*kind, *bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_small_and_asks_nobody_else() {
        let size: usize = FILES.iter().map(|(_, _, bytes)| bytes.len()).sum();
        assert!(size < 300_000, "the page has {size} bytes");
        for (name, _, bytes) in FILES {
            let text = String::from_utf8_lossy(bytes);
            let elsewhere = text.match_indices("://").filter(|(at, _)| {
                !text[..*at].ends_with("http") || !text[*at..].starts_with("://www.w3.org/")
            });
            assert_eq!(elsewhere.count(), 0, "{name} has an address");
            assert!(!text.contains("innerHTML") && !text.contains("eval("), "{name}");
        }
    }
}
