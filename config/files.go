package config

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// fileSizeMax bounds files of keys, certificates and passwords, in bytes.
const fileSizeMax = 1 << 20

// readFiles takes passwords from their files and tries all other files, so that a mistake shows now and not at the first
// login.
func (c *Config) readFiles(r *report) {
	for k := range c.UserList {
		u := &c.UserList[k]
		readSecret(r, fmt.Sprintf("user_list[%d].password_file", k), u.PasswordFile, &u.Password)
	}
	for k := range c.WebTokens {
		w := &c.WebTokens[k]
		readSecret(r, fmt.Sprintf("web_tokens[%d].token_file", k), w.TokenFile, &w.Token)
		if w.TokenFile != "" && w.Token != "" && len(w.Token) < tokenMin {
			r.fault(fmt.Sprintf("web_tokens[%d].token_file", k), "must hold %d characters or more", tokenMin)
		}
	}
	for k := range c.Nodes {
		n, path := &c.Nodes[k], fmt.Sprintf("nodes[%d]", k)
		readSecret(r, path+".password_file", n.PasswordFile, &n.Password)
		readSecret(r, path+".admin_password_file", n.AdminPasswordFile, &n.AdminPassword)
		readSecret(r, path+".replication_password_file", n.ReplicationPasswordFile, &n.ReplicationPassword)
		if (n.TLS.Cert == "") == (n.TLS.Key == "") {
			_, err := n.TLS.Client()
			r.check(path+".tls", err)
		}
		_, err := n.PublicKey()
		r.check(path+".server_public_key", err)
	}
	if c.BlacklistSQLFile != "" {
		f, err := openRegular(c.BlacklistSQLFile)
		if err == nil {
			f.Close()
		}
		r.check("blacklist_sql_file", err)
	}
	if c.WebTLSCert != "" && c.WebTLSKey != "" {
		_, err := c.WebTLS(nil)
		r.check("web_tls_cert", err)
	}
	if (c.TLS.Cert == "") == (c.TLS.Key == "") {
		_, err := c.TLS.Server()
		r.check("tls", err)
	}
	_, err := c.RSAKey()
	r.check("auth_rsa_key", err)
}

func (r *report) check(path string, err error) {
	if err != nil {
		r.fault(path, "%v", err)
	}
}

// readSecret takes a password or a token from its file.
func readSecret(r *report, path, file string, secret *Secret) {
	if file == "" {
		return
	}
	if *secret != "" {
		r.fault(path, "stands instead of %s: remove one of them", strings.TrimSuffix(path[strings.LastIndexByte(path, '.')+1:], "_file"))
		return
	}
	data, err := readFile(file)
	if err != nil {
		r.fault(path, "%v", err)
		return
	}
	data, newline := bytes.CutSuffix(data, []byte("\n"))
	if newline {
		data = bytes.TrimSuffix(data, []byte("\r"))
	}
	if len(data) == 0 || bytes.IndexByte(data, 0) >= 0 {
		r.fault(path, "%s must hold a %s, without NUL", file, strings.TrimSuffix(path[strings.LastIndexByte(path, '.')+1:], "_file"))
		return
	}
	*secret = Secret(data)
	if readableByAll(file) {
		r.warn(path, "every user of this host can read %s: take that right away (chmod o-r)", file)
	}
}

// openRegular opens a file that is not a pipe or device, whose reading might never end.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("not a regular file")}
	}
	return os.Open(path)
}

func readFile(path string) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, fileSizeMax+1))
	if err == nil && len(data) > fileSizeMax {
		err = fmt.Errorf("%s is larger than %d MiB", path, fileSizeMax>>20)
	}
	return data, err
}
