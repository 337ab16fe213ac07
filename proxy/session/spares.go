package session

import (
	"kingshard/mysql"
	"kingshard/mysql/sqltext"
)

// spares are what a loop keeps for the statements of its sessions, in place of the pools that are for all cores.
type spares struct {
	buffers   mysql.Buffers
	templates sqltext.Templates
	tasks     []*task
	least     int // the fewest tasks there were since trim
}

// tasksMax is how many tasks a loop keeps, of 2 KB and what their statements needed.
const tasksMax = 64

// take gives a task.
func (sp *spares) take() *task {
	n := len(sp.tasks) - 1
	if n < 0 {
		return taskPool.Get().(*task)
	}
	t := sp.tasks[n]
	sp.tasks[n], sp.tasks = nil, sp.tasks[:n]
	sp.least = min(sp.least, n)
	return t
}

// put takes a task back.
func (sp *spares) put(t *task) {
	if len(sp.tasks) == tasksMax {
		taskPool.Put(t)
		return
	}
	sp.tasks = append(sp.tasks, t)
}

// trim gives to the pools what has not been used since the last call, and tells whether something is left.
func (sp *spares) trim() (left bool) {
	left = sp.buffers.Trim()
	for range sp.least {
		n := len(sp.tasks) - 1
		taskPool.Put(sp.tasks[n])
		sp.tasks[n], sp.tasks = nil, sp.tasks[:n]
	}
	sp.least = len(sp.tasks)
	return left || len(sp.tasks) > 0
}
