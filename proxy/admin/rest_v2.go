package admin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"kingshard/mysql"
	"kingshard/mysql/sqltext"
	"kingshard/proxy/account"
	"kingshard/proxy/admin/change"
	"kingshard/proxy/admin/rest"
	"kingshard/proxy/admin/statement"
	"kingshard/proxy/kserror"
	"kingshard/proxy/txn/driver"
)

// v2 is the root of our calls.
const v2 = "/api/v2"

// v2Routes are our calls: one for each table, and one for each thing that can be done.
func v2Routes() []route {
	routes := []route{{
		method: "GET", path: v2 + "/openapi.json", about: "This description", rights: account.Read, answer: "an OpenAPI document",
		handle: func(*request) (any, error) { return openAPI(), nil },
	}}
	for _, t := range tables {
		routes = append(routes, route{
			method: "GET", path: v2 + "/" + t.name, about: t.about, rights: account.Read, columns: t.columns,
			handle: func(c *request) (any, error) { return c.show(t) },
		})
	}
	return append(routes,
		route{
			method: "POST", path: v2 + "/explain", about: "How a statement of a user would run", rights: account.Read, columns: explainColumns,
			body:   []field{{"user", "string", "whose schema"}, {"sql", "string", "the statement"}, {"db", "string", "the current database; may be left out"}},
			handle: v2Explain,
		},
		route{
			method: "POST", path: v2 + "/reload", about: "Reads the configuration's file and brings it into force, or none of it; needs the rights operate unless it only checks",
			rights: account.Read, columns: reloadColumns, handle: v2Reload,
			body: []field{{"check", "boolean", "only show what would change"}, {"force", "string", "why what places rows elsewhere, or a server that is not fit, is to be taken"}},
		},
		route{
			method: "POST", path: v2 + "/check/tables", about: "Compares the sub-tables of a table, or of all: what is missing or differs", rights: account.Operate,
			columns: checkTableColumns, body: []field{{"table", "string", "table or db.table; all when left out"}}, handle: v2Check((*Admin).checkTables),
		},
		route{
			method: "POST", path: v2 + "/check/placement", about: "Reads all keys of a table and finds rows that lie where the rule does not look for them", rights: account.Operate,
			columns: checkPlacementColumns, body: []field{{"table", "string", "table or db.table"}}, handle: v2Check((*Admin).checkPlacement),
		},
		route{
			method: "POST", path: v2 + "/keys/rows", about: "The keys of a table with the most rows in each sub-table, which reads the whole index of the key", rights: account.Operate,
			columns: keysTable.columns, body: []field{{"table", "string", "table or db.table"}}, handle: v2Check((*Admin).largestKeys),
		},
		route{
			method: "POST", path: v2 + "/keys/reset", about: "Forgets by which keys statements were routed", rights: account.Operate,
			answer: "an empty object", handle: func(c *request) (any, error) { return struct{}{}, c.a.resetKeys(c.who) },
		},
		route{
			method: "POST", path: v2 + "/check/reference", about: "Compares the copies of a reference table; with repair_from, for which it takes the rights admin, makes them as that on a node is",
			rights: account.Operate, columns: checkReferenceColumns, body: []field{{"table", "string", "table or db.table"}, {"repair_from", "string", "the node"}}, handle: v2CheckReference,
		},
		route{
			method: "POST", path: v2 + "/indexes/build", about: "Gives the rows that are there their entries in what keeps a table's keys over shards, or the one, while clients write", rights: account.Operate,
			columns: indexColumns, body: []field{{"table", "string", "table or db.table"}, {"name", "string", "the key; all of the table's when left out"}, {"rate", "integer", "how many rows a second at most; half of the time when left out"}},
			handle: v2Index("build"),
		},
		route{
			method: "POST", path: v2 + "/indexes/verify", about: "Compares the rows of a table and the entries of its keys over shards, or of the one, and with repair writes and deletes entries", rights: account.Operate,
			columns: indexColumns, body: []field{{"table", "string", "table or db.table"}, {"name", "string", "the key; all of the table's when left out"}, {"repair", "boolean", "mend what is found"}},
			handle: v2Index("verify"),
		},
		route{
			method: "POST", path: v2 + "/indexes/drop", about: "Has nobody use a key over shards, and drops what keeps it", rights: account.Operate,
			columns: dropColumns, body: []field{{"table", "string", "table or db.table"}, {"name", "string", "the key"}}, handle: v2Index("drop"),
		},
		route{
			method: "POST", path: v2 + "/sessions/{id}/kill", about: "Ends a client's session, or only its statement", rights: account.Operate,
			body: []field{{"query", "boolean", "only its statement"}}, answer: "an empty object", handle: v2Kill,
		},
		route{
			method: "POST", path: v2 + "/half_done/{id}/forget", about: "Drops the record of a change of several nodes that somebody has mended; all of them with all in place of the id",
			rights: account.Operate, answer: "an empty object", handle: v2Forget((*Admin).forgetHalfDone),
		},
		route{
			method: "POST", path: v2 + "/incidents/{id}/forget", about: "Closes an incident that somebody has mended; all of them with all in place of the id",
			rights: account.Operate, answer: "an empty object", handle: v2Forget((*Admin).forgetIncident),
		},
		route{
			method: "POST", path: v2 + "/transactions/{gtrid}/resolve", about: "Ends the prepared branches of a transaction whose decision cannot be learned", rights: account.Operate,
			columns: resolveColumns, handle: v2Resolve,
			body: []field{{"as", "string", "commit or rollback"}, {"force", "boolean", "also against what the node says that decides it"}},
		},
		route{
			method: "POST", path: v2 + "/sequences/set", about: "Has the ids that are drawn for a table begin at a number", rights: account.Operate, answer: "an empty object",
			body: []field{{"table", "string", "table or db.table"}, {"next", "integer", "the next id"}, {"force", "boolean", "also if the ids stand higher"}}, handle: v2SetSequence,
		},
		route{
			method: "POST", path: v2 + "/config/set", about: "Gives a setting another value until the next reload or start", rights: account.Admin, columns: changeColumns,
			body: []field{{"name", "string", "the key of the setting"}, {"value", "string", "as in the configuration's file"}}, handle: v2Set,
		},
		route{
			method: "POST", path: v2 + "/config/save", about: "Writes what was set into the configuration's file, which keeps its comments and order", rights: account.Admin,
			columns: changeColumns, body: []field{{"force", "boolean", "also if somebody changed the file since it was read"}}, handle: v2Save,
		},
		route{
			method: "POST", path: v2 + "/pause", about: "New statements wait until they may go on again; those under way and transactions go on", rights: account.Operate,
			columns: pauseColumns, body: []field{{"seconds", "integer", "how long each statement waits at most, 1 to 3600; 30 when left out"}}, handle: v2Pause,
		},
		route{
			method: "POST", path: v2 + "/resume", about: "Ends that", rights: account.Operate, columns: pauseColumns,
			handle: func(c *request) (any, error) { return c.a.resume(c.who) },
		},
		route{
			method: "POST", path: v2 + "/upgrade", about: "Starts the binary's file, which may be a new one, and hands listeners and sessions over to its process", rights: account.Operate,
			answer: "successor: the process that serves from now on", handle: v2Upgrade,
		},
		route{
			method: "POST", path: v2 + "/digests/reset", about: "Forgets the statistics of statements", rights: account.Operate,
			answer: "an empty object", handle: func(c *request) (any, error) { return struct{}{}, c.a.resetDigests(c.who) },
		},
		route{
			method: "POST", path: v2 + "/profile", about: "A CPU profile of the proxy, taken now or, with last, of what went by as far as continuous_profile keeps it", rights: account.Admin,
			body:   []field{{"seconds", "integer", "how long, 1 to 60, with last 1 to 600; 10 when left out"}, {"last", "boolean", "of the last seconds, not the next"}, {"by_statement", "boolean", "the first level are users with their statements, then plans"}},
			answer: "seconds, and root: a tree of functions with name, value (nanoseconds with what it called) and children", handle: v2Profile,
		},
		route{
			method: "POST", path: v2 + "/nodes/{node}/down", about: "Takes the instances of a node out of use, or one", rights: account.Operate, columns: nodesTable.columns,
			body: []field{{"instance", "string", "the address of the one; all when left out"}}, handle: v2Hold(true),
		},
		route{
			method: "POST", path: v2 + "/nodes/{node}/up", about: "Ends that", rights: account.Operate, columns: nodesTable.columns,
			body: []field{{"instance", "string", "the address of the one; all when left out"}}, handle: v2Hold(false),
		},
		route{
			method: "POST", path: v2 + "/nodes/{node}/replicas/add", about: "Adds a replica until the next reload or start", rights: account.Admin, columns: nodesTable.columns,
			body: []field{{"instance", "string", "its address"}, {"weight", "integer", "its share of reads, 1 to 1000; 1 when left out"}, {"force", "string", "why it is to be taken though it is another node's server"}}, handle: v2AddReplica,
		},
		route{
			method: "POST", path: v2 + "/nodes/{node}/replicas/remove", about: "Takes a replica away until the next reload or start", rights: account.Admin, columns: nodesTable.columns,
			body: []field{{"instance", "string", "its address"}}, handle: v2RemoveReplica,
		},
		route{
			method: "POST", path: v2 + "/nodes/{node}/primary", about: "Makes another instance, which must take writes and be no server of another node, the primary until the next reload or start", rights: account.Admin, columns: nodesTable.columns,
			body: []field{{"instance", "string", "its address; it must answer"}, {"force", "string", "why it is to be taken though it answers with an error, takes no writes or is another node's"}}, handle: v2SetPrimary,
		},
		route{
			method: "POST", path: v2 + "/nodes/{node}/switchover", about: "Moves the role of the primary to a replica while statements wait", rights: account.Admin, columns: switchoverColumns,
			body:   []field{{"instance", "string", "the address of the replica"}, {"seconds", "integer", "how long transactions may take to end, 1 to 600; 5 when left out"}, {"force", "string", "why connections in use are to be ended then"}},
			handle: v2Switchover,
		},
		route{
			method: "POST", path: v2 + "/nodes/{node}/pause", about: "New statements for a node wait, and its servers come to rest", rights: account.Operate, columns: nodePauseColumns,
			body:   []field{{"seconds", "integer", "how long transactions may take to end, 1 to 600; 5 when left out"}, {"force", "string", "why connections in use are to be ended then"}},
			handle: v2PauseNode,
		},
		route{
			method: "POST", path: v2 + "/nodes/{node}/resume", about: "Ends that", rights: account.Operate, columns: nodePauseColumns,
			handle: func(c *request) (any, error) { return c.a.resumeNode(c.who, c.http.PathValue("node")) },
		},
	)
}

