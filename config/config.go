package config

// Config is the whole file. It is not changed after Load; a reload makes another one. A field tagged reload:"no" cannot
// change while the proxy runs; one tagged reload:"set" can also be set by itself.
type Config struct {
	// TCP listen address of the MySQL port, host:port; an empty host is all interfaces. Required unless socket is set.
	Addr string `yaml:"addr" reload:"no"`
	// Absolute path of a unix socket to listen on, at most 107 bytes; empty: none.
	Socket string `yaml:"socket" reload:"no"`
	// Listen address host:port of an HTTP server for /metrics only; empty: none.
	PrometheusAddr string `yaml:"prometheus_addr" reload:"no"`
	// Listen address of the HTTP administration (console, REST, /metrics, /debug/pprof/); a port alone, or :port, means 127.0.0.1. Any
	// address but a loopback one needs web_user and web_password. Empty: none.
	WebAddr string `yaml:"web_addr" reload:"no"`
	// PEM file of the certificate of web_addr and its chain, read again when it changes; empty: web_addr speaks no TLS.
	WebTLSCert string `yaml:"web_tls_cert" reload:"no"`
	// PEM file of its private key; set both or neither.
	WebTLSKey string `yaml:"web_tls_key" reload:"no"`
	// User of the HTTP administration (Basic authentication), who may do everything; empty: no login, which only a loopback
	// web_addr allows, and REST answers to none but web_tokens.
	WebUser string `yaml:"web_user"`
	// Password of web_user; set both or neither.
	WebPassword Secret `yaml:"web_password"`
	// Bearer tokens of the HTTP administration.
	WebTokens []WebToken `yaml:"web_tokens"`
	// Listen address host:port of the admin SQL, for users with rights; a port alone, or :port, means 127.0.0.1. Empty: none;
	// those users have it on addr and socket too.
	AdminAddr string `yaml:"admin_addr" reload:"no"`

	// Client accounts. Every user needs an entry in schema_list.
	UserList []User `yaml:"user_list"`
	// Groups of one primary and its replicas.
	Nodes []Node `yaml:"nodes"`
	// What each user sees: nodes, the default node and the sharded tables.
	SchemaList []Schema `yaml:"schema_list"`

	// Directory of sys.log, sql.log and audit.log, relative to the working directory, made if it is not there; empty: the
	// lines of sys.log go to standard error, and there is no audit.log.
	LogPath string `yaml:"log_path" reload:"no"`
	// Absolute path of the directory of what outlives the proxy: half-done.journal, the changes of several nodes that are not known to be whole,
	// and half-done.intents.*, those under way. Made if it is not there; empty: that of log_path, and without it they are kept in memory.
	StatePath string `yaml:"state_path" reload:"no"`
	// Least severe level that is logged: debug, info, warn or error.
	LogLevel string `yaml:"log_level" reload:"set"`
	// Form of log lines: text or json.
	LogFormat string `yaml:"log_format" reload:"no"`
	// Log of statements, sql.log: on or off; empty: on if log_path is set. Without log_path it goes to standard output.
	LogSQL string `yaml:"log_sql" reload:"set"`
	// Form of its lines: text, json or kingshard, the predecessor's; empty: that of log_format.
	LogSQLFormat string `yaml:"log_sql_format" reload:"set"`
	// With log_sql on, only statements that take at least so many milliseconds are logged; 0: all.
	SlowLogTime int `yaml:"slow_log_time" reload:"set"`
	// Show statements in sql.log with their values, which may be personal data; otherwise each is a ?. Statements that may hold
	// passwords or keys are never shown with them.
	LogLiterals bool `yaml:"log_literals" reload:"set"`
	// A log file that would grow beyond it is put aside, with the time in its name; 0: never.
	LogMaxSize ByteSize `yaml:"log_max_size" reload:"set"`
	// A log file of that age is put aside; 0: never.
	LogMaxAge Duration `yaml:"log_max_age" reload:"set"`
	// Log files put aside that are kept, of each kind; 0: all.
	LogKeep int `yaml:"log_keep" reload:"set"`
	// Statements that statistics are kept of, by user, database and text without values, up to 100000; each takes about 1 KB of
	// memory for each processor. 0: no statistics.
	Digests int `yaml:"digests" reload:"set"`

	// Keep CPU profiles of the last while, up to 10m, for the console and /debug/pprof/profile?last=60; in pieces of 10 seconds, a few tens of
	// KB each. 0: none.
	ContinuousProfile Duration `yaml:"continuous_profile" reload:"set"`
	// Give histograms in /metrics with classic buckets, too. Without them only a Prometheus that takes native histograms sees how times are
	// distributed, and the dashboards in etc/grafana do not.
	ClassicHistograms bool `yaml:"classic_histograms" reload:"set"`

	// What may change rows on several nodes, and how it ends there: single, statements outside of transactions, and each node commits by itself, one
	// behind the other; best_effort, transactions, too, likewise; atomic, both, and all nodes keep them or none, through crashes of proxies and
	// servers; auto, atomic where the servers of all nodes qualify, which the log and SHOW KS STATUS tell, else single. Clients may SET
	// ks_transaction_mode; see sharding.md.
	TransactionMode string `yaml:"transaction_mode" reload:"set"`
	// What a read of several nodes shows: node, what each node has when it is asked, so that a transaction over several nodes may be seen on one and not
	// yet on another; atomic, all of each such transaction or nothing of it. Clients may SET ks_read_consistency; see sharding.md.
	ReadConsistency string `yaml:"read_consistency" reload:"set"`
	// Where reads of one node may go that has replicas: eventual, to any replica that is not behind by more than max_replica_lag; session, to one that has
	// what the client's session has changed, or to the primary; global, to one that has what any session of this proxy has changed, or to the primary;
	// primary, to the primary. Clients may SET ks_replica_consistency; see sql-support.md.
	ReplicaConsistency string `yaml:"replica_consistency" reload:"set"`
	// Zone that this proxy is in, as zones of nodes name it: reads that replicas may serve go to those of the zone while one of them is fit to serve, else to
	// all. Empty: to all.
	Zone string `yaml:"zone"`
	// Replay an open transaction on one node whose connection broke, when a server was lost say: its statements are sent again on another connection, and
	// where one has another answer than the client has heard the transaction is over, with error 1213, as it is for any without this. Not for tables of
	// engines without transactions, which would be changed twice; see operations.md.
	TransactionReplay bool `yaml:"transaction_replay" reload:"set"`
	// Let transaction_mode be atomic on servers that may break their word when they crash, which kingshard check -servers names.
	XAOnUnsafeServer bool `yaml:"xa_on_unsafe_server" reload:"no"`

	// File of forbidden statements, one per line, compared by fingerprint; empty: none.
	BlacklistSQLFile string `yaml:"blacklist_sql_file"`
	// Rules of what is done with statements, in their order, up to 1000; see query-rules.md.
	QueryRules []QueryRule `yaml:"query_rules"`
	// Traces of statements; see tracing.md.
	Tracing Tracing `yaml:"tracing"`
	// Comma list of IP addresses and CIDR networks that may connect; empty: any.
	AllowIPs string `yaml:"allow_ips" reload:"set"`

	// Character set named in the greeting, which a client that names none gets.
	ProxyCharset string `yaml:"proxy_charset" reload:"set"`
	// Server version named in the greeting; empty: that of the backend's primary.
	ServerVersion string `yaml:"server_version" reload:"set"`
	// Authentication plugin named in the greeting: mysql_native_password, caching_sha2_password or client_ed25519.
	AuthPlugin string `yaml:"auth_plugin"`
	// TLS towards clients; without cert and key TLS is not offered.
	TLS ServerTLS `yaml:"tls"`
	// PEM file of an RSA private key of 2048 bits or more, which lets caching_sha2_password log in without TLS; empty: it then
	// needs TLS or the unix socket at the first login.
	AuthRSAKey string `yaml:"auth_rsa_key"`
	// Comma list of IP addresses and CIDR networks of load balancers: a connection from there must begin with a PROXY
	// protocol header, one from elsewhere must not; empty: none.
	ProxyProtocol string `yaml:"proxy_protocol" reload:"no"`
	// Offer zlib and zstd compression to clients.
	Compression bool `yaml:"compression" reload:"set"`
	// Hold idle clients in event loops, one per core, and run plain statements there; Linux only, and only for clients without
	// compression. Without it each client has a goroutine of its own.
	FastLane bool `yaml:"fast_lane" reload:"no"`
	// Send reads by a unique key, outside of transactions, of several clients back to back on one backend connection: less CPU for
	// proxy and server, but one may wait for those ahead of it, up to 50 ms. Needs fast_lane.
	PipelinedSharing bool `yaml:"pipelined_sharing" reload:"set"`

	// Client connections at the same time; 0: no limit.
	MaxClientConns int `yaml:"max_client_conns" reload:"set"`
	// Longest statement of a client, 1M to 1G.
	MaxAllowedPacket ByteSize `yaml:"max_allowed_packet" reload:"set"`
	// What the long packets of all clients may take together while they come and are worked on, those beyond 64K, and what they send of long
	// parameters until these are used, with them the lines of LOAD DATA that wait for their shards; at
	// least twice max_allowed_packet; the client whose packet would take more gets error 9019. The prepared statements of all clients may take as
	// much again, beyond which one more is error 1461. 0: no limit.
	PacketMemory ByteSize `yaml:"packet_memory" reload:"set"`
	// Prepared statements of one client session, 1 to 1048576.
	MaxPreparedStmts int `yaml:"max_prepared_stmts" reload:"set"`
	// Prepared statements kept on one backend connection, the least recently used go first; 1 to 16384.
	BackendPreparedStmts int `yaml:"backend_prepared_stmts" reload:"set"`

	// Time for a client's whole login.
	HandshakeTimeout Duration `yaml:"handshake_timeout" reload:"set"`
	// The longest that the answer to a failed login waits. After two failures of an address the next ones are answered after 100ms, 200ms and
	// so on up to this, at most 1m; the passwords of one whose clients fail at many connections at once are looked at in turn. 0: never.
	MaxLoginDelay Duration `yaml:"max_login_delay" reload:"set"`
	// Time for opening one backend connection, its login included.
	ConnectTimeout Duration `yaml:"connect_timeout" reload:"set"`
	// Time a statement waits for a free backend connection.
	PoolWaitTimeout Duration `yaml:"pool_wait_timeout" reload:"set"`
	// Time that a statement waits where its node has no primary, because it is down or another server takes its place, or the node is paused, before
	// it is refused with error 9002; it counts from when the statement came. 0: none waits.
	PrimaryWaitTimeout Duration `yaml:"primary_wait_timeout" reload:"set"`
	// Statements that wait for a node's primary at the same time, 1 to 1000000; more are refused at once.
	PrimaryWaiters int `yaml:"primary_waiters" reload:"set"`
	// A client that takes less of its answer than 128 bytes a second in the mean over so long, or sends nothing of its file, is disconnected; at least 1s.
	ClientWriteTimeout Duration `yaml:"client_write_timeout" reload:"set"`
	// Time that a statement which collects rows on one server may run; then it ends with error 3024. 0: no limit.
	FinishTimeout Duration `yaml:"finish_timeout" reload:"set"`
	// Rows that such a statement may collect on the server, in bytes as they are sent there, 1M to 1T; more end it with error 9014.
	FinishMaxBytes ByteSize `yaml:"finish_max_bytes" reload:"set"`
	// Rows that such a statement may collect on the server, those that are there already included; more end it with error 9014. 0: no limit but that of bytes.
	FinishMaxRows int `yaml:"finish_max_rows" reload:"set"`
	// What all such statements under way may have collected together, in bytes as finish_max_bytes counts them, at least 1M; the one whose rows would be more
	// ends with error 9014. 0: no limit.
	FinishTotalBytes ByteSize `yaml:"finish_total_bytes" reload:"set"`
	// Row combinations that one server may have to look at for the joins of such a statement by its own estimate (MySQL's max_join_size);
	// more are refused with error 1104. 0: no limit of the proxy's.
	FinishMaxJoinSize int `yaml:"finish_max_join_size" reload:"set"`
	// A client without a command for so long is disconnected (MySQL's wait_timeout); 0: never.
	IdleTimeout Duration `yaml:"idle_timeout" reload:"set"`
	// A transaction over several nodes without a command of its client for so long is rolled back on all of them, and the client's next
	// statement gets error 1213; 0: never.
	IdleTransactionTimeout Duration `yaml:"idle_transaction_timeout" reload:"set"`
	// Time that sessions have to end at a shutdown, then they are cut; 0: cut at once.
	DrainTimeout Duration `yaml:"drain_timeout" reload:"set"`
	// Time that sessions which cannot move to the new process of an upgrade go on in the old one, at least 1s; then it shuts down.
	UpgradeTimeout Duration `yaml:"upgrade_timeout" reload:"set"`
	// Time between two probes of an instance, at least 100ms.
	HealthInterval Duration `yaml:"health_interval" reload:"set"`
	// Time for the answer to a probe, and then for a new connection, at least 100ms. A server that gives neither, and from which no byte has come
	// for 3s on any connection, is dead: what is in flight there ends.
	HealthTimeout Duration `yaml:"health_timeout" reload:"set"`
	// A pooled backend connection without use for so long is closed; 0: never.
	ConnIdleTimeout Duration `yaml:"conn_idle_timeout" reload:"set"`
	// A pooled backend connection of that age is closed when it is free; 0: never.
	ConnMaxLifetime Duration `yaml:"conn_max_lifetime" reload:"set"`
}

