//! The schemes, the laws, the registry and the seam, from outside the crate.

mod adaptive;
mod bbr;
mod bpf;
mod careful_resume;
mod common;
mod controller;
mod cubic;
mod hystart;
mod hystart_linux;
mod hystart_plus;
mod laws;
mod limited;
mod outside;
mod paced;
mod paced_choices;
mod paced_gaps;
mod packet_numbers;
mod packet_pair;
mod quick_start;
mod rapid_start;
mod registry;
mod restart;
mod search;
mod sizes;
mod suss;
mod vegas;
