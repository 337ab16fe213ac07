package sqltext

// The functions of the servers that have no effects. MySQL manual: "Built-In Function and Operator Reference"; MariaDB
// Knowledge Base: "Function and Operator Reference". SLEEP and BENCHMARK count among them: they take time, no more. Left out
// are functions newer than MySQL 8.0 and MariaDB 10.11: on a server without them the name may be that of a stored function.
const (
	functionsCommon = `abs acos addtime aes_decrypt aes_encrypt ascii asin atan atan2 avg benchmark bin binary bit_count
		bit_length case cast ceil ceiling char char_length character_length charset coalesce coercibility collation compress concat
		concat_ws conv convert convert_tz cos cot crc32 cume_dist current_date current_role current_time
		current_timestamp database date date_format datediff day dayname dayofmonth dayofweek dayofyear default degrees
		dense_rank elt exp export_set extractvalue field find_in_set first_value floor format from_base64 from_days
		from_unixtime get_format greatest hex hour if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa insert instr
		interval is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 isnull json_array json_array_append json_array_insert
		json_arrayagg json_contains json_contains_path json_depth json_extract json_insert json_keys json_length
		json_merge json_merge_patch json_merge_preserve json_object json_objectagg json_overlaps json_pretty json_quote
		json_remove json_replace json_search json_set json_table json_type json_unquote json_valid json_value lag
		last_day last_value lcase lead least left length ln localtime localtimestamp locate log log10 log2 lower lpad
		ltrim make_set makedate maketime match md5 microsecond minute mod month monthname name_const nth_value ntile
		nullif oct octet_length ord percent_rank period_add period_diff pi pow power quarter quote radians rand
		random_bytes rank regexp_instr regexp_replace regexp_substr repeat replace reverse right round row_number rpad
		rtrim schema sec_to_time second sha sha1 sha2 sign sin sleep soundex space sqrt str_to_date strcmp
		substring_index subtime tan time time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64
		to_days to_seconds truncate ucase uncompress uncompressed_length unhex unix_timestamp updatexml upper utc_date
		utc_time utc_timestamp uuid values version week weekday weekofyear weight_string year yearweek
		geometrycollection linestring mbrcontains mbrdisjoint mbrequals mbrintersects mbroverlaps mbrtouches mbrwithin
		multilinestring multipoint multipolygon point polygon st_area st_asbinary st_asgeojson st_astext st_aswkb
		st_aswkt st_buffer st_centroid st_contains st_convexhull st_crosses st_difference st_dimension st_disjoint
		st_distance st_distance_sphere st_endpoint st_envelope st_equals st_exteriorring st_geomcollfromtext
		st_geomcollfromwkb st_geometrycollectionfromtext st_geometrycollectionfromwkb st_geometryfromtext
		st_geometryfromwkb st_geometryn st_geometrytype st_geomfromgeojson st_geomfromtext st_geomfromwkb
		st_interiorringn st_intersection st_intersects st_isclosed st_isempty st_issimple st_length st_linefromtext
		st_linefromwkb st_linestringfromtext st_linestringfromwkb st_mlinefromtext st_mlinefromwkb st_mpointfromtext
		st_mpointfromwkb st_mpolyfromtext st_mpolyfromwkb st_numgeometries st_numinteriorrings st_numpoints st_overlaps
		st_pointfromtext st_pointfromwkb st_pointn st_polyfromtext st_polyfromwkb st_polygonfromtext st_polygonfromwkb
		st_srid st_startpoint st_symdifference st_touches st_union st_within st_x st_y`

	// Those that are functions only when '(' follows at once. MySQL manual: "Function Name Parsing and Resolution".
	functionsTight = `adddate bit_and bit_or bit_xor cast count curdate curtime date_add date_sub extract group_concat max
		mid min now position std stddev stddev_pop stddev_samp subdate substr substring sum sysdate trim var_pop var_samp
		variance`

	functionsMySQL = `any_value bin_to_uuid format_bytes format_pico_time geomcollection grouping gtid_subset gtid_subtract
		icu_version is_uuid json_schema_valid json_schema_validation_report json_storage_free json_storage_size
		mbrcoveredby mbrcovers regexp_like st_buffer_strategy st_collect st_frechetdistance st_geohash
		st_hausdorffdistance st_isvalid st_latfromgeohash st_latitude st_lineinterpolatepoint st_lineinterpolatepoints
		st_longfromgeohash st_longitude st_makeenvelope st_numinteriorring st_pointatdistance st_pointfromgeohash
		st_simplify st_swapxy st_transform st_validate statement_digest statement_digest_text uuid_to_bin
		validate_password_strength`

	functionsMariaDB = `add_months chr column_add column_check column_create column_delete column_exists column_get column_json
		column_list crc32c decode des_decrypt des_encrypt encode encrypt json_compact json_detailed json_equals
		json_exists json_loose json_normalize json_query lengthb mbrequal median natural_sort_key nvl nvl2 old_password
		password percentile_cont percentile_disc rownum sformat st_boundary st_isring st_pointonsurface st_relate
		sys_guid to_char`
)

// ListedFunction tells whether a function of that name, in any case, is one that the manual of the server lists. It may be an
// aggregate; one that is not listed is a loadable or a stored function, or newer than the lists.
func ListedFunction(name string, mariaDB bool) bool {
	flags, others := words[lookup(name)].flags, uint8(wordMariaDB)
	if mariaDB {
		others = wordMySQL
	}
	return flags&wordCall != 0 && flags&others == 0
}

// functionTraits are the functions with effects, and those that speak of the session.
var functionTraits = map[string]Traits{
	"connection_id": ConnectionID, "found_rows": FoundRows, "row_count": RowCount, "last_insert_id": LastInsertID,
	"user": CurrentUser, "current_user": CurrentUser, "session_user": CurrentUser, "system_user": CurrentUser,

	"get_lock": GetLock | EffectFunction, "release_lock": ReleaseLock | EffectFunction,
	"release_all_locks": ReleaseLock | EffectFunction, "is_free_lock": EffectFunction, "is_used_lock": EffectFunction,
	"load_file": EffectFunction, "uuid_short": EffectFunction, "nextval": EffectFunction, "setval": EffectFunction,
	"lastval": EffectFunction, "currval": EffectFunction, "master_pos_wait": EffectFunction, "source_pos_wait": EffectFunction,
	"master_gtid_wait": EffectFunction, "wait_for_executed_gtid_set": EffectFunction,
	"wait_until_sql_thread_after_gtids": EffectFunction,
}

// Harmless reports whether '(' behind an unquoted word begins no call, or one of a function of the servers' own without effects.
func Harmless(name string) bool {
	w := &words[lookup(name)]
	return w.flags&(wordCall|wordPlain) != 0 && w.traits&EffectFunction == 0 || w.traits&ReleaseLock != 0
}
