package state

// AnswerVariables are the variables of a session by which its client hears other answers, or changes data otherwise: those of both servers that a
// client may set for a session, but for what decides how soon it is answered, with how much memory, and what is logged or traced. Those
// that are for single statements are not among them, nor what is refused. MySQL manual: "Server System Variables"; MariaDB
// Knowledge Base: "Server System Variables".
var AnswerVariables = []string{
	"alter_algorithm", "auto_increment_increment", "auto_increment_offset", "autocommit", "block_encryption_mode", "character_set_client",
	"character_set_filesystem", "character_set_results", "check_constraint_checks", "collation_connection", "collation_server", "completion_type",
	"cte_max_recursion_depth", "default_collation_for_utf8mb4", "default_regex_flags", "default_storage_engine", "default_table_encryption",
	"default_tmp_storage_engine", "default_week_format", "div_precision_increment", "enable_cascade_triggers", "end_markers_in_json",
	"enforce_storage_engine", "explain_format", "explain_json_format_version", "explicit_defaults_for_timestamp", "foreign_key_checks",
	"group_concat_max_len", "group_replication_consistency", "information_schema_stats_expiry", "innodb_ft_enable_stopword",
	"innodb_ft_user_stopword_table", "innodb_lock_wait_timeout", "innodb_snapshot_isolation", "innodb_strict_mode", "innodb_table_locks",
	"lc_messages", "lc_time_names", "lock_wait_timeout", "max_error_count", "max_execution_time", "max_join_size", "max_points_in_geometry",
	"max_recursive_iterations", "max_sort_length", "max_sp_recursion_depth", "max_statement_time", "note_verbosity", "old", "old_alter_table",
	"old_mode", "old_passwords", "restrict_fk_on_non_standard_key", "show_create_table_verbosity",
	"show_gipk_in_create_table_and_information_schema", "sql_auto_is_null", "sql_big_selects", "sql_generate_invisible_primary_key",
	"sql_if_exists", "sql_mode", "sql_notes", "sql_quote_show_create", "sql_require_primary_key", "sql_safe_updates", "sql_select_limit",
	"sql_warnings", "standard_compliant_cte", "system_versioning_alter_history", "system_versioning_asof", "system_versioning_insert_history",
	"terminology_use_previous", "time_zone", "transaction_isolation", "transaction_read_only", "unique_checks", "updatable_views_with_limit",
	"wait_timeout", "windowing_use_high_precision", "wsrep_dirty_reads", "wsrep_sync_wait",
}