// writeV2Error says why, with the code of docs/errors.md; 0 where there is none.
func writeV2Error(w http.ResponseWriter, status int, err error) {
	var code uint16
	if e, ok := errors.AsType[*mysql.SQLError](err); ok {
		code = e.Code
	}
	rest.Write(w, status, map[string]any{"error": map[string]any{"code": code, "reason": change.Message(err)}})
}

// MarshalJSON gives {"rows":[...]}: an object for each row, its keys in the order of the columns.
func (r *answer) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`{"rows":[`)
	for k, row := range r.rows {
		if k > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('{')
		for n, cell := range row {
			if n > 0 {
				b.WriteByte(',')
			}
			name, err := json.Marshal(r.columns[n].name)
			if err != nil {
				return nil, err
			}
			value, err := json.Marshal(cell)
			if err != nil {
				return nil, err
			}
			b.Write(name)
			b.WriteByte(':')
			b.Write(value)
		}
		b.WriteByte('}')
	}
	b.WriteString("]}")
	return b.Bytes(), nil
}

// show answers with a table. Parameters: a column's name for rows with that value, like, order (columns with - for
// descending, joined by commas), limit and offset.
func (c *request) show(t *table) (any, error) {
	f := filter{limit: -1}
	for name, values := range c.http.URL.Query() {
		value := values[len(values)-1]
		var err error
		switch k := t.column(name); {
		case k >= 0:
			cond := condition{k, "=", value}
			if _, bad := strconv.ParseFloat(value, 64); t.columns[k].numeric && bad != nil {
				err = errors.New("a number is needed")
			}
			f.conditions = append(f.conditions, cond)
		case name == "like":
			f.conditions = append(f.conditions, condition{t.column(t.like), "like", value})
		case name == "limit":
			f.limit, err = whole(value)
		case name == "offset":
			f.offset, err = whole(value)
		case name == "order":
			f.order, err = ordered(t, value)
		default:
			err = errors.New("it is none of like, order, limit, offset and the columns " + t.columnNames())
		}
		if err != nil {
			return nil, kserror.New(kserror.AdminSyntax, "parameter "+name+": "+err.Error())
		}
	}
	return &answer{t.columns, f.apply(t, t.rows(c.a.view(c.who)))}, nil
}