// User is a client account.
type User struct {
	// Name, unique. The user root is the administrator.
	User string `yaml:"user"`
	// Password in clear; give one of password, password_file and verifiers.
	Password Secret `yaml:"password"`
	// File that holds the password; a newline at its end is cut.
	PasswordFile string `yaml:"password_file"`
	// Stored verifiers instead of a password, by plugin: mysql_native_password, caching_sha2_password, client_ed25519.
	Verifiers Verifiers `yaml:"verifiers"`
	// The only plugin the user may log in with; empty: any of the three.
	AuthPlugin string `yaml:"auth_plugin"`
	// Comma list of IP addresses and CIDR networks the user may come from; empty: any.
	Hosts string `yaml:"hosts"`
	// Refuse the user on a TCP connection without TLS.
	RequireTLS bool `yaml:"require_tls"`
	// Let comment hints choose the node and the primary.
	Hints bool `yaml:"hints"`
	// Let the user send several statements at once.
	MultiStatements bool `yaml:"multi_statements"`
	// Let the user read only: everything else is refused with error 1142 before a server sees it; see security.md.
	ReadOnly bool `yaml:"read_only"`
	// Let the user send files with LOAD DATA LOCAL.
	LocalInfile bool `yaml:"local_infile"`
	// Let the user see and kill other users' sessions; true by default for root.
	Process bool `yaml:"process"`
	// The transaction_mode of the user; empty: that of all.
	TransactionMode string `yaml:"transaction_mode"`
	// The read_consistency of the user; empty: that of all.
	ReadConsistency string `yaml:"read_consistency"`
	// The replica_consistency of the user; empty: that of all.
	ReplicaConsistency string `yaml:"replica_consistency"`
	// What the user may do to the proxy itself, each with all before it: none, read (look at its state), operate (kill sessions,
	// take instances down and up, reload) or admin (change the configuration). admin by default for root; a user without a
	// password has none.
	Rights string `yaml:"rights"`
	// Connections of the user at the same time; 0: no limit.
	MaxConns int `yaml:"max_conns" reload:"set"`
	// Statements of the user at the same time, those that wait for a connection included; more wait. 0: no limit.
	MaxConcurrent int `yaml:"max_concurrent"`
	// Statements of the user per second, with as many at once after a pause; more wait. 0: no limit.
	MaxQPS int `yaml:"max_qps"`
	// Time that a statement of the user waits for its place under these two, up to 10m; longer waits end with error 1226. 0: none waits.
	MaxWait Duration `yaml:"max_wait"`
	// Rows that one statement of the user may be answered with; more end its result with error 1226. 0: no limit.
	MaxRows int `yaml:"max_rows"`
	// Bytes of rows that one statement of the user may be answered with; more end its result with error 1226. 0: no limit.
	MaxBytes ByteSize `yaml:"max_bytes"`
	// Seconds after which a statement of the user is ended with error 3024; 0: no limit.
	MaxSeconds int `yaml:"max_seconds"`
	// The finish_max_bytes of the user; 0: that of all.
	FinishMaxBytes ByteSize `yaml:"finish_max_bytes"`
	// What becomes of the user's statements whose rows have to be brought together from several shards: those that one server finishes, and changes whose rows
	// go through the proxy (EXPLAIN: finish, transfer and pick). allow; warn: they run, and the client gets a warning; deny: they are refused with error
	// 9023. Statements that shards answer each for itself, and whose answers are merged, are not meant.
	CrossShard string `yaml:"cross_shard"`
}

