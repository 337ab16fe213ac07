package session

import (
	"strconv"

	"kingshard/mysql"
	"kingshard/proxy/session/state"
	"kingshard/router/plan"
)

// final runs the client's statement on the scratch tables and forwards the result.
func (f *finishing) final() (res mysql.Response, err error) {
	if f.route != nil {
		query := f.route.Final(f.names)
		f.text, f.args = query.Text, query.Args
		f.rename = renames(f.plan, query.Shards)
		for ref, name := range f.names {
			one := mysql.TableName{
				FromSchema: ref.Table.DB, FromTable: name, Schema: ref.Table.DB, Table: ref.Table.Name, Flags: f.plan.KeyFlags(ref), Hidden: plan.IndexFlags,
				KeyFlags: ref.OtherKeys(), Columns: query.Columns,
			}
			f.rename = append(f.rename, one)
			for k := 1; k <= f.copied[ref]; k++ {
				one.FromTable = plan.CopyName(name, k)
				f.rename = append(f.rename, one)
			}
		}
	}
	if f.s.client.entry.IsCancelled() {
		return res, interrupted()
	}
	if err := f.limitJoin(); err != nil {
		return res, err
	}
	if err := f.s.shards.sendTo(f.last, f.text, f.args, f.ex); err != nil {
		return res, err
	}
	patch := f.s.client.patchFn
	if f.aside {
		patch = func(ok *mysql.OKPacket) {
			f.s.client.patchOK(ok)
			ok.Status |= f.s.client.status() & mysql.ServerStatusInTrans
		}
	}
	res, err = mysql.ForwardResult(f.s.client.out(), f.last.Conn.Conn, mysql.ForwardOptions{Status: f.s.client.status(), Patch: f.warning(patch), Rename: f.rename,
		Definitions: f.definitions, AsDefined: f.asDefined, Quota: f.s.client.quota(f.q), PatchError: f.s.client.patchExpired, Hold: syntaxError})
	if err == nil && res.Held {
		f.last.Ended(res.Err)
		return res, res.Err
	}
	if err == nil || f.last.Received() >= wrapsMin {
		f.s.client.task().repeatable = nil // the client has, or may have, a part of it
	}
	if err != nil {
		f.last.Ended(err)
		return res, err
	}
	if res.Kind == mysql.ResponseErr {
		f.last.Ended(res.Err)
	} else {
		f.last.Ended(nil)
	}
	if res.Cut {
		return res, f.s.client.cutOff(f.last.Pooled, f.q, &res)
	}
	f.s.exchanges.observe(f.last.Pooled, f.q, &res)
	f.s.client.state.Found.Told()
	if res.Kind != mysql.ResponseErr && f.s.client.state.Diagnostics.WarningCount > 0 {
		// What follows makes the server forget them.
		if err := f.s.client.fetchWarnings(f.last.Pooled, f.rename); err != nil {
			return res, err
		}
		if f.warned != nil {
			f.s.client.state.Diagnostics.Add([]state.Warning{*f.warned})
		}
	}
	if res.Kind == mysql.ResponseRows && f.plan != nil && f.plan.CalcFoundRows() {
		err = f.last.Conn.Rows("SELECT FOUND_ROWS() LIMIT 1", 1, func(row []string) {
			n, _ := strconv.ParseUint(row[0], 10, 64)
			f.s.client.state.Found = state.FoundRowsOf(n)
		})
	}
	return res, err
}