func whole(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, errors.New("a whole number is needed")
	}
	return int(n), nil
}

func ordered(t *table, list string) (order []ordering, err error) {
	for name := range strings.SplitSeq(list, ",") {
		name, descending := strings.CutPrefix(name, "-")
		k := t.column(name)
		if k < 0 {
			return nil, errors.New(name + " is none of the columns " + t.columnNames())
		}
		order = append(order, ordering{k, descending})
	}
	return order, nil
}

func v2Explain(c *request) (any, error) {
	var body struct {
		User string `json:"user"`
		SQL  string `json:"sql"`
		DB   string `json:"db"`
	}
	if err := rest.Decode(c.http, &body, false); err != nil {
		return nil, err
	}
	plans, node, err := c.a.schemaOf(body.User)
	if err != nil {
		return nil, err
	}
	if r := statement.New(body.SQL, sqltext.Mode{}); r.Ended() {
		return nil, r.Expected("a statement in sql")
	}
	return explain(plans, node, body.SQL, cmp.Or(body.DB, plans.OnlyDB()), sqltext.Mode{})
}

func v2Reload(c *request) (any, error) {
	var body struct {
		Check bool   `json:"check"`
		Force string `json:"force"`
	}
	if err := rest.Decode(c.http, &body, true); err != nil {
		return nil, err
	}
	return c.a.reload(c.who, change.Reloading{Check: body.Check, Force: body.Force})
}

