//! A printed page, read back by poppler's tools.

use std::path::Path;
use std::process::{Command, Output};

/// Whether they are installed.
pub(crate) fn can_read() -> bool {
    ["pdftotext", "pdftoppm"].iter().all(|tool| Command::new(tool).arg("-v").output().is_ok())
}

/// The words of all its pages, in reading order.
pub(crate) fn text(file: &Path) -> String {
    String::from_utf8(tool("pdftotext", &["-raw"], file, &["-"]).stdout).expect("UTF-8")
}

/// Returns the words outside the margins of their page, which are 14 mm.
pub(crate) fn outside(file: &Path) -> Vec<String> {
    const MARGIN: f64 = 14.0 / 25.4 * 72.0;
    let boxes = String::from_utf8(tool("pdftotext", &["-bbox"], file, &["-"]).stdout).expect("UTF-8");
    let number = |line: &str, name: &str| -> f64 {
        let after = line.split_once(&format!("{name}=\"")).expect("an attribute").1;
        after.split_once('"').expect("that ends").0.parse().expect("a number")
    };
    let (mut page, mut words, mut outside) = ((0.0, 0.0), 0, Vec::new());
    for line in boxes.lines().map(str::trim) {
        if line.starts_with("<page ") {
            page = (number(line, "width"), number(line, "height"));
        } else if line.starts_with("<word ") {
            words += 1;
            let is_inside = number(line, "xMin") > MARGIN - 2.0
                && number(line, "xMax") < page.0 - MARGIN + 2.0
                && number(line, "yMin") > MARGIN - 6.0
                && number(line, "yMax") < page.1 - MARGIN + 6.0;
            if !is_inside {
                outside.push(line.to_owned());
            }
        }
    }
    assert!(words > 100, "{words} words");
    outside
}

/// Asserts a light background: the corners of the pages are white, and most of every page is nearly so.
pub(crate) fn is_light(file: &Path) {
    let folder = file.with_extension("pages");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let prefix = folder.join("page");
    tool("pdftoppm", &["-r", "20", "-gray"], file, &[prefix.to_str().expect("UTF-8")]);
    let mut pages = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder") {
        let image = std::fs::read(entry.expect("an entry").path()).expect("an image");
        // P5, width and height, 255, then a byte for each pixel.
        let heads: Vec<&[u8]> = image.splitn(4, u8::is_ascii_whitespace).collect();
        assert_eq!(heads[0], b"P5");
        let pixels = &image[image.len() - size(heads[1]) * size(heads[2])..];
        assert_eq!([pixels[0], pixels[pixels.len() - 1]], [255, 255]);
        let light = pixels.iter().filter(|pixel| **pixel > 200).count();
        assert!(light * 10 > pixels.len() * 7, "{light} of {} pixels are light", pixels.len());
        pages += 1;
    }
    assert!(pages > 1, "{pages} pages");
}

fn size(digits: &[u8]) -> usize {
    std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).expect("a size")
}

fn tool(name: &str, before: &[&str], file: &Path, after: &[&str]) -> Output {
    let output = Command::new(name).args(before).arg(file).args(after).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}
