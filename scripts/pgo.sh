#!/bin/sh
# Builds a wheel with profile-guided optimisation: pgo.sh PYTHON OUT
#
# PYTHON has maturin. The wheel goes to OUT. Everything else is in the folder pgo of cargo's target
# directory, so that the default build stays as it is.
set -eu

python=$1
out=$2
work=${CARGO_TARGET_DIR:-target}/pgo
# What the profile is taken from: no experiment of the bench, or the bench would measure its own training.
training="mixed demo tenants power-cut end-of-life"

fail() {
    echo "error: $1" >&2
    exit 1
}

host=$(rustc -vV | sed -n 's/^host: //p')
merge=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata
[ -x "$merge" ] || {
    command -v rustup >/dev/null ||
        fail "llvm-profdata is needed, a part of rustup's component llvm-tools, and there is no rustup; get it from https://rustup.rs"
    rustup component add llvm-tools
}
[ -x "$merge" ] ||
    fail "rustc in PATH is not rustup's, so the llvm-tools of rustup do not fit it; put ~/.cargo/bin first in PATH"

mkdir -p "$work"
work=$(cd "$work" && pwd)

# wheel FLAGS FOLDER: a wheel of code that is compiled with FLAGS. Naming the host as the target
# keeps the flags from build scripts and macros, which would write profiles of their own.
wheel() {
    rm -rf "$2"
    CARGO_TARGET_DIR=$work RUSTFLAGS="${RUSTFLAGS:-} $1" \
        "$python" -m maturin build --release --locked --target "$host" --out "$2"
}

# install FOLDER: puts the wheel there into an environment of its own.
install() {
    "$work/venv/bin/python" -m pip --disable-pip-version-check --quiet install --force-reinstall "$@"
}

echo "1 of 3: a wheel that counts what it executes"
rm -rf "$work/profiles" "$work/runs"
wheel "-Cprofile-generate=$work/profiles" "$work/counting"
[ -x "$work/venv/bin/python" ] || "$python" -m venv "$work/venv"
install "$work"/counting/*.whl

echo "2 of 3: the examples $training"
for example in $training; do
    "$work/venv/bin/flashscape" run "examples/$example.toml" --out "$work/runs/$example" --force >/dev/null
done
# No example has commands that hold the channel, as imported drives have.
"$work/venv/bin/flashscape" run examples/mixed.toml --out "$work/runs/commands" --force \
    --set 'drive.nand.command_cycles={ read = "300 ns", program = "300 ns", erase = "300 ns" }' \
    --set drive.scheduler.channel=data-first >/dev/null
"$merge" merge --output="$work/profile.profdata" "$work"/profiles/*.profraw

echo "3 of 3: the wheel itself"
wheel "-Cprofile-use=$work/profile.profdata" "$out"
install --no-deps "$out"/*.whl

echo
echo "The wheel is $(ls "$out"/*.whl). Install it into a Python of your own:"
echo "    pip install --force-reinstall $(ls "$out"/*.whl)"
echo "It is also in an environment of its own; to measure it:"
echo "    $work/venv/bin/python -m flashscape.bench"