func v2Kill(c *request) (any, error) {
	var body struct {
		Query bool `json:"query"`
	}
	if err := rest.Decode(c.http, &body, true); err != nil {
		return nil, err
	}
	id, err := strconv.ParseUint(c.http.PathValue("id"), 10, 32)
	if err != nil {
		return nil, kserror.New(kserror.AdminSyntax, "the id of a session is a number")
	}
	return struct{}{}, c.a.kill(c.who, id, body.Query)
}

func v2Forget(forget func(*Admin, change.Who, uint64, bool) error) func(*request) (any, error) {
	return func(c *request) (any, error) {
		text := c.http.PathValue("id")
		id, err := strconv.ParseUint(text, 10, 64)
		if err != nil && text != "all" {
			return nil, kserror.New(kserror.AdminSyntax, "the id of a record is a number, or all")
		}
		return struct{}{}, forget(c.a, c.who, id, text == "all")
	}
}

func v2Resolve(c *request) (any, error) {
	var body struct {
		As    string `json:"as"`
		Force bool   `json:"force"`
	}
	if err := rest.Decode(c.http, &body, false); err != nil {
		return nil, err
	}
	if body.As != "commit" && body.As != "rollback" {
		return nil, kserror.New(kserror.AdminSyntax, "as is commit or rollback")
	}
	return c.a.resolve(c.who, driver.Resolve{GTRID: c.http.PathValue("gtrid"), Commit: body.As == "commit", Force: body.Force})
}

func v2SetSequence(c *request) (any, error) {
	var body struct {
		Table string `json:"table"`
		Next  uint64 `json:"next"`
		Force bool   `json:"force"`
	}
	if err := rest.Decode(c.http, &body, false); err != nil {
		return nil, err
	}
	return struct{}{}, c.a.setSequence(c.who, body.Table, body.Next, body.Force)
}

func v2Set(c *request) (any, error) {
	var body struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	if err := rest.Decode(c.http, &body, false); err != nil {
		return nil, err
	}
	return changesOf(c.a.set(c.who, body.Name, body.Value))
}

func v2Save(c *request) (any, error) {
	var body struct {
		Force bool `json:"force"`
	}
	if err := rest.Decode(c.http, &body, true); err != nil {
		return nil, err
	}
	return changesOf(c.a.Configuration.Save(c.who, body.Force))
}

func v2Pause(c *request) (any, error) {
	body := struct {
		Seconds uint64 `json:"seconds"`
	}{pauseSeconds}
	if err := rest.Decode(c.http, &body, true); err != nil {
		return nil, err
	}
	return c.a.pause(c.who, body.Seconds)
}

func v2Upgrade(c *request) (any, error) {
	successor, err := c.a.upgrade(c.who)
	return map[string]string{"successor": successor}, err
}

func v2Profile(c *request) (any, error) {
	body := struct {
		Seconds     int  `json:"seconds"`
		Last        bool `json:"last"`
		ByStatement bool `json:"by_statement"`
	}{Seconds: 10}
	if err := rest.Decode(c.http, &body, true); err != nil {
		return nil, err
	}
	if body.Last {
		return c.a.lastProfile(c.who, body.Seconds, body.ByStatement)
	}
	return c.a.cpuProfile(c.http.Context(), c.who, body.Seconds, body.ByStatement)
}

func v2Hold(down bool) func(c *request) (any, error) {
	return func(c *request) (any, error) {
		var body struct {
			Instance string `json:"instance"`
		}
		if err := rest.Decode(c.http, &body, true); err != nil {
			return nil, err
		}
		return c.a.hold(c.who, c.http.PathValue("node"), body.Instance, down)
	}
}

