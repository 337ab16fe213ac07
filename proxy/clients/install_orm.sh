#!/bin/bash
# Installs what the applications of testdata/orm need beyond install.sh, which must have run: Django and SQLAlchemy, the
# jars of Hibernate, Sequelize; and, as Debian has them, ActiveRecord, Eloquent and Doctrine. GORM is a Go module and comes
# when its application is built. Quick when everything is there.
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

package=$here/testdata/orm/sequelize/package.json
if stale orm-node "$package"; then
  rm -rf "$dir/orm-node"
  mkdir -p "$dir/orm-node"
  cp "$package" "$dir/orm-node/"
  run orm-node npm --prefix "$dir/orm-node" install --no-audit --no-fund --ignore-scripts
  cp "$package" "$dir/orm-node.done"
  echo "installed: Sequelize"
fi

packages=()
ruby -e 'require "active_record"; require "mysql2"' 2>/dev/null || packages+=(ruby-activerecord ruby-mysql2)
# loads LIBRARY: whether PHP can, and can reach a server.
loads() { php -r 'exit((@include_once $argv[1]) && extension_loaded("pdo_mysql") ? 0 : 1);' "$1" >/dev/null 2>&1; }
loads Illuminate/Database/autoload.php && loads Illuminate/Filesystem/autoload.php ||
  packages+=(php-cli php-mysql php-illuminate-database php-illuminate-filesystem)
loads Doctrine/ORM/autoload.php || packages+=(php-cli php-mysql php-doctrine-orm)
[ ${#packages[@]} -gt 0 ] || exit 0
if ! command -v apt-get >/dev/null; then
  echo "there is no apt-get; install for Ruby and PHP what Debian has in: ${packages[*]}" >&2
  exit 1
fi
as=()
if [ "$(id -u)" != 0 ]; then
  sudo -n true 2>/dev/null || { echo "packages are missing; run as root: apt-get install --no-install-recommends ${packages[*]}" >&2; exit 1; }
  as=(sudo -n)
fi
apt=("${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600)
run apt "${apt[@]}" update
run apt "${apt[@]}" install --no-install-recommends "${packages[@]}"
echo "installed: ${packages[*]}"
