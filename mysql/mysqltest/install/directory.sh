# Sourced by the scripts beside it with a server's name: $root is where it is unpacked, in mysqltest.ServersDir. Root's is
# not below its home, which the user that servers run as may not enter. Ends the script when the server is there.
if [ -n "${KS_SERVERS:-}" ]; then
  dir=$KS_SERVERS
elif [ "$(id -u)" = 0 ]; then
  dir=/var/tmp/kingshard-servers-0
else
  dir=${XDG_CACHE_HOME:-$HOME/.cache}/kingshard-servers
fi
root=$dir/$1
[ ! -e "$root/done" ] || exit 0
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
if [ ! -O "$dir" ] || [ -L "$dir" ]; then
  echo "$dir belongs to somebody else: set KS_SERVERS to a directory of yours" >&2
  exit 1
fi
chmod 755 "$dir"
root=$dir/$1
# One script at a time; the others find the work done.
exec 9>"$dir/install.lock"
flock 9
[ ! -e "$root/done" ] || exit 0
