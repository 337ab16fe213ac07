package clients

import (
	"fmt"
	"testing"
)

// TestPython runs testdata/python/work.py with each driver.
func TestPython(t *testing.T) {
	for _, driver := range []string{"pymysql", "mysqlclient", "connector"} {
		t.Run(driver, func(t *testing.T) {
			both(t, "kingshard_py", func(e endpoint) program {
				return program{
					path: installed(t, "python", "bin", "python"),
					args: []string{testdata(t, "python", "work.py"), driver, e.host, fmt.Sprint(e.port), e.ca, "kingshard_py"},
					env:  []string{"PYTHONDONTWRITEBYTECODE=1", "PYTHONIOENCODING=utf-8"},
				}
			})
		})
	}
}
