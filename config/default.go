package config

import "time"

// Names of the authentication plugins, as the MySQL and MariaDB manuals spell them.
const (
	nativePassword = "mysql_native_password"
	cachingSHA2    = "caching_sha2_password"
	ed25519        = "client_ed25519"
	sha256Password = "sha256_password"
	clearPassword  = "mysql_clear_password"
)

// maxConnsDefault is the predecessor's ceiling of connections to one instance.
const maxConnsDefault = 1024

// Default gives the configuration of an empty file. It is not valid: it has no address, node or user.
func Default() *Config {
	c := &Config{}
	c.setDefaults(nil)
	return c
}

// defaulter is a struct of the file that sets its defaults before it is decoded; get gives the text of a key of the
// same mapping, "" when it is absent.
type defaulter interface {
	setDefaults(get func(key string) string)
}

func (c *Config) setDefaults(func(string) string) {
	*c = Config{
		LogLevel:               "info",
		LogFormat:              "text",
		LogMaxSize:             1 << 30,
		LogKeep:                10,
		FastLane:               true,
		Digests:                1000,
		TransactionMode:        TransactionAuto,
		ReadConsistency:        ReadNode,
		ReplicaConsistency:     ReplicaSession,
		ClassicHistograms:      true,
		Tracing:                Tracing{SampleRatio: 0.01, MaxParents: 100},
		ProxyCharset:           "utf8mb4",
		AuthPlugin:             nativePassword,
		TLS:                    ServerTLS{MinVersion: "1.2"},
		Compression:            true,
		MaxClientConns:         10000,
		MaxAllowedPacket:       64 << 20,
		PacketMemory:           2 << 30,
		MaxPreparedStmts:       16382,
		BackendPreparedStmts:   256,
		HandshakeTimeout:       Duration(5 * time.Second),
		MaxLoginDelay:          Duration(3 * time.Second),
		ConnectTimeout:         Duration(5 * time.Second),
		PoolWaitTimeout:        Duration(10 * time.Second),
		PrimaryWaitTimeout:     Duration(10 * time.Second),
		PrimaryWaiters:         20_000,
		ClientWriteTimeout:     Duration(time.Minute),
		FinishTimeout:          Duration(10 * time.Minute),
		FinishMaxBytes:         256 << 20,
		FinishTotalBytes:       4 << 30,
		FinishMaxJoinSize:      2_000_000_000,
		IdleTimeout:            Duration(8 * time.Hour),
		IdleTransactionTimeout: Duration(time.Minute),
		DrainTimeout:           Duration(30 * time.Second),
		UpgradeTimeout:         Duration(10 * time.Minute),
		HealthInterval:         Duration(time.Second),
		HealthTimeout:          Duration(time.Second),
		ConnIdleTimeout:        Duration(10 * time.Minute),
		ConnMaxLifetime:        Duration(time.Hour),
	}
}

// The predecessor's users rely on hints, and only its root could look at other sessions and administer.
func (u *User) setDefaults(get func(key string) string) {
	*u = User{Hints: true, MultiStatements: true, Process: get("user") == "root", Rights: rightNone, CrossShard: CrossShardAllow}
	if u.Process {
		u.Rights = rightAdmin
	}
}

func (t *WebToken) setDefaults(func(string) string) { *t = WebToken{Rights: rightRead} }

func (n *Node) setDefaults(func(string) string) {
	*n = Node{MaxConnsLimit: maxConnsDefault, MaxReplicaLag: LagAuto}
}
