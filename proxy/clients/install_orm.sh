#!/bin/bash
# Installs what the applications of testdata/orm need beyond install.sh, which must have run: Django and SQLAlchemy, the
# jars of Hibernate. GORM is a Go module and comes when its application is built. Quick when everything is there.
# usage: install_orm.sh [DIR]      the directory of install.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-${KS_CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/kingshard-clients}}
exec 9>"$dir/lock"
flock 9

# stale NAME FILE: whether NAME was not installed from FILE as it is now.
stale() { ! cmp -s "$2" "$dir/$1.done"; }

# run NAME COMMAND...: quiet unless it fails.
run() {
  local log=$dir/$1.log
  shift
  "$@" >"$log" 2>&1 || { echo "failed: $*" >&2; tail -20 "$log" >&2; exit 1; }
}

requirements=$here/testdata/orm/requirements.txt
if stale orm-python "$requirements"; then
  rm -rf "$dir/orm-python"
  run orm-python "$dir/python/bin/pip" install --disable-pip-version-check --target "$dir/orm-python" -r "$requirements"
  cp "$requirements" "$dir/orm-python.done"
  echo "installed: Django, SQLAlchemy"
fi

pom=$here/testdata/orm/hibernate/pom.xml
if stale hibernate "$pom"; then
  rm -rf "$dir/hibernate"
  run hibernate mvn -q -B -f "$pom" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$dir/hibernate"
  cp "$pom" "$dir/hibernate.done"
  echo "installed: Hibernate"
fi
