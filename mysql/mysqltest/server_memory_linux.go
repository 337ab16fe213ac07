package mysqltest

import (
	"os"
	"syscall"
)

// memoryMin is how much must be free in memoryDir, in bytes: all servers that tests of several packages have at once need less.
const memoryMin = 4 << 30

// memoryDir is a file system in memory with room for servers' data, "" if there is none. A CREATE TABLE of MariaDB, which syncs several
// files, takes a tenth of the time there.
func memoryDir() string {
	const dir = "/dev/shm"
	var fs syscall.Statfs_t
	if info, err := os.Stat(dir); err != nil || info.Mode()&os.ModeSticky == 0 {
		return "" // not everybody's
	}
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < memoryMin {
		return ""
	}
	return dir
}
