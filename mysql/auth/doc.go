// Package auth has MySQL's and MariaDB's authentication plugins for both sides of a login, as step functions: bytes
// in, bytes out, no I/O, no clock, no goroutine.
//
// A server makes a [Credentials] per account when it loads its configuration ([FromPassword] or [FromVerifiers]), and
// for each login a [Server]: [NewServer], then [Server.Step] with each packet of the client until the verdict is not
// [Continue]. Users that do not exist get the Credentials of [Unknown], so that they cannot be told from others.
//
// A client makes a [Client] per connection, calls [Client.Start] for the greeting and for each AuthSwitchRequest, and
// [Client.Next] for each AuthMoreData.
//
// MySQL manual: "Client/Server Protocol", "Authentication Method"; MariaDB knowledge base: "Connecting" and
// "Authentication Plugin - ed25519".
package auth
