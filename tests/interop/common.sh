# What run, run-client and ../agent/run share: source it.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Seconds for one case, which takes a few; and for one installation.
readonly case_limit=90 install_limit=300

fail() {
    echo "$*" >&2
    exit 1
}

command -v node >/dev/null && command -v npm >/dev/null || fail "node and npm are missing (Debian: nodejs npm)"
node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' ||
    fail "node $(node --version) is too old: the SDKs need 20 or newer"

# Whether the folder $1 was filled from the text on standard input: if not, it has to be filled anew.
filled_from() { [[ -f $1/.filled-from ]] && cmp -s - "$1/.filled-from"; }

node_pins() { cat "$here/ts/package-lock.json" && node --version; }
if ! node_pins | filled_from "$here/ts/node_modules"; then
    (cd "$here/ts" && timeout "$install_limit" npm ci --ignore-scripts >&2)
    node_pins >"$here/ts/node_modules/.filled-from"
fi

venv=$here/python/.venv
python_pins() { cat "$here/python/requirements.txt" && python3 --version; }
if ! python_pins | filled_from "$venv"; then
    python3 -m venv --clear "$venv" >&2 || fail "python3 has no venv (Debian: python3-venv)"
    timeout "$install_limit" "$venv/bin/pip" install --quiet --disable-pip-version-check \
        --requirement "$here/python/requirements.txt" >&2
    python_pins >"$venv/.filled-from"
fi

output=$(mktemp)
# What `at` has started.
servers=()
trap 'rm -f "$output"; kill "${servers[@]}" 2>/dev/null || true' EXIT
passed=0 failed=0

# at PORT COMMAND...: starts a server, and waits until somebody answers there.
at() {
    local port=$1
    shift
    "$@" >/dev/null 2>&1 &
    servers+=($!)
    for _ in {1..100}; do
        # Else one that was there before would be taken for it.
        kill -0 "${servers[-1]}" 2>/dev/null || fail "$* has ended; is port $port taken?"
        curl -so /dev/null --max-time 1 "http://127.0.0.1:$port/" && return
        sleep 0.1
    done
    fail "$* is not at port $port"
}

# one NAME COMMAND...: runs a case, and counts its checks.
one() {
    local name=$1 code=0 good bad
    shift
    echo "# $name"
    timeout --kill-after=5 "$case_limit" "$@" </dev/null >"$output" || code=$?
    cat "$output"
    good=$(grep -c '^ok ' "$output" || true)
    bad=$(grep -c '^not ok ' "$output" || true)
    # A case that checked nothing has not passed either, whatever its exit code says.
    if [[ $bad -eq 0 && ($code -ne 0 || $good -eq 0) ]]; then
        echo "not ok $name: ended with exit code $code and $good checks"
        bad=1
    fi
    passed=$((passed + good)) failed=$((failed + bad))
}

# The last line, and whether all is well.
summary() {
    echo "$passed passed, $failed failed"
    [[ $failed -eq 0 ]]
}