// QueryRule says what is done with statements. A statement matches if all that the rule says of users, sources, databases, tables,
// classes, digest and pattern is true of it; of each, what is left out is true of every statement.
type QueryRule struct {
	// Name, unique; errors, counts and metrics show it. Letters, digits, '_', '-' and '.', up to 64.
	Name string `yaml:"name"`
	// Users whose statements are meant.
	Users []string `yaml:"users"`
	// Comma list of IP addresses and CIDR networks that the client comes from; no client over the unix socket does.
	Sources string `yaml:"sources"`
	// Databases: the current one, or a name anywhere in the text; case does not count.
	Databases []string `yaml:"databases"`
	// Tables, as table or database.table: names anywhere in the text, quoted or not, whatever they name; case does not count.
	Tables []string `yaml:"tables"`
	// Classes of statements: read, write, ddl, transaction, select, insert, replace, update, delete, truncate, load, set, use,
	// show, explain, lock, flush, kill, prepare, execute, call, do, handler, account, admin, other, and doubtful: what the
	// proxy cannot read for certain.
	Classes []string `yaml:"classes"`
	// A statement without its values, as SHOW KS DIGESTS shows it; case, blanks, comments and quotes of names do not count.
	Digest string `yaml:"digest"`
	// Regular expression (RE2) that is found in the text, whose comments and runs of blanks are one space each; begin it with
	// (?i) to disregard case.
	Pattern string `yaml:"pattern"`
	// Let the statement pass, whatever rules behind this one say.
	Allow bool `yaml:"allow"`
	// Refuse the statement with error 9020 and this message.
	Block string `yaml:"block"`
	// What comes in place of what the pattern finds, everywhere in the text without comments; \1 is the first group, \0 the whole. The
	// outcome is what runs, and what rules behind this one look at.
	Rewrite string `yaml:"rewrite"`
	// Where a query runs: primary, or replica: it then goes there though a comment asks for the primary or it calls functions that
	// may have effects. Not within transactions; of several shards neither with autocommit off, nor where the session keeps a connection.
	Route string `yaml:"route"`
	// Node where the statement runs; one that is about rows of sharded tables on other nodes is refused with error 9020. Those who have
	// no such node in their schema are not meant.
	Node string `yaml:"node"`
	// Time after which the statement is ended with error 3024, at least 1ms; 0: no limit.
	Timeout Duration `yaml:"timeout"`
	// What becomes of statements whose rows have to be brought together from several shards: allow, warn or deny, as cross_shard of users, in the place
	// of what that and the tables' own say.
	CrossShard string `yaml:"cross_shard"`
	// Node that queries are sent to, too, once they have succeeded: nobody waits for it, and its answers are thrown away.
	Mirror string `yaml:"mirror"`
	// Mirror INSERT, REPLACE, UPDATE and DELETE as well.
	MirrorWrites bool `yaml:"mirror_writes"`
	// Statements that match at the same time, over all sessions; more wait. 0: no limit.
	MaxConcurrent int `yaml:"max_concurrent"`
	// Statements that match per second, over all sessions, with as many at once after a pause; more wait. 0: no limit.
	MaxQPS int `yaml:"max_qps"`
	// Time that a statement waits for its place under these two, up to 10m; longer waits end with error 9021. 0: none waits.
	MaxWait Duration `yaml:"max_wait"`
	// Go on with the rules behind this one; otherwise the first rule that matches is the only one.
	Next bool `yaml:"next"`
	// Count what matches, and do nothing else.
	DryRun bool `yaml:"dry_run"`
}

