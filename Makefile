# demo: build the release and race the schemes over the built-in path; test: every check; bench: how fast.
.POSIX:
.PHONY: demo test bench papers clean
.SILENT:

demo:
	cargo build --release --locked -p firstflight-cli
	mkdir -p out
	target/release/firstflight race --schemes all,slow-start:recovery=sack,as=slow-start-rfc6675 --report out/demo.html

test:
	bash .ci/test

bench:
	bash .ci/bench

papers:
	echo "make papers: the papers' claims are not built yet" >&2; exit 2

clean:
	rm -rf out
	cargo clean
