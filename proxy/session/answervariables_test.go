package session_test

import (
	"slices"
	"strings"
	"testing"

	"kingshard/mysql/mysqltest"
	"kingshard/proxy/session/state"
)

// otherVariables are those that a client may set for its session and that are no AnswerVariables: they decide how soon an answer comes, with
// how much memory and by which plan, what is logged or traced, and how the server keeps rows; they are for single statements, follow others, are
// refused, or are another name.
const otherVariables = `
analyze_max_length analyze_sample_percentage aria_repair_threads aria_sort_buffer_size aria_stats_method big_tables
binlog_alter_two_phase binlog_annotate_row_events binlog_direct_non_transactional_updates binlog_format binlog_row_image
binlog_row_value_options binlog_rows_query_log_events binlog_transaction_compression binlog_transaction_compression_level_zstd
bulk_insert_buffer_size character_set_connection character_set_database character_set_server collation_database
column_compression_threshold column_compression_zlib_level column_compression_zlib_strategy column_compression_zlib_wrap
connection_memory_chunk_size connection_memory_limit deadlock_search_depth_long deadlock_search_depth_short deadlock_timeout_long
deadlock_timeout_short default_master_connection enable_secondary_engine_statistics eq_range_index_dive_limit expensive_subquery_limit
external_table_secondary_storage_engine external_table_storage_engine generated_random_password_length
global_connection_memory_tracking gtid_domain_id gtid_next gtid_seq_no histogram_generation_max_mem_size histogram_size histogram_type
identity idle_readonly_transaction_timeout idle_transaction_timeout idle_write_transaction_timeout immediate_server_version
in_predicate_conversion_threshold innodb_compression_default innodb_ddl_buffer_size innodb_ddl_threads innodb_default_encryption_key_id
innodb_parallel_read_threads innodb_tmpdir insert_id interactive_timeout internal_tmp_mem_storage_engine join_buffer_size
join_buffer_space_limit join_cache_level keep_files_on_create last_insert_id log_disabled_statements log_queries_not_using_indexes
log_slow_admin_statements log_slow_disabled_statements log_slow_filter log_slow_max_warnings log_slow_min_examined_row_limit
log_slow_query log_slow_query_time log_slow_rate_limit log_slow_slave_statements log_slow_verbosity log_warnings long_query_time
low_priority_updates max_delayed_threads max_heap_table_size max_insert_delayed_threads max_length_for_sort_data max_relay_log_size
max_rowid_filter_size max_seeks_for_key max_session_mem_used max_tmp_tables min_examined_row_limit mrr_buffer_size
myisam_repair_threads myisam_sort_buffer_size myisam_stats_method net_read_timeout net_retry_count net_write_timeout
optimizer_adjust_secondary_key_costs optimizer_extra_pruning_depth optimizer_join_limit_pref_ratio optimizer_max_sel_arg_weight
optimizer_max_sel_args optimizer_max_subgraph_pairs optimizer_prune_level optimizer_search_depth optimizer_selectivity_sampling_limit
optimizer_switch optimizer_trace optimizer_trace_features optimizer_trace_limit optimizer_trace_max_mem_size optimizer_trace_offset
optimizer_use_condition_selectivity original_commit_timestamp original_server_version parser_max_mem_size preload_buffer_size
print_identified_with_as_hex profiling profiling_history_size progress_report_time pseudo_replica_mode pseudo_slave_mode
pseudo_thread_id query_alloc_block_size query_cache_strip_comments query_cache_type query_cache_wlock_invalidate query_prealloc_size
rand_seed1 rand_seed2 range_alloc_block_size range_optimizer_max_mem_size rbr_exec_mode read_buffer_size read_rnd_buffer_size
require_row_format resultset_metadata rowid_merge_buff_size secondary_engine_cost_threshold select_into_buffer_size
select_into_disk_sync select_into_disk_sync_delay server_id session_track_gtids session_track_schema session_track_state_change
session_track_system_variables session_track_transaction_info set_operations_buffer_size show_create_table_skip_secondary_engine
skip_parallel_replication skip_replication slow_query_log sort_buffer_size sql_buffer_result sql_log_bin sql_log_off
sql_slave_skip_counter storage_engine tcp_nodelay thread_pool_priority timestamp tmp_disk_table_size tmp_memory_table_size
tmp_table_size transaction_alloc_block_size transaction_allow_batching transaction_prealloc_size use_secondary_engine use_stat_tables
wsrep_causal_reads wsrep_gtid_seq_no wsrep_on wsrep_osu_method wsrep_retry_autocommit wsrep_trx_fragment_size wsrep_trx_fragment_unit
xa_detach_on_prepare
`

// Every variable that either server lets a client set for its session is known to change answers, or to change none.
func TestEveryVariableIsKnown(t *testing.T) {
	others := strings.Fields(otherVariables)
	for _, kind := range bothKinds {
		t.Run(string(kind), func(t *testing.T) {
			c := dial(t, mysqltest.Shared(t, kind).Addr, mysqltest.ClientConfig{User: "root", Password: "root"})
			settable := 0
			for _, row := range must(t, c, "SHOW SESSION VARIABLES").Rows {
				name := strings.Replace(strings.ToLower(row[0].(string)), "tx_", "transaction_", 1)
				if slices.Contains(others, name) || slices.Contains(state.AnswerVariables, name) {
					settable++
					continue
				}
				r, err := c.Query("SET SESSION " + row[0].(string) + " = DEFAULT")
				if err != nil {
					t.Fatal(err)
				}
				if r.Err == nil || r.Err.Code != 1238 && r.Err.Code != 1229 && r.Err.Code != 1621 && r.Err.Code != 1193 {
					t.Errorf("%s may be set: name it among AnswerVariables or otherVariables", name)
				}
			}
			if settable < 150 {
				t.Errorf("%d variables only", settable)
			}
		})
	}
}
