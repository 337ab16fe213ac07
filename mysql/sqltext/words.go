package sqltext

// keyword is a word that the classifier acts on; 0 for all others.
type keyword uint8

const (
	kwNone keyword = iota
	kwAll
	kwAlter
	kwAnalyze
	kwAs
	kwBackup
	kwBegin
	kwBinlog
	kwCache
	kwCall
	kwCase
	kwChange
	kwCheck
	kwChecksum
	kwClone
	kwCommit
	kwConnection
	kwCount
	kwCreate
	kwCurrentUser
	kwCurrval
	kwData
	kwDatabase
	kwDeallocate
	kwDefiner
	kwDelayed
	kwDelete
	kwDesc
	kwDescribe
	kwDistinct
	kwDistinctRow
	kwDo
	kwDrop
	kwDumpfile
	kwErrors
	kwEvent
	kwExcept
	kwExecute
	kwExplain
	kwExtended
	kwFlush
	kwFor
	kwFormat
	kwFrom
	kwFull
	kwFunction
	kwGet
	kwGrant
	kwGroup
	kwHandler
	kwHaving
	kwHelp
	kwHighPriority
	kwIf
	kwIgnore
	kwImport
	kwIn
	kwIndex
	kwInformationSchema
	kwInsert
	kwInstall
	kwInstance
	kwIntersect
	kwInto
	kwKill
	kwKSMeta
	kwLibrary
	kwLimit
	kwLoad
	kwLocal
	kwLock
	kwLogfile
	kwLoop
	kwLowPriority
	kwMember
	kwMySQL
	kwNext
	kwNextval
	kwNot
	kwOf
	kwOptimize
	kwOrder
	kwOutfile
	kwPackage
	kwPartitions
	kwPerformanceSchema
	kwPersist
	kwPrepare
	kwPrevious
	kwProcedure
	kwProcesslist
	kwPurge
	kwRecursive
	kwRelease
	kwRename
	kwRepair
	kwRepeat
	kwReplace
	kwReset
	kwResignal
	kwResource
	kwRestart
	kwRevoke
	kwRole
	kwRollback
	kwSavepoint
	kwSchema
	kwSelect
	kwSequence
	kwServer
	kwSet
	kwShare
	kwShow
	kwShutdown
	kwSignal
	kwSpatial
	kwSQLBigResult
	kwSQLBufferResult
	kwSQLCache
	kwSQLCalcFoundRows
	kwSQLNoCache
	kwSQLSmallResult
	kwStart
	kwStatement
	kwStop
	kwStraightJoin
	kwSys
	kwTable
	kwTables
	kwTablespace
	kwTemporary
	kwTo
	kwTransaction
	kwTrigger
	kwTruncate
	kwUninstall
	kwUnion
	kwUnlock
	kwUpdate
	kwUse
	kwUser
	kwValue
	kwValues
	kwView
	kwWarnings
	kwWhere
	kwWhile
	kwWith
	kwWork
	kwXA
)

// Flags of a word.
const (
	wordCall    = 1 << iota // a function: word( is a call
	wordPlain               // word( is no call
	wordTight               // a function only with '(' right behind; with a blank between it may be a stored one
	wordMySQL               // known to MySQL only
	wordMariaDB             // known to MariaDB only
)

// word is an entry of the word table.
type word struct {
	name   string // lower case
	key    keyword
	flags  uint8
	traits Traits // of a call
}

