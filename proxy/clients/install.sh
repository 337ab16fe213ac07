#!/bin/bash
# Installs the client libraries that the tests of this folder run, at the versions named in testdata, into a directory of
# its own beside the system: a Python environment, node_modules, jars. Quick when everything is there.
# usage: install.sh [DIR]      default: $KS_CLIENTS, else kingshard-clients under the user's cache directory
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-${KS_CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/kingshard-clients}}
mkdir -p "$dir"
exec 9>"$dir/lock"
flock 9

missing=()
for program in python3 npm node mvn javac gcc pkg-config; do
  command -v $program >/dev/null || missing+=($program)
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "missing programs: ${missing[*]}; on Debian: apt-get install python3-venv python3-dev npm nodejs maven default-jdk-headless gcc pkg-config" >&2
  exit 1
fi

# stale NAME FILE: whether NAME was not installed from FILE as it is now.
stale() { ! cmp -s "$2" "$dir/$1.done"; }

# run LOG COMMAND...: quiet unless it fails.
run() {
  local log=$dir/$1.log
  shift
  "$@" >"$log" 2>&1 || { echo "failed: $*" >&2; tail -20 "$log" >&2; exit 1; }
}

if stale python "$here/testdata/python/requirements.txt"; then
  if ! pkg-config --exists libmariadb && ! pkg-config --exists mysqlclient; then
    as=()
    if [ "$(id -u)" != 0 ]; then
      sudo -n true 2>/dev/null || { echo "mysqlclient for Python needs headers; run as root: apt-get install libmariadb-dev" >&2; exit 1; }
      as=(sudo -n)
    fi
    run apt "${as[@]}" apt-get -q -y -o DPkg::Lock::Timeout=600 install --no-install-recommends libmariadb-dev
  fi
  rm -rf "$dir/python"
  run python python3 -m venv "$dir/python"
  run python "$dir/python/bin/pip" install --disable-pip-version-check -r "$here/testdata/python/requirements.txt"
  cp "$here/testdata/python/requirements.txt" "$dir/python.done"
  echo "installed: python clients"
fi

if stale node "$here/testdata/node/package.json"; then
  rm -rf "$dir/node"
  mkdir -p "$dir/node"
  cp "$here/testdata/node/package.json" "$dir/node/"
  run node npm --prefix "$dir/node" install --no-audit --no-fund --ignore-scripts
  cp "$here/testdata/node/package.json" "$dir/node.done"
  echo "installed: node clients"
fi

if stale java "$here/testdata/java/artifacts.txt"; then
  rm -rf "$dir/java"
  mkdir -p "$dir/java"
  while read -r artifact; do
    run java mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:get -Dartifact="$artifact" -Dtransitive=false
    run java mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy -Dartifact="$artifact" -DoutputDirectory="$dir/java" -Dmdep.stripVersion=true
  done <"$here/testdata/java/artifacts.txt"
  cp "$here/testdata/java/artifacts.txt" "$dir/java.done"
  echo "installed: java clients"
fi
