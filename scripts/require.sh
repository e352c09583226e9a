#!/bin/sh
# Says what is missing before anything is built: require.sh PYTHON
set -eu

python=$1
rust_needed=1.88
python_needed=3.11

fail() {
    echo "error: $1" >&2
    exit 1
}

# True where version $1 is no older than version $2.
reaches() {
    [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

command -v cargo >/dev/null && command -v rustc >/dev/null ||
    fail "Rust $rust_needed or later is needed and there is none; get it from https://rustup.rs"
rust=$(rustc --version | cut -d ' ' -f 2)
reaches "$rust" "$rust_needed" ||
    fail "Rust $rust_needed or later is needed, this is $rust (Debian's own may be too old); get it from https://rustup.rs"

command -v "$python" >/dev/null ||
    fail "Python $python_needed or later is needed and there is no $python; name one: make PYTHON=python3.12 ..."
version=$("$python" -c 'import platform; print(platform.python_version())')
reaches "$version" "$python_needed" ||
    fail "Python $python_needed or later is needed, $python is $version; name another: make PYTHON=python3.12 ..."
"$python" -c 'import venv, ensurepip' 2>/dev/null ||
    fail "$python cannot make environments; on Debian: apt install python3-venv"
