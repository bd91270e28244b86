# Sourced by the other scripts, never run. Afterwards ROOT is the repository, VENV its own environment, and
# `setup EXTRAS` (a comma list, maybe empty) makes sure that the project and those extras are installed in it.
#
# Set-up happens once: VENV/jeval-ready records what was installed for which pyproject.toml, so a second call
# costs one start of Python. Only a failure is worth reading, so only a failure shows the log.
# shellcheck shell=bash

ROOT="$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)"
VENV="$ROOT/.venv"

# Another environment may be active and another project's settings exported: none of that may leak in.
# Settings that say where packages come from (an index, certificates, a cache) are the person's: they stay.
unset VIRTUAL_ENV PYTHONHOME PYTHONPATH __PYVENV_LAUNCHER__
unset PIP_TARGET PIP_PREFIX PIP_ROOT PIP_PYTHON PIP_NO_DEPS PIP_DRY_RUN PIP_LOG PIP_REPORT
export PIP_USER=0 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

# Argv: mode (check or mark), repository, extras. The record holds a key and the extras installed under it;
# moving the repository changes the key too, since an environment's scripts hold absolute paths.
_STAMP='
import hashlib, pathlib, sys
mode, root, wanted = sys.argv[1], pathlib.Path(sys.argv[2]), set(filter(None, sys.argv[3].split(",")))
text = (root / "pyproject.toml").read_bytes() + repr((str(root), sys.version_info[:2])).encode()
key, record = hashlib.sha256(text).hexdigest(), root / ".venv" / "jeval-ready"
held = record.read_text().split("\n") if record.is_file() else [""]
extras = set(filter(None, held[1:])) if held[0] == key else None
if mode == "check":
    sys.exit(extras is None or not wanted <= extras)
if mode == "union":
    print(",".join(sorted(wanted | (extras or set()))))
if mode == "mark":
    record.write_text("\n".join([key, *sorted(wanted)]))
'

_stamp() { "$VENV/bin/python" -I -c "$_STAMP" "$1" "$ROOT" "$2" 2>/dev/null; }

_say() { printf '%s\n' "$*" >&2; }

_candidates() {
  if [ -n "${JEVAL_PYTHON:-}" ]; then
    command -v -- "$JEVAL_PYTHON" || _say "JEVAL_PYTHON is $JEVAL_PYTHON, which is not a command here"
    return 0
  fi
  local name
  for name in python3 python3.13 python3.12 python3.11 python3.14 python; do
    type -aP "$name" || true
  done
  # A version manager may hold a newer Python than the one its shims point at.
  ls -d "${PYENV_ROOT:-${HOME:-/nonexistent}/.pyenv}"/versions/*/bin/python3 2>/dev/null || true
}

# Prints the first usable interpreter. The base one, not an environment's: that may be the one to be replaced.
_find_python() {
  local candidate found version without_venv="" too_old=""
  while IFS= read -r candidate; do
    # A shim that points at no version, or a stub that opens a shop, exits with an error and is passed over.
    found="$("$candidate" -I -c 'import sys
print(getattr(sys, "_base_executable", None) or sys.executable)
print("%d.%d" % sys.version_info[:2])
print("old" if sys.version_info < (3, 11) else "new")' 2>/dev/null </dev/null)" || continue
    version="$(printf '%s\n' "$found" | sed -n 2p)"
    if [ "$(printf '%s\n' "$found" | sed -n 3p)" != new ]; then
      too_old="$too_old $candidate ($version)"
      continue
    fi
    found="$(printf '%s\n' "$found" | sed -n 1p)"
    if ! "$found" -I -c 'import venv, ensurepip' 2>/dev/null; then
      without_venv="$version"
      continue
    fi
    printf '%s\n' "$found"
    return 0
  done <<LIST
$(_candidates)
LIST
  if [ -n "$without_venv" ]; then
    _say "Python $without_venv is here without its venv module; install it, on Debian and Ubuntu with:" \
      "apt-get install python$without_venv-venv"
  else
    _say "jeval needs Python 3.11 or newer and found none on PATH${too_old:+; too old:$too_old};" \
      "install one, or name it: JEVAL_PYTHON=/path/to/python3"
  fi
  return 1
}

_install() {
  local python="$1" extras="$2" target="$ROOT"
  if [ -n "$extras" ]; then target="$ROOT[$extras]"; fi
  if [ -n "$python" ]; then "$python" -I -m venv "$VENV" || return; fi
  PYTHONWARNINGS='' "$VENV/bin/python" -I -m pip install --progress-bar off --editable "$target"
}

# Runs under the lock.
_set_up() {
  local extras="$1" python="" log
  if _stamp check "$extras"; then return 0; fi    # whoever held the lock before us has done it
  if ! "$VENV/bin/python" -I -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    [ ! -f "$VENV/jeval-made" ] || [ "$(cat "$VENV/jeval-made")" != "$ROOT" ]; then
    python="$(_find_python)" || return
    if [ -e "$VENV" ] && [ ! -f "$VENV/jeval-made" ]; then
      _say "$VENV was not made by these scripts; move it away and run this again"
      return 1
    fi
    rm -rf -- "$VENV" && mkdir -p -- "$VENV" && printf '%s\n' "$ROOT" >"$VENV/jeval-made" || return
  else
    extras="$(_stamp union "$extras")" || extras="$1"
  fi
  if [ -t 2 ]; then _say "Setting up .venv, this once (about a minute) ..."; fi
  log="$VENV/setup.log"
  rm -f -- "$VENV/jeval-ready"    # an interrupted set-up must not look finished
  if ! _install "$python" "$extras" >"$log" 2>&1 </dev/null || ! _stamp mark "$extras"; then
    cat -- "$log" >&2
    _say "Setting up $VENV failed; the log is above, and in $log"
    return 1
  fi
}

setup() {
  local extras="${1:-}" status=0
  if [ -x "$VENV/bin/python" ] && _stamp check "$extras"; then return 0; fi
  # Two scripts started at once: the second waits, then finds it done. Without flock they are on their own.
  if command -v flock >/dev/null 2>&1; then
    exec 9>"$ROOT/.venv.lock" || return
    flock 9 || return
    _set_up "$extras" || status=$?
    exec 9>&-
  else
    _set_up "$extras" || status=$?
  fi
  return "$status"
}