// Tracing is which statements are traced, and the OpenTelemetry collector that their spans are sent to.
type Tracing struct {
	// Collector that takes OTLP over HTTP: host:port, which means http, or a URL with http or https; the path is /v1/traces unless it
	// has one. Empty: nothing is traced.
	Endpoint string `yaml:"endpoint"`
	// Headers of the requests to it, such as authorization.
	Headers Headers `yaml:"headers"`
	// Share of the statements that are traced, 0 to 1, of those whose client tells of no trace.
	SampleRatio Ratio `yaml:"sample_ratio" reload:"set"`
	// Statements per second, over all sessions, that are traced because their client's trace is, with as many at once after a
	// pause; more are not traced. Up to 1000000; 0: what clients tell of traces does not count.
	MaxParents int `yaml:"max_parents" reload:"set"`
	// Show statements with their values, which may be personal data; otherwise each is a ?. Statements that may hold passwords or
	// keys are never shown with them.
	Literals bool `yaml:"literals" reload:"set"`
}

// WebToken is a bearer token of the HTTP administration.
type WebToken struct {
	// Name, unique; it stands in the audit log.
	Name string `yaml:"name"`
	// The token, at least 16 characters; give it or token_file.
	Token Secret `yaml:"token"`
	// File that holds the token; a newline at its end is cut.
	TokenFile string `yaml:"token_file"`
	// What it is good for: read, operate or admin, as of users.
	Rights string `yaml:"rights"`
}

