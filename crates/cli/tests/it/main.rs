//! The command as people and scripts run it: what goes in, what comes out, and what the pages say.

mod architecture;
mod browser;
mod captures;
mod choices;
mod common;
mod docs_links;
mod documents;
mod examples;
mod exports;
mod figures;
mod inspect;
mod memory;
mod model;
mod outputs;
mod pieces;
mod population;
mod qlog;
mod replay;
mod restart;
mod run_over;
mod safety;
mod sweep;
mod unlucky;
mod usage;
mod widths;
mod words;
