//! Files over connections of the system's TCP: what gets across, and what is left where it does not.

mod faults;
mod setting;
mod whole;