// Node is a primary and its replicas, reached with one account.
type Node struct {
	// Name, unique; used by schemas, hints and administration.
	Name string `yaml:"name"`
	// Connections to each instance at most, up to 100000; 0 or less: 1024.
	MaxConnsLimit int `yaml:"max_conns_limit" reload:"set"`
	// Connections to each instance that statements use at once at the least, where the proxy finds by what they take how many of them the server serves best,
	// up to max_conns_limit: the others wait in line, see operations.md. 0: max_conns_limit alone says how many.
	AdaptiveConnsLimit int `yaml:"adaptive_conns_limit" reload:"set"`
	// Account on the primary and all replicas, under which the statements of clients run.
	User string `yaml:"user"`
	// Password of user; give it or password_file.
	Password Secret `yaml:"password"`
	// File that holds the password; a newline at its end is cut.
	PasswordFile string `yaml:"password_file"`
	// Another account there, under which the proxy does what no client may: probes, lag, KILL, questions about stored objects and row locks, checks
	// of a new primary, auto_create. No statement of a client runs under it. Empty: user does all, and needs the rights; see security.md.
	AdminUser string `yaml:"admin_user"`
	// Password of admin_user; give it or admin_password_file.
	AdminPassword Secret `yaml:"admin_password"`
	// File that holds it; a newline at its end is cut.
	AdminPasswordFile string `yaml:"admin_password_file"`
	// The account that replicas log in by at their source, for KS NODE ... SWITCHOVER, which has the old primary and other replicas replicate from the
	// new one. Empty: that which MySQL has stored where it can be read; else they are left for others to see to.
	ReplicationUser string `yaml:"replication_user"`
	// Password of replication_user; give it or replication_password_file.
	ReplicationPassword Secret `yaml:"replication_password"`
	// File that holds it; a newline at its end is cut.
	ReplicationPasswordFile string `yaml:"replication_password_file"`
	// Address host:port of the primary, or the absolute path of its unix socket. Required.
	Master string `yaml:"master" alias:"primary"`
	// Comma list of replicas, each host:port@weight or path@weight; the weight is 1 to 1000, 1 when left out.
	// discover among them stands for those that the primary tells of, by their report_host, and the members of its group, with the weight 1; see operations.md.
	Slave string `yaml:"slave" alias:"replica"`
	// Zones of the servers by their addresses, as master and slave have them: {"10.0.0.2:3306": eu-1a}. See zone.
	Zones Zones `yaml:"zones"`
	// How reads choose among replicas. weight: by turns, each as often as its weight says; latency: of two at random the one with less latency and
	// fewer statements under way, by weight: one of weight 2 is chosen until it is twice as slow as one of weight 1. Empty: weight.
	ReplicaChoice string `yaml:"replica_choice" reload:"set"`
	// Which of them is the primary. auto: the one that has the role, as its servers tell to an account with REPLICATION CLIENT, in MariaDB REPLICA
	// MONITOR: who takes writes and replicates from none of the others; master is where the proxy begins. fixed: master, until it is
	// changed. Empty: auto with replicas.
	Roles string `yaml:"roles"`
	// What becomes of a new primary that lacks transactions which the one before was seen to have. hold: it gets nothing until an operator says
	// so (KS NODE ... SET PRIMARY); serve: it serves, and an event tells of it. Empty: hold.
	OnDiverged string `yaml:"on_diverged"`
	// Seconds without an answer after which an instance counts as down; 0: never.
	DownAfterNoAlive int `yaml:"down_after_noalive" reload:"set"`
	// A replica that is further behind its source, is none or does not tell gets no reads until it is behind by half of
	// that. With roles: auto heartbeats tell it: two rows a second of ks_meta.heartbeat that the proxy writes on the primary, where its account
	// may. Else servers tell it in seconds, to accounts with REPLICATION CLIENT, in MariaDB REPLICA MONITOR. auto: 30s, but replicas whose
	// account may not ask are read from, and so is one that only lost its source while the primary is down. 0: no heartbeats are written, and
	// lag is shown only, as servers need that get their rows in another way (Aurora).
	MaxReplicaLag LagBound `yaml:"max_replica_lag" reload:"set"`
	// TLS towards the instances.
	TLS NodeTLS `yaml:"tls"`
	// PEM file of the instances' RSA public key, for caching_sha2_password and sha256_password without TLS, as
	// MySQL writes public_key.pem; it proves the server to which the password goes.
	ServerPublicKey string `yaml:"server_public_key"`
	// Give the password to a server that nothing proves, in TLS that verifies no certificate or under the key that it sends itself:
	// whoever is between reads it. Without it caching_sha2_password and sha256_password need tls.mode verify_ca or verify_identity, a
	// unix socket or server_public_key where the server asks for the password itself; scrambles go everywhere.
	AllowPublicKeyRetrieval bool `yaml:"allow_public_key_retrieval"`
	// Plugins that the server may ask for: mysql_native_password, caching_sha2_password, client_ed25519, sha256_password,
	// mysql_clear_password; empty: all but the last.
	AllowedAuthPlugins []string `yaml:"allowed_auth_plugins"`
}

