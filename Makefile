# demo: builds the release and races the schemes over the built-in path.
# test: every check.
# bench: how fast. bench-live: timing of emulated paths, sockets and files over them; to be run alone.
# figures: the figures of the schemes' pages, by the commands that the pages have, and the pictures of the README and of the paths by name.
# evidence: the pages of docs/evidence from the data in bench/evidence; a second.
# evidence-measure: measures anew what commands write into these data, except the grid; as root, to be run alone.
# evidence-grid: the grid; 23 minutes of a core.
# baseline: instructions per ACK anew, bench/instructions.csv and docs/evidence/costs.md.
# kernel: the objects for Linux's TCP brought up to the sources, and the release with `firstflight kernel`.
# bench-kernel: their cost; to be run alone, as root. kernel-parity: the native schemes compared with 10,000 ACKs of each scheme in the
# kernel, as root. kernel-compat: the schemes in Debian's kernels 6.1 and 6.12, in QEMU.
# book: the pages of docs as a book, out/book/index.html.
# nightly: the toolchain that fuzzers, Miri and BPF objects need.
# fuzz: every fuzzer, for FUZZ_SECONDS each, or ten minutes.
# dist: the files of a release for x86_64 and aarch64, in target/dist. release: walks the release without publishing anything.
# papers: every claim of the papers checked, and out/papers.html with their figures.
.POSIX:
.PHONY: demo evidence evidence-measure evidence-grid figures test bench bench-live kernel bench-kernel kernel-parity kernel-compat baseline miri book nightly fuzz dist release papers clean
.SILENT:

demo:
	cargo build --release --locked -p firstflight-cli
	mkdir -p out
	target/release/firstflight demo --report out/demo.html

figures:
	cargo build --locked -p firstflight-cli
	mkdir -p docs/schemes/figures
	grep -h '^firstflight race .* --figure ' docs/schemes/*.md | \
		while read -r command; do target/debug/$$command --csv >/dev/null </dev/null || exit 1; done
	bench/evidence/picture.py target/debug/firstflight
	bench/evidence/presets.py --draw

evidence:
	bench/evidence/render.py

evidence-measure:
	bash .ci/tools kernel
	bash kernel/build
	cargo build --release --locked -p firstflight-cli --features kernel
	bench/evidence/ns2.py target/release/firstflight
	bench/evidence/stacks.py target/release/firstflight
	bench/evidence/pairs.py target/release/firstflight
	bench/evidence/territories.py target/release/firstflight
	bench/evidence/presets.py target/release/firstflight
	bench/evidence/quic.py hosts target/release/firstflight
	FIRSTFLIGHT=target/release/firstflight bash .ci/packetdrill write || test $$? -eq 3
	mkdir -p out
	RACES=5000 SEED=20261125 THREADS=2 cargo test --profile quick --locked -p firstflight-fuzz-bodies --test it agreement -- --nocapture \
		>out/agreement.txt
	bench/evidence/agreement.py out/agreement.txt
	bash kernel/check --acks 10000 target/release/firstflight >out/parity.txt
	bench/evidence/kernel.py parity target/release/firstflight out/parity.txt
	python3 bench/kernel.py --seconds 2 target/release/firstflight >out/cost.txt
	bench/evidence/kernel.py cost target/release/firstflight out/cost.txt
	bench/evidence/render.py

evidence-grid:
	cargo build --release --locked -p firstflight-cli
	target/release/firstflight sweep scenarios/grid.toml --shard 1/8 --out out/grid
	bench/evidence/score.py out/grid --partial
	bench/evidence/render.py score

test:
	bash .ci/test

bench:
	bash .ci/bench

bench-live:
	bash .ci/tools
	cargo build --release --locked -p firstflight-cli
	python3 bench/emulate.py target/release/firstflight
	python3 bench/habitats.py target/release/firstflight
	bash bench/sockets
	cargo build --release --locked -p own-scheme
	python3 bench/killed.py target/release/own-scheme
	python3 bench/probe.py target/release/firstflight

kernel:
	bash .ci/tools kernel
	bash kernel/pack || test $$? -eq 3
	cargo build --release --locked -p firstflight-cli --features kernel

bench-kernel:
	bash .ci/tools kernel
	cargo build --profile quick --locked -p firstflight-cli --features kernel
	python3 bench/kernel.py target/quick/firstflight

kernel-parity:
	bash .ci/tools kernel
	bash kernel/build
	cargo build --profile quick --locked -p firstflight-cli
	bash kernel/check --acks 10000 target/quick/firstflight

kernel-compat:
	bash .ci/tools compat
	cargo build --profile quick --locked -p firstflight-cli --features kernel
	bash kernel/compat target/quick/firstflight || test $$? -eq 3

baseline:
	bash .ci/tools
	bash .ci/instructions baseline

miri:
	bash .ci/miri || test $$? -eq 3

book:
	bash .ci/tools book
	bash .ci/book

nightly:
	rustup toolchain install nightly --profile minimal --component rust-src --component llvm-tools --component miri --no-self-update

fuzz:
	bash .ci/tools
	bash .ci/fuzz $${FUZZ_SECONDS:-600}

dist:
	bash .ci/dist || test $$? -eq 3

release:
	bash .ci/release --dry-run

papers:
	cargo build --release --locked -p firstflight-cli
	mkdir -p out
	target/release/firstflight paper check --report out/papers.html

clean:
	rm -rf out
	cargo clean
