# demo: build the release and race the schemes over the built-in path; figures:
# draw the figures of the schemes' pages by the commands that stand there; test: every check; bench: how fast; bench-live: how
# exact emulated paths are in time, how fast sockets are, how near to the simulator, and files whose ends are killed, to be run alone; kernel: the objects for
# Linux's TCP brought up to the sources, and the release with `firstflight kernel`; bench-kernel: what they cost, to be run alone, as
# root; kernel-parity: the native schemes held to 10,000 ACKs of each scheme in the kernel, as root; kernel-compat: the
# schemes in Debian's kernels 6.1 and 6.12, in QEMU; baseline: instructions per ACK anew,
# bench/instructions.csv and docs/costs.md; papers: every claim of the papers checked, and out/papers.html with their figures.
.POSIX:
.PHONY: demo figures test bench bench-live kernel bench-kernel kernel-parity kernel-compat baseline miri papers clean
.SILENT:

demo:
	cargo build --release --locked -p firstflight-cli
	mkdir -p out
	target/release/firstflight race --schemes all,slow-start:recovery=sack,as=slow-start-rfc6675 --report out/demo.html

figures:
	cargo build --locked -p firstflight-cli
	mkdir -p docs/schemes/figures
	grep -h '^firstflight race .* --figure ' docs/schemes/*.md | \
		while read -r command; do target/debug/$$command --csv >/dev/null </dev/null || exit 1; done

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

papers:
	cargo build --release --locked -p firstflight-cli
	mkdir -p out
	target/release/firstflight paper check --report out/papers.html

clean:
	rm -rf out
	cargo clean