// ServerTLS is TLS towards clients.
type ServerTLS struct {
	// PEM file of the certificate and its chain.
	Cert string `yaml:"cert"`
	// PEM file of the certificate's private key.
	Key string `yaml:"key"`
	// PEM file of authorities: a client on TLS must then show a certificate of theirs; empty: none is asked for.
	CA string `yaml:"ca"`
	// Refuse every TCP connection that does not go into TLS.
	RequireTLS bool `yaml:"require_tls"`
	// Lowest version: 1.2 or 1.3.
	MinVersion string `yaml:"min_version"`
}

// NodeTLS is TLS towards the instances of a node.
type NodeTLS struct {
	// disabled, preferred (TLS if the server has it), required, verify_ca (the certificate is of an authority in ca) or
	// verify_identity (and its name is that of the host).
	Mode string `yaml:"mode"`
	// PEM file of authorities; empty: those of the system, for verify_identity only.
	CA string `yaml:"ca"`
	// PEM file of the proxy's own certificate, for servers that ask for one.
	Cert string `yaml:"cert"`
	// PEM file of that certificate's private key.
	Key string `yaml:"key"`
	// Name that the certificate must carry; empty: the host that is dialled.
	ServerName string `yaml:"server_name"`
}

// Schema is what one user sees.
type Schema struct {
	// The user, one entry each.
	User string `yaml:"user"`
	// Names of the nodes the user may reach.
	Nodes []string `yaml:"nodes"`
	// The node of everything that no rule places; one of nodes.
	Default string `yaml:"default"`
	// A node beside these for nothing but the end of statements whose rows are collected, so that they cost the others only the reading of these. It needs
	// the databases of the tables, and no tables. Empty: they end where most of the rows are.
	Scratch string `yaml:"scratch"`
	// Rules of sharded tables; an empty one is ignored.
	Shard []Shard `yaml:"shard"`
}

