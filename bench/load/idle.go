package load

import (
	"context"
	"fmt"
)

// Idle are clients that logged in, ran one statement each and then say nothing.
type Idle struct {
	Login   Login
	Clients int
	Text    string
}

// portsPerIP is fewer than the ports from which one address may dial.
const portsPerIP = 20_000

// Hold logs the clients in; release closes them. Clients come from several addresses of loopback where one has not
// enough ports.
func (i Idle) Hold(ctx context.Context) (release func(), err error) {
	clients, err := dialAll(ctx, i.Clients, i.dial)
	return func() { closeAll(clients) }, err
}

func (i Idle) dial(n int) (*Client, error) {
	login := i.Login
	if i.Clients > portsPerIP {
		login.LocalIP = fmt.Sprintf("127.0.0.%d", 2+n/portsPerIP)
	}
	client, err := Dial(login)
	if err != nil {
		return nil, err
	}
	if _, err := client.Query(i.Text); err != nil {
		client.Close()
		return nil, err
	}
	return client, nil
}
