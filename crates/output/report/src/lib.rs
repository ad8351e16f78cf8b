//! Shows results to people: the terminal table, the score's tables and sentences, SVG drawings and one self-contained HTML file.
//!
//! Everything here is a pure function from results to bytes. The records that it shows, and the meaning of their fields, are of
//! `firstflight-export`.

pub mod grid;
pub mod html;
pub mod human;
pub mod inspected;
pub mod markdown;
pub mod population;
pub mod probed;
pub mod prose;
mod reference;
mod report;
pub mod score;
pub mod svg;
pub mod table;
mod thin;
mod undefined;
mod view;
mod views;
pub mod windows;

pub use grid::Columns;
pub use html::{Drawn, FlowOf, HtmlError, RunWindow};
pub use reference::BasePath;
pub use report::{Report, Subject};
pub use table::{Headings, Rows, TableStyle, headings};
pub use windows::windows_table;
