//! Prints the hashes of the golden races, for builds other than the one that the tests run in.

#[path = "../tests/it/golden/races.rs"]
mod races;

fn main() {
    for name in races::RACES {
        println!("{name} {}", races::hash(name, 2));
    }
}
