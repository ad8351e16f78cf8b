//! Files over connections of the system's TCP: the files that are transferred, and the files that remain after a failure.

mod faults;
mod folders;
mod setting;
mod strangers;
mod whole;