func v2AddReplica(c *request) (any, error) {
	body := struct {
		Instance string `json:"instance"`
		Weight   uint64 `json:"weight"`
		Force    string `json:"force"`
	}{Weight: 1}
	if err := rest.Decode(c.http, &body, false); err != nil {
		return nil, err
	}
	node := c.http.PathValue("node")
	return c.a.changed(node, c.a.Configuration.AddReplica(c.who, node, body.Instance, body.Weight, body.Force))
}

func v2SetPrimary(c *request) (any, error) {
	var body struct {
		Instance string `json:"instance"`
		Force    string `json:"force"`
	}
	if err := rest.Decode(c.http, &body, false); err != nil {
		return nil, err
	}
	node := c.http.PathValue("node")
	return c.a.changed(node, c.a.Configuration.SetPrimary(c.who, node, body.Instance, body.Force))
}

func v2Switchover(c *request) (any, error) {
	body := struct {
		Instance string `json:"instance"`
		Seconds  uint64 `json:"seconds"`
		Force    string `json:"force"`
	}{Seconds: drainSeconds}
	if err := rest.Decode(c.http, &body, false); err != nil {
		return nil, err
	}
	patience, err := v2Patience(body.Seconds)
	if err != nil {
		return nil, err
	}
	return c.a.switchover(c.who, c.http.PathValue("node"), body.Instance, patience, body.Force)
}

func v2PauseNode(c *request) (any, error) {
	body := struct {
		Seconds uint64 `json:"seconds"`
		Force   string `json:"force"`
	}{Seconds: drainSeconds}
	if err := rest.Decode(c.http, &body, true); err != nil {
		return nil, err
	}
	patience, err := v2Patience(body.Seconds)
	if err != nil {
		return nil, err
	}
	return c.a.pauseNode(c.who, c.http.PathValue("node"), patience, body.Force)
}

// v2Patience returns how long transactions may take to end.
func v2Patience(seconds uint64) (time.Duration, error) {
	if seconds < 1 || seconds > drainSecondsMax {
		return 0, change.Failed("seconds must be 1 to %d", drainSecondsMax)
	}
	return time.Duration(seconds) * time.Second, nil
}

func v2RemoveReplica(c *request) (any, error) {
	var body struct {
		Instance string `json:"instance"`
	}
	if err := rest.Decode(c.http, &body, false); err != nil {
		return nil, err
	}
	node := c.http.PathValue("node")
	return c.a.changed(node, c.a.Configuration.RemoveReplica(c.who, node, body.Instance))
}

// v2Check makes the handler of a check of a table, which runs until it ends or its client goes away.
func v2Check(check func(a *Admin, ctx context.Context, w change.Who, name string) (*answer, error)) func(c *request) (any, error) {
	return func(c *request) (any, error) {
		var body struct {
			Table string `json:"table"`
		}
		if err := rest.Decode(c.http, &body, true); err != nil {
			return nil, err
		}
		return check(c.a, c.http.Context(), c.who, body.Table)
	}
}

func v2CheckReference(c *request) (any, error) {
	var body struct {
		Table      string `json:"table"`
		RepairFrom string `json:"repair_from"`
	}
	if err := rest.Decode(c.http, &body, true); err != nil {
		return nil, err
	}
	return c.a.checkReference(c.http.Context(), c.who, body.Table, body.RepairFrom)
}

// v2Index makes the handler of what is done with indexes, which runs until it ends or its client goes away.
func v2Index(action string) func(c *request) (any, error) {
	return func(c *request) (any, error) {
		var body struct {
			Table  string `json:"table"`
			Name   string `json:"name"`
			Rate   *int   `json:"rate"`
			Repair bool   `json:"repair"`
		}
		if err := rest.Decode(c.http, &body, false); err != nil {
			return nil, err
		}
		w := indexWork{action: action, table: body.Table, name: body.Name, repair: body.Repair}
		switch {
		case body.Table == "":
			return nil, kserror.New(kserror.AdminSyntax, "the name of a table is missing")
		case body.Rate != nil && (action != "build" || !isRate(*body.Rate)):
			return nil, kserror.New(kserror.AdminSyntax, "rate is how many rows a second are built, from 1")
		case body.Repair && action != "verify":
			return nil, kserror.New(kserror.AdminSyntax, "repair is of a verification")
		case body.Rate != nil:
			w.rate = *body.Rate
		}
		return c.a.indexes(c.http.Context(), c.who, w)
	}
}
