package backend

import "testing"

func TestReplicaStatusOf(t *testing.T) {
	for _, c := range []struct {
		name string
		row  map[string]string
		want ReplicaStatus
	}{
		{"MySQL 9", map[string]string{
			"Channel_Name": "c", "Source_Host": "h", "Source_Port": "3306", "Source_UUID": "u", "Replica_IO_Running": "Yes", "Replica_SQL_Running": "No", "Seconds_Behind_Source": "2",
			"Executed_Gtid_Set": "u:1-7", "Last_IO_Error": "", "Last_SQL_Error": "why",
		}, ReplicaStatus{"c", "h:3306", "u", "Yes", "No", "2", "u:1-7", "why"}},
		{"MySQL 5.6", map[string]string{
			"Master_Host": "h", "Master_Port": "3306", "Master_UUID": "u", "Master_Server_Id": "1", "Slave_IO_Running": "Connecting", "Slave_SQL_Running": "Yes", "Seconds_Behind_Master": "NULL",
			"Executed_Gtid_Set": "", "Last_IO_Error": "why",
		}, ReplicaStatus{"", "h:3306", "u", "Connecting", "Yes", "NULL", "", "why"}},
		{"MariaDB", map[string]string{
			"Master_Host": "h", "Master_Port": "3306", "Master_Server_Id": "1", "Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes", "Seconds_Behind_Master": "0", "Gtid_Slave_Pos": "0-1-7",
		}, ReplicaStatus{"", "h:3306", "1", "Yes", "Yes", "0", "0-1-7", ""}},
		{"one that has not reached its source", map[string]string{"Master_Host": "h", "Master_Port": "1", "Master_Server_Id": "0"}, ReplicaStatus{Source: "h:1"}},
	} {
		if got := replicaStatusOf(c.row); got != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
