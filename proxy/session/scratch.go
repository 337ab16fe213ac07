package session

import (
	"kingshard/mysql"
	"kingshard/mysql/spare"
	"kingshard/mysql/sqltext"
)

// scratch is what a loop keeps for the statements of its sessions, in place of the pools that are for all cores.
type scratch struct {
	buffers   mysql.Buffers
	templates sqltext.Templates
	tasks     spare.Stack[task] // of 2 KB, and what their statements needed
}

// take gives a task.
func (sp *scratch) take() *task {
	if t := sp.tasks.Take(); t != nil {
		return t
	}
	return taskPool.Get().(*task)
}

// put takes a task back.
func (sp *scratch) put(t *task) {
	if !sp.tasks.Put(t) {
		taskPool.Put(t)
	}
}

// trim gives to the pools what has not been used since the last call, and tells whether something is left.
func (sp *scratch) trim() (left bool) {
	left = sp.buffers.Trim()
	return sp.tasks.Trim(func(t *task) { taskPool.Put(t) }) || left
}
