#!/bin/bash
# Runs the test suite in the source distribution of a driver and lists the outcome of each test: pass, fail or skip, and the test's name.
# The distributions and a Python environment for each are kept below DIR.
# usage: drivers.sh DIR SUITE HOST PORT USER PASSWORD CA      SUITE: PyMySQL, aiomysql, mysql-connector-python, Django
# environment: LABELS, the tests of Django to run; LIMIT, in seconds, of the whole suite
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
dir=$1 suite=$2 host=$3 port=$4 user=$5 password=$6 ca=$7
limit=${LIMIT:-3600}
line=$(grep "^$suite==" "$here/testdata/drivers/suites.txt")
source=${line%% |*} needs=${line#*| }
home=$dir/$suite
mkdir -p "$home"
exec 9>"$home/lock"
flock 9

if ! cmp -s <(echo "$line") "$home/done"; then
  rm -rf "$home/sdist" "$home/python" "$home/source"
  mkdir -p "$home/sdist" "$home/source"
  {
    python3 -m venv "$home/python"
    "$home/python/bin/pip" download --disable-pip-version-check -q --no-deps --no-binary :all: -d "$home/sdist" "$source"
    tar xzf "$home"/sdist/*.tar.gz -C "$home/source" --strip-components=1
    "$home/python/bin/pip" install --disable-pip-version-check -q $needs
  } >"$home/install.log" 2>&1 || { tail -20 "$home/install.log" >&2; exit 1; }
  echo "$line" >"$home/done"
fi
flock -u 9

py=$home/python/bin/python
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cp -r "$home/source" "$out/source"
cd "$out/source"
export PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8
status=0
case $suite in
PyMySQL)
  # The suite reads its databases from a file beside its tests.
  for d in $(dirname $(find . -name base.py -path '*tests*')); do
    cat >"$d/databases.json" <<JSON
[{"host": "$host", "port": $port, "user": "$user", "passwd": "$password", "db": "test1", "use_unicode": true, "local_infile": true},
 {"host": "$host", "port": $port, "user": "$user", "passwd": "$password", "db": "test2"}]
JSON
  done
  timeout "$limit" "$py" -m pytest -q -p no:cacheprovider --junitxml="$out/junit.xml" $(dirname $(find . -name base.py -path '*tests*')) >"$out/log" 2>&1 || status=$?
  ;;
aiomysql)
  cp "$ca" tests/ssl_resources/ssl/ca.pem
  MYSQL_ROOT_PASSWORD=$password timeout "$limit" "$py" -m pytest -q -p no:cacheprovider --junitxml="$out/junit.xml" --mysql-address "tls=$host:$port" tests >"$out/log" 2>&1 || status=$?
  ;;
mysql-connector-python)
  timeout "$limit" "$py" unittests.py --use-external-server --host "$host" --port "$port" --user "$user" --password "$password" --skip-install --verbosity 2 >"$out/log" 2>&1 || status=$?
  ;;
Django)
  cat >tests/kingshard_settings.py <<PY
import pymysql
pymysql.install_as_MySQLdb()
def database(name):
    return {"ENGINE": "django.db.backends.mysql", "NAME": name, "HOST": "$host", "PORT": "$port", "USER": "$user", "PASSWORD": "$password",
            "OPTIONS": {"ssl": {"ca": "$ca"}}, "TEST": {"CHARSET": "utf8mb4", "COLLATION": "utf8mb4_general_ci"}}
DATABASES = {"default": database("django"), "other": database("django_other")}
SECRET_KEY = "django_tests_secret_key"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
USE_TZ = False
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
PY
  cd tests
  PYTHONPATH=..:. timeout "$limit" "$py" runtests.py --settings=kingshard_settings --parallel=1 --noinput --verbosity=2 ${LABELS:-} >"$out/log" 2>&1 || status=$?
  ;;
esac
cp "$out/log" "$home/log-$port"
"$py" "$here/testdata/drivers/outcome.py" "$out" || { tail -30 "$out/log" >&2; exit 1; }
[ $status != 124 ] || { echo "the suite did not end within $limit seconds" >&2; exit 1; }
