package session

import (
	"errors"
	"slices"

	"kingshard/backend"
	"kingshard/mysql"
)

// rewritten reports whether a server gets another text than the client's.
func (q *query) rewritten() bool { return q.source != "" && q.source != q.text }

// The errors of a server that are held: of a text that is not the client's, and of ids that were drawn; each alone, and with those of a server that takes no
// writes.
var (
	syntaxError       = []uint16{mysql.ERParse}
	ofDrawn           = []uint16{mysql.ERParse, mysql.ERDupEntry}
	syntaxOrReadOnly  = slices.Concat(readOnlyErrors, syntaxError)
	ofDrawnOrReadOnly = slices.Concat(readOnlyErrors, ofDrawn)
)

// held are the errors of a statement that the client does not hear as they come; awaits says that those of a server that takes no writes are among them.
func (q *query) held(awaits bool) []uint16 {
	switch {
	case q.ids.drawn() && awaits:
		return ofDrawnOrReadOnly
	case q.ids.drawn():
		return ofDrawn
	case q.rewritten() && awaits:
		return syntaxOrReadOnly
	case q.rewritten():
		return syntaxError
	case awaits:
		return readOnlyErrors
	}
	return nil
}

// tellHeld sends an error that was held: that of a server that cannot read the proxy's text, in its words for the client's.
func (c *client) tellHeld(p backend.Pooled, q *query, res *mysql.Response) (err error) {
	if res.Err.Code == mysql.ERParse {
		if res.Err, err = c.syntaxError(p, q, res.Err); err != nil {
			return err
		}
	}
	c.out().WriteError(res.Err)
	return c.out().Flush()
}

// syntaxError has the server whose answer was a syntax error prepare the client's own text: the error quotes what follows the place where
// the server stopped. Where the server can read that text, said stands.
func (c *client) syntaxError(p backend.Pooled, q *query, said *mysql.SQLError) (*mysql.SQLError, error) {
	_, err := p.Conn.Describe(q.source)
	var own *mysql.SQLError
	switch {
	case err == nil:
	case !errors.As(err, &own):
		return nil, err
	case own.Code == mysql.ERParse:
		return own, nil
	}
	return said, nil
}
