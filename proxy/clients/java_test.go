package clients

import (
	"fmt"
	"testing"
)

// TestJava runs testdata/java/Work.java with each driver.
func TestJava(t *testing.T) {
	java := tool(t, "java", "install a JDK of version 17 or later")
	for driver, jar := range map[string]string{"mysql": "mysql-connector-j.jar", "mariadb": "mariadb-java-client.jar"} {
		t.Run(driver, func(t *testing.T) {
			both(t, "kingshard_java", func(e endpoint) program {
				return program{
					path: java,
					args: []string{
						"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx1g", "-Duser.timezone=UTC", "-cp", installed(t, "java", jar),
						testdata(t, "java", "Work.java"), driver, e.host, fmt.Sprint(e.port), e.ca, "kingshard_java",
					},
				}
			})
		})
	}
}
