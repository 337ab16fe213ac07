package rawio

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// BatchMax is how many writes a Batch makes with one system call: 0.1 to 0.5 ms of work, which hold up collections of garbage.
const BatchMax = 32

// Of io_uring_setup(2) and io_uring_enter(2), which package unix does not have.
const (
	setupSubmitAll   = 1 << 7 // a write that fails does not keep those behind it
	setupCoopTaskrun = 1 << 8
	featSingleMmap   = 1 << 0
	offsetSQEs       = 0x10000000
	enterGetEvents   = 1 << 0
	opSend           = 26
)

// Batch is a list of writes to sockets, made by one system call: io_uring(7), used so that all is done when the call returns.
// That saves more than calls: those whom a write wakes up take the processor from the sender where it leaves the kernel, so that of many
// writes by a call each many are followed by a change of processes.
// One goroutine uses it at a time.
type Batch struct {
	fd             int
	rings, entries []byte // shared with the kernel
	sqes           []submission
	cqes           []completion
	sqHead, sqTail *uint32
	cqHead, cqTail *uint32
	sqMask, cqMask uint32
	writes         [BatchMax][]byte // kept until they are made
	results        [BatchMax]int32
	n              int
}

// submission is struct io_uring_sqe.
type submission struct {
	opcode, flags uint8
	ioprio        uint16
	fd            int32
	off, addr     uint64
	length        uint32
	msgFlags      uint32
	userData      uint64
	_             [3]uint64
}

// completion is struct io_uring_cqe.
type completion struct {
	userData uint64
	result   int32
	flags    uint32
}

// ringParams is struct io_uring_params.
type ringParams struct {
	sqEntries, cqEntries, flags, sqThreadCPU, sqThreadIdle, features, wqFD uint32
	_                                                                      [3]uint32
	sq                                                                     struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		_                                                   uint64
	}
	cq struct {
		head, tail, mask, entries, overflow, cqes, flags, _ uint32
		_                                                   uint64
	}
}

// OpenBatch makes a Batch, to be closed. The error is mostly that of io_uring_setup(2): EINVAL and ENOSYS of kernels before 5.19, EPERM or
// ENOSYS where the administrator or the container's runtime does not allow it.
func OpenBatch() (*Batch, error) {
	p := ringParams{flags: setupSubmitAll | setupCoopTaskrun}
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, BatchMax, uintptr(unsafe.Pointer(&p)), 0)
	if errno != 0 {
		return nil, errno
	}
	b := &Batch{fd: int(fd)}
	if p.features&featSingleMmap == 0 {
		b.Close()
		return nil, syscall.ENOSYS
	}
	var err error
	size := max(p.sq.array+4*p.sqEntries, p.cq.cqes+p.cqEntries*uint32(unsafe.Sizeof(completion{})))
	if b.rings, err = unix.Mmap(b.fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE); err == nil {
		b.entries, err = unix.Mmap(b.fd, offsetSQEs, int(p.sqEntries)*int(unsafe.Sizeof(submission{})), unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_SHARED|unix.MAP_POPULATE)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	word := func(offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&b.rings[offset])) }
	b.sqHead, b.sqTail, b.sqMask = word(p.sq.head), word(p.sq.tail), *word(p.sq.mask)
	b.cqHead, b.cqTail, b.cqMask = word(p.cq.head), word(p.cq.tail), *word(p.cq.mask)
	b.sqes = unsafe.Slice((*submission)(unsafe.Pointer(&b.entries[0])), p.sqEntries)
	b.cqes = unsafe.Slice((*completion)(unsafe.Pointer(&b.rings[p.cq.cqes])), p.cqEntries)
	for k := range p.sqEntries { // the kernel finds an entry by a list of places, which is always the same here
		*word(p.sq.array + 4*k) = k
	}
	return b, nil
}

// Close frees it.
func (b *Batch) Close() {
	if b.entries != nil {
		_ = unix.Munmap(b.entries)
	}
	if b.rings != nil {
		_ = unix.Munmap(b.rings)
	}
	_ = unix.Close(b.fd)
}

// Add has p, of 1 to Step bytes, which stays as it is until Reset, written to a socket. There may be BatchMax until Reset.
func (b *Batch) Add(fd uintptr, p []byte) {
	sending(p)
	tail := *b.sqTail // only this side writes it
	b.sqes[tail&b.sqMask] = submission{
		opcode: opSend, fd: int32(fd), addr: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p)))), length: uint32(len(p)),
		msgFlags: unix.MSG_NOSIGNAL | unix.MSG_DONTWAIT, userData: uint64(b.n),
	}
	atomic.StoreUint32(b.sqTail, tail+1)
	b.writes[b.n], b.results[b.n] = p, -int32(syscall.EAGAIN)
	b.n++
}

// Send makes the writes, in their order. Those that the kernel declined to look at, for want of memory say, are as if the socket took nothing.
func (b *Batch) Send() {
	taken := 0
	for taken < b.n {
		n, errno := b.enter(b.n-taken, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 || n == 0 {
			atomic.StoreUint32(b.sqTail, atomic.LoadUint32(b.sqHead))
			break
		}
		taken += n
	}
	for done := 0; done < taken; {
		head, tail := *b.cqHead, atomic.LoadUint32(b.cqTail)
		if head == tail {
			// The kernel makes writes that do not wait before it returns; if one day it does not, their memory must not be used anew before.
			if _, errno := b.enter(0, 1, enterGetEvents); errno != 0 && errno != syscall.EINTR && errno != syscall.EAGAIN && errno != syscall.EBUSY {
				panic("io_uring_enter: " + errno.Error())
			}
			continue
		}
		for ; head != tail; head++ {
			c := &b.cqes[head&b.cqMask]
			b.results[c.userData] = c.result
			done++
		}
		atomic.StoreUint32(b.cqHead, head)
	}
}

// enter is io_uring_enter(2).
func (b *Batch) enter(submit, complete, flags int) (int, syscall.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_IO_URING_ENTER, uintptr(b.fd), uintptr(submit), uintptr(complete), uintptr(flags), 0, 0)
	return int(n), errno
}

// Sent is how much of a write, counted from 0, its socket took; the errors are those of the function Send.
func (b *Batch) Sent(k int) (int, error) {
	if r := b.results[k]; r < 0 {
		return 0, syscall.Errno(-r)
	}
	return int(b.results[k]), nil
}

// Reset forgets all writes.
func (b *Batch) Reset() {
	clear(b.writes[:b.n])
	b.n = 0
}
