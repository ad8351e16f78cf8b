//! Races, runs and populations on their paths: the results, and the laws that every run keeps.

mod beside;
mod bounded;
mod golden;
mod harm;
mod ideal;
mod interrupts;
mod keys;
mod laws;
mod odd_paths;
mod outside;
mod populations;
mod quick_start;
mod race;
mod random_paths;
mod references;
mod restart;
mod script;
mod stacks;
mod successors;
mod topology;
mod traces;
mod warm_up;
mod windows;