// Shard is the rule that places the rows of one table on sub-tables, its shards.
type Shard struct {
	// Database of the table.
	DB string `yaml:"db"`
	// Logical name of the table, as statements have it.
	Table string `yaml:"table"`
	// Sharding column; for crc32, murmur3 and slots it may be a list of columns. Not for reference and single.
	Key Columns `yaml:"key"`
	// Nodes of the sub-tables, among those of the schema; locations and date_range follow their order. A reference table is
	// on all nodes of the schema by default, a single one on the default node.
	Nodes []string `yaml:"nodes"`
	// hash (integers modulo the number of sub-tables, strings by CRC32), mod (integers by their remainder), crc32 (CRC32 of
	// the key's text modulo the number of sub-tables), murmur3 (the same with MurmurHash3), slots (the same with 4096 slots
	// that can be moved: the rule to choose for a new table), range, list, date_year, date_month, date_day, reference (the
	// whole table on every node) or single (the whole table on one node).
	Type string `yaml:"type"`
	// Keys that are placed by hand, each on one of the rule's nodes, whatever the rule says of it, such as {42: node3, "Acme": node3}:
	// on the sub-table where the rule has it if that is there, else on the one of the node's that the rule's number picks, modulo their
	// count. A text is written as the column has it, a date as YYYY-MM-DD with hh:mm:ss for a DATETIME, a TIMESTAMP as its seconds since
	// 1970. For hash, mod, crc32, murmur3, slots and range, with a key of one column.
	Pin Pins `yaml:"pin"`
	// Number of sub-tables on each node; empty: one on each. Not for date types, reference and single.
	Locations []int `yaml:"locations"`
	// For range: number of key values in each sub-table.
	TableRowLimit int `yaml:"table_row_limit"`
	// For date types: each node's years, months or days, as YYYY, YYYYMM or YYYYMMDD or from-to, ascending.
	DateRange []string `yaml:"date_range"`
	// For list: the keys of each sub-table, integers or texts.
	Values [][]string `yaml:"values"`
	// For slots: the slots of each sub-table, as a comma list of numbers and from-to, 0 to 4095; empty: even shares.
	Slots []string `yaml:"slots"`
	// Name of the sub-tables, of {db}, {table}, {index} and {index:04}, the index with at least so many digits: from 0 over all
	// nodes, or the year, month or day. Empty: {table}_{index:04}, for reference and single {table}.
	SubTable string `yaml:"sub_table"`
	// Database of the sub-tables, of the same parts; empty: {db}.
	SubDB string `yaml:"sub_db"`
	// Every sub-table by node and name, in the order of their indexes, instead of nodes, locations, sub_table and sub_db.
	Tables []PhysicalTable `yaml:"tables"`
	// Another table of the schema, as table or db.table, whose rule, nodes and number of sub-tables this one has too: rows with
	// equal keys are then on the same node. Replaces type and all that belongs to it but key, sub_table, sub_db, sequence, unique, lookup and cross_shard.
	ColocateWith string `yaml:"colocate_with"`
	// How texts are placed, which never changes under one name. By the key's collation: utf8mb4_bin_v1, utf8mb4_general_ci_v1,
	// utf8mb4_unicode_ci_v1, utf8mb4_unicode_520_ci_v1, utf8mb4_0900_ai_ci_v1, utf8mb4_uca1400_ai_ci_v1, latin1_swedish_ci_v1;
	// exact: byte by byte (the default, for _bin collations; keys with spaces at the end are refused); ascii_ci: without the
	// case of A to Z and spaces at the end, for nearly every collation (keys with other than printable ASCII are refused).
	Strings string `yaml:"strings"`
	// For date types: the time zone in which keys that are numbers are read as dates, as Asia/Shanghai or +08:00; empty: that
	// of the proxy's host.
	TimeZone string `yaml:"time_zone"`
	// For date types: make the sub-tables of date_range that are missing, like the newest that is there, at start, after a
	// reload and every day.
	AutoCreate bool `yaml:"auto_create"`
	// Where an AUTO_INCREMENT column has its ids from, for tables with several sub-tables and those of type reference.
	Sequence Sequence `yaml:"sequence"`
	// Keys without the sharding key that are unique over all sub-tables, each a column, a list of columns, or columns with more: a table of the
	// proxy's own keeps their values. A UNIQUE key in DDL that is none of them and has not the sharding key in it is refused, unless global or local
	// is among them: with global it holds over all sub-tables as if it were named, with local inside each sub-table only.
	Unique []Index `yaml:"unique"`
	// The same of keys that are not unique, so that rows are looked for on the shards that have them.
	Lookup []Index `yaml:"lookup"`
	// What becomes of statements that name the table and whose rows have to be brought together from several shards: allow, warn or deny, as cross_shard of
	// users. Of what a user's, and those of all tables of a statement say, the strictest counts. Empty: allow.
	CrossShard string `yaml:"cross_shard"`
}