// keywords maps words to the keywords that the classifier acts on. A plus sign marks those behind which '(' begins no call.
var keywords = map[string]keyword{
	"+all": kwAll, "+alter": kwAlter, "+analyze": kwAnalyze, "+as": kwAs, "backup": kwBackup, "+begin": kwBegin,
	"binlog": kwBinlog, "cache": kwCache, "+call": kwCall, "+case": kwCase,
	"+change": kwChange, "+check": kwCheck, "checksum": kwChecksum, "clone": kwClone, "+commit": kwCommit,
	"connection": kwConnection, "count": kwCount, "+create": kwCreate, "current_user": kwCurrentUser, "currval": kwCurrval,
	"data": kwData, "database": kwDatabase, "deallocate": kwDeallocate, "definer": kwDefiner,
	"+delayed": kwDelayed, "+delete": kwDelete, "+desc": kwDesc, "+describe": kwDescribe, "+distinct": kwDistinct,
	"+distinctrow": kwDistinctRow, "+do": kwDo, "+drop": kwDrop, "dumpfile": kwDumpfile, "errors": kwErrors, "event": kwEvent,
	"+except": kwExcept, "+execute": kwExecute, "+explain": kwExplain, "extended": kwExtended, "+flush": kwFlush, "+for": kwFor,
	"format": kwFormat, "+from": kwFrom, "full": kwFull, "function": kwFunction, "+get": kwGet,
	"+grant": kwGrant, "+group": kwGroup, "+handler": kwHandler, "+having": kwHaving, "help": kwHelp,
	"+high_priority": kwHighPriority, "if": kwIf, "+ignore": kwIgnore, "import": kwImport, "+in": kwIn, "+index": kwIndex,
	"insert": kwInsert, "install": kwInstall, "instance": kwInstance, "+intersect": kwIntersect,
	"+into": kwInto, "+kill": kwKill, "library": kwLibrary, "+limit": kwLimit, "+load": kwLoad, "local": kwLocal,
	"+lock": kwLock, "logfile": kwLogfile, "+loop": kwLoop, "+low_priority": kwLowPriority, "member": kwMember, "next": kwNext,
	"nextval": kwNextval, "+not": kwNot, "of": kwOf, "+optimize": kwOptimize, "+order": kwOrder, "+outfile": kwOutfile,
	"package": kwPackage, "partitions": kwPartitions, "persist": kwPersist,
	"+prepare": kwPrepare, "previous": kwPrevious, "+procedure": kwProcedure, "processlist": kwProcesslist, "+purge": kwPurge,
	"+recursive": kwRecursive, "+release": kwRelease, "+rename": kwRename, "repair": kwRepair, "repeat": kwRepeat,
	"replace": kwReplace, "reset": kwReset, "+resignal": kwResignal, "resource": kwResource, "restart": kwRestart,
	"+revoke": kwRevoke, "role": kwRole, "+rollback": kwRollback, "+savepoint": kwSavepoint, "schema": kwSchema,
	"+select": kwSelect, "sequence": kwSequence, "server": kwServer, "+set": kwSet, "share": kwShare,
	"+show": kwShow, "shutdown": kwShutdown, "+signal": kwSignal, "spatial": kwSpatial, "+sql_big_result": kwSQLBigResult,
	"+sql_buffer_result": kwSQLBufferResult, "+sql_cache": kwSQLCache, "+sql_calc_found_rows": kwSQLCalcFoundRows,
	"+sql_no_cache": kwSQLNoCache, "+sql_small_result": kwSQLSmallResult, "start": kwStart, "statement": kwStatement,
	"stop": kwStop, "+straight_join": kwStraightJoin, "+table": kwTable, "+tables": kwTables, "tablespace": kwTablespace,
	"temporary": kwTemporary, "+to": kwTo, "transaction": kwTransaction, "+trigger": kwTrigger, "truncate": kwTruncate,
	"uninstall": kwUninstall, "+union": kwUnion, "+unlock": kwUnlock, "+update": kwUpdate, "+use": kwUse,
	"user": kwUser, "+value": kwValue, "+values": kwValues, "view": kwView, "+warnings": kwWarnings, "+where": kwWhere,
	"+while": kwWhile, "+with": kwWith, "work": kwWork, "xa": kwXA,
	"information_schema": kwInformationSchema, "ks_meta": kwKSMeta, "mysql": kwMySQL, "performance_schema": kwPerformanceSchema, "sys": kwSys,
}

// plainWords are further words behind which '(' begins no call, as both families read them: reserved words and types.
// MySQL manual: "Keywords and Reserved Words".
const plainWords = `against and any asc between by character collate columns cross default desc div duplicate else elseif
	escape exists force inner is join key keys lateral like natural null offset on or outer over partition range regexp
	return returning rlike rollup row rows separator some sounds then unique using when window within xor
	bigint bit blob dec decimal datetime double enum fixed float float4 float8 int int1 int2 int3 int4 int8 integer
	longtext mediumint mediumtext nchar numeric nvarchar precision real signed smallint text tinyint tinytext unsigned
	varbinary varchar varying`
