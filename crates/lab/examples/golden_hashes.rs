//! Prints the hashes of the golden races, for builds other than the one that the tests run in.

#[path = "../tests/common/golden.rs"]
mod golden;

fn main() {
    for name in golden::RACES {
        println!("{name} {}", golden::hash(name, 2));
    }
}
