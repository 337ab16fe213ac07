// Package procstat reads what the kernel knows of processes and of the machine: CPU time, memory, system calls, and how
// much else went on. It is Linux's /proc; elsewhere every function fails.
package procstat
