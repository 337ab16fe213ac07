//go:build unix && !linux

package mysqltest

// memoryDir is "": there is no file system in memory that every system has.
func memoryDir() string { return "" }
