//! Drawings as the format that a file's name promises: SVG, PNG or PDF.

use std::path::Path;
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use svg2pdf::{ConversionOptions, PageOptions};

use crate::failure::Failure;

/// The family of the font in PNG and PDF. The font is within the program, so that the bytes are identical on every machine.
const FAMILY: &str = "Noto Sans";

/// Returns the drawing `svg` in the format of the path's ending. A name without a known ending is SVG.
///
/// # Errors
/// Fails if the drawing cannot be converted, for instance because it is too large for an image.
pub(crate) fn converted(svg: String, path: &Path) -> Result<Vec<u8>, Failure> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let of =
        |what: &str| Failure::usage(format!("{}: the drawing cannot be written as {what}", path.display()));
    match ending.as_deref() {
        Some("png") => tree(&svg).as_ref().and_then(png).ok_or_else(|| of("PNG")),
        Some("pdf") => tree(&svg).as_ref().and_then(pdf).ok_or_else(|| of("PDF")),
        _ => Ok(svg.into_bytes()),
    }
}

fn tree(svg: &str) -> Option<Tree> {
    let mut fonts = Database::new();
    for font in [notosans::REGULAR_TTF, notosans::BOLD_TTF] {
        fonts.load_font_data(font.to_vec());
    }
    fonts.set_sans_serif_family(FAMILY);
    let options = Options { font_family: FAMILY.to_owned(), fontdb: Arc::new(fonts), ..Options::default() };
    Tree::from_str(svg, &options).ok()
}

/// Returns the drawing as an image with a pixel for each unit of the drawing.
fn png(tree: &Tree) -> Option<Vec<u8>> {
    let size = tree.size().to_int_size();
    let mut image = Pixmap::new(size.width(), size.height())?;
    resvg::render(tree, Transform::identity(), &mut image.as_mut());
    image.encode_png().ok()
}

/// Returns the drawing as a page with a point for each unit of the drawing.
fn pdf(tree: &Tree) -> Option<Vec<u8>> {
    svg2pdf::to_pdf(tree, ConversionOptions::default(), PageOptions::default()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWING: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 100 50\" width=\"200\" height=\"100\" \
                           font-family=\"sans-serif\"><rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\
                           <text x=\"10\" y=\"30\" font-size=\"20\">Wi·×σ</text></svg>";

    fn converted_to(name: &str) -> Vec<u8> {
        let Ok(bytes) = converted(DRAWING.to_owned(), Path::new(name)) else { panic!("{name}") };
        bytes
    }

    #[test]
    fn the_ending_of_the_name_chooses_the_format() {
        assert_eq!(converted_to("x.svg"), DRAWING.as_bytes());
        assert_eq!(converted_to("x"), DRAWING.as_bytes());
        assert!(converted_to("x.PNG").starts_with(b"\x89PNG"));
        assert!(converted_to("x.pdf").starts_with(b"%PDF-"));
    }

    #[test]
    fn an_image_has_the_size_of_the_drawing_and_its_text() {
        let image = Pixmap::decode_png(&converted_to("x.png")).expect("an image");
        assert_eq!((image.width(), image.height()), (200, 100));
        assert!(image.pixels().iter().any(|pixel| pixel.red() < 64), "text in black");
    }

    #[test]
    fn text_in_a_document_is_text_in_the_embedded_font() {
        let document = converted_to("x.pdf");
        let has = |words: &[u8]| document.windows(words.len()).any(|window| window == words);
        assert!(has(b"NotoSans") && has(b"/ToUnicode"), "the font is in the document");
        assert_eq!(document, converted_to("y.pdf"), "the bytes do not depend on anything else");
    }
}