// Index is a key over all sub-tables of a table. In the file it may be the name of its column alone, or a list of columns.
type Index struct {
	// Its columns, other than the sharding key.
	Columns Columns `yaml:"columns"`
	// Its name in errors, and in that of the table that keeps it, ks_<table>_<name>; empty: its columns, with _ between them.
	Name string `yaml:"name"`
	// How texts in its columns are placed, as strings of the rule; needed for collations other than _bin ones.
	Strings string `yaml:"strings"`
	// In the place of columns, of unique: what becomes of other UNIQUE keys that DDL makes. global: they hold over all sub-tables; local: inside
	// each sub-table only.
	Others string `yaml:"others"`
}

// Sequence is where the ids of a table's AUTO_INCREMENT column come from. Schemas that have the same table must have the same.
type Sequence struct {
	// block: ids that follow each other, reserved many at a time. snowflake: ids of 41 bits of milliseconds since 2024, 10 bits of a number that
	// each proxy leases, and 12 bits that count; for BIGINT columns. Empty: block.
	Kind string `yaml:"kind"`
	// How many ids a proxy reserves at a time, 1 to 1000000: more cost fewer round trips, and more are lost when a proxy ends. Empty: 1000.
	// A small column type has fewer, a thousandth of what it takes. For kind block.
	Step int `yaml:"step"`
	// The node that keeps the sequence, among those of the schema; empty: the default node. Another one begins above all ids that the table
	// has, and leaves out 100 times step: reload all proxies one soon after the other. It leases the numbers of kind snowflake.
	Node string `yaml:"node"`
}

// PhysicalTable is a sub-table on a node.
type PhysicalTable struct {
	// Name of the node, among those of the schema.
	Node string `yaml:"node"`
	// Database on the node; empty: that of the rule.
	DB string `yaml:"db"`
	// Name of the table on the node.
	Table string `yaml:"table"`
}
