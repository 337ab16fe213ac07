// Package rest reads and writes what the calls of REST have in common: bodies in JSON.
package rest

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"kingshard/proxy/kserror"
)

// Decode reads a request's body, a JSON object; with optional, none is an empty one.
func Decode(h *http.Request, into any, optional bool) error {
	if h.ContentLength == 0 && optional {
		return nil
	}
	if kind, _, err := mime.ParseMediaType(h.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return kserror.New(kserror.AdminSyntax, "the body must be JSON, with Content-Type: application/json")
	}
	d := json.NewDecoder(h.Body)
	err := d.Decode(into)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = errors.New("more than one value")
		}
	}
	if err != nil && !(optional && err == io.EOF) {
		return kserror.New(kserror.AdminSyntax, "the body is no JSON object of this call: "+err.Error())
	}
	return nil
}

// Write answers in JSON.
func Write(w http.ResponseWriter, status int, answer any) {
	data, err := json.Marshal(answer)
	if err != nil { // nothing that is answered has a form that JSON lacks
		status, data = http.StatusInternalServerError, []byte(`{"message":"the answer has no form in JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n'))
}
