// Package halfdone keeps the record of changes of several nodes that some nodes have and others have not, or may not have. [Book.Add] takes
// such a change; [Book.Begin] and [Book.End] enclose one while it may become such, should the process be killed. [Book.List] shows those that
// nobody has mended yet, [Book.Forget] drops one. After [Book.Open] they are in a file, too, and outlive the process; several processes, as
// during an upgrade, may have one file open.
package halfdone
