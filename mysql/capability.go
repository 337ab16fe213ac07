package mysql

import "strings"

// Capability is the set of capability flags of one side, or of both once negotiated.
// MySQL manual: "Capabilities Flags".
type Capability uint32

// The capability flags.
const (
	ClientLongPassword               Capability = 1 << 0 // MariaDB calls this bit CLIENT_MYSQL: set means "no MariaDB extensions"
	ClientFoundRows                  Capability = 1 << 1
	ClientLongFlag                   Capability = 1 << 2
	ClientConnectWithDB              Capability = 1 << 3
	ClientNoSchema                   Capability = 1 << 4
	ClientCompress                   Capability = 1 << 5
	ClientODBC                       Capability = 1 << 6
	ClientLocalFiles                 Capability = 1 << 7
	ClientIgnoreSpace                Capability = 1 << 8
	ClientProtocol41                 Capability = 1 << 9
	ClientInteractive                Capability = 1 << 10
	ClientSSL                        Capability = 1 << 11
	ClientIgnoreSigpipe              Capability = 1 << 12
	ClientTransactions               Capability = 1 << 13
	ClientReserved                   Capability = 1 << 14
	ClientSecureConnection           Capability = 1 << 15
	ClientMultiStatements            Capability = 1 << 16
	ClientMultiResults               Capability = 1 << 17
	ClientPSMultiResults             Capability = 1 << 18
	ClientPluginAuth                 Capability = 1 << 19
	ClientConnectAttrs               Capability = 1 << 20
	ClientPluginAuthLenencClientData Capability = 1 << 21
	ClientCanHandleExpiredPasswords  Capability = 1 << 22
	ClientSessionTrack               Capability = 1 << 23
	ClientDeprecateEOF               Capability = 1 << 24
	ClientOptionalResultsetMetadata  Capability = 1 << 25
	ClientZstdCompressionAlgorithm   Capability = 1 << 26
	ClientQueryAttributes            Capability = 1 << 27
	ClientMultiFactorAuthentication  Capability = 1 << 28
	ClientCapabilityExtension        Capability = 1 << 29
	ClientSSLVerifyServerCert        Capability = 1 << 30
	ClientRememberOptions            Capability = 1 << 31
)

// capabilityNames holds the manual's spelling by bit number.
var capabilityNames = [32]string{
	"CLIENT_LONG_PASSWORD", "CLIENT_FOUND_ROWS", "CLIENT_LONG_FLAG", "CLIENT_CONNECT_WITH_DB",
	"CLIENT_NO_SCHEMA", "CLIENT_COMPRESS", "CLIENT_ODBC", "CLIENT_LOCAL_FILES",
	"CLIENT_IGNORE_SPACE", "CLIENT_PROTOCOL_41", "CLIENT_INTERACTIVE", "CLIENT_SSL",
	"CLIENT_IGNORE_SIGPIPE", "CLIENT_TRANSACTIONS", "CLIENT_RESERVED", "CLIENT_SECURE_CONNECTION",
	"CLIENT_MULTI_STATEMENTS", "CLIENT_MULTI_RESULTS", "CLIENT_PS_MULTI_RESULTS", "CLIENT_PLUGIN_AUTH",
	"CLIENT_CONNECT_ATTRS", "CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA", "CLIENT_CAN_HANDLE_EXPIRED_PASSWORDS", "CLIENT_SESSION_TRACK",
	"CLIENT_DEPRECATE_EOF", "CLIENT_OPTIONAL_RESULTSET_METADATA", "CLIENT_ZSTD_COMPRESSION_ALGORITHM", "CLIENT_QUERY_ATTRIBUTES",
	"MULTI_FACTOR_AUTHENTICATION", "CLIENT_CAPABILITY_EXTENSION", "CLIENT_SSL_VERIFY_SERVER_CERT", "CLIENT_REMEMBER_OPTIONS",
}

// Has tells whether every flag of f is set.
func (c Capability) Has(f Capability) bool { return c&f == f }

// String gives the set flags in the manual's spelling, joined by "|".
func (c Capability) String() string {
	var names []string
	for bit, name := range capabilityNames {
		if c&(1<<bit) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "|")
}
