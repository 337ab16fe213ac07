package backend

import (
	"strconv"

	"kingshard/mysql"
)

// insertID is what LAST_INSERT_ID() gives on a connection. A connection that is fresh, or was reset, gives 0.
type insertID struct {
	value   uint64
	unknown bool
	queued  bool // a SET of it is queued, or sent, and its answer not read
	// least and latest are those that answers have told of since it was known; 0: none.
	least, latest uint64
}

// InsertID is what LAST_INSERT_ID() gives on the connection; known is false where statements may have changed that unseen.
func (c *Conn) InsertID() (value uint64, known bool) { return c.insertID.value, !c.insertID.unknown }

// GivesInsertID tells whether LAST_INSERT_ID() gives value on the connection.
func (c *Conn) GivesInsertID(value uint64) bool {
	return c.insertID.value == value && !c.insertID.unknown
}

// NoteInsertID notes what LAST_INSERT_ID() gives on the connection from now on.
func (c *Conn) NoteInsertID(value uint64) { c.insertID = insertID{value: value} }

// DoubtInsertID notes that LAST_INSERT_ID() may give something else from now on.
func (c *Conn) DoubtInsertID() { c.insertID.unknown = true }

// told notes the id of an OK packet, which may be one that the statement has given.
func (i *insertID) told(id uint64) {
	if id == 0 {
		return
	}
	i.unknown, i.latest = true, id
	if i.least == 0 || id < i.least {
		i.least = id
	}
}

// ToldInsertIDs are the least and the latest of the ids that answers read by ReadChange have told of; told is false if there was none
// since it was known what LAST_INSERT_ID() gives.
func (c *Conn) ToldInsertIDs() (least, latest uint64, told bool) {
	return c.insertID.least, c.insertID.latest, c.insertID.least != 0
}

// QueueInsertID queues a command that makes LAST_INSERT_ID() give value, ahead of the next one. The answer is to be read by
// ReadAhead before that of the next command: the two are sent by one write.
func (c *Conn) QueueInsertID(value uint64) {
	c.Command(mysql.ComQuery, "SET last_insert_id="+strconv.FormatUint(value, 10))
	c.insertID = insertID{value: value, queued: true}
}

// ReadAhead reads the answer to what QueueInsertID has queued, if anything, once that is sent. Any error is of the connection:
// the answer to the next command is still to come.
func (c *Conn) ReadAhead() error {
	if !c.insertID.queued {
		return nil
	}
	c.insertID.queued = false
	c.ExpectResponse()
	p, err := c.ReadPacket()
	if err != nil {
		return err
	}
	if len(p) == 0 || p[0] != mysql.OKHeader {
		return &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: mysql.ErrMalformedPacket}
	}
	c.ExpectResponse()
	return nil
}

// ReadInsertID asks what LAST_INSERT_ID() gives on the connection.
func (c *Conn) ReadInsertID() (value uint64, err error) {
	var text string
	if err = c.Rows("SELECT LAST_INSERT_ID() LIMIT 1", 1, func(row []string) { text = row[0] }); err != nil {
		return 0, err
	}
	if value, err = strconv.ParseUint(text, 10, 64); err != nil {
		return 0, &mysql.ConnError{Side: mysql.BackendSide, Op: "read", Err: err}
	}
	c.NoteInsertID(value)
	return value, nil
}
