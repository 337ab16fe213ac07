package config

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// fileSizeMax bounds files of keys, certificates and passwords, in bytes.
const fileSizeMax = 1 << 20

// readFiles takes passwords from their files and tries all other files, so that a mistake shows now and not at the first
// login.
func (c *Config) readFiles(r *report) {
	for k := range c.UserList {
		u := &c.UserList[k]
		readPassword(r, fmt.Sprintf("user_list[%d]", k), u.PasswordFile, &u.Password)
	}
	for k := range c.Nodes {
		n, path := &c.Nodes[k], fmt.Sprintf("nodes[%d]", k)
		readPassword(r, path, n.PasswordFile, &n.Password)
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

func readPassword(r *report, path, file string, password *Secret) {
	if file == "" {
		return
	}
	path += ".password_file"
	if *password != "" {
		r.fault(path, "stands instead of password: remove one of them")
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
		r.fault(path, "%s must hold a password, without NUL", file)
		return
	}
	*password = Secret(data)
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o004 != 0 {
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
