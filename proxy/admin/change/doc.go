// Package change is how the proxy is changed by those who administer it. [Who] asks; a [Trail] checks the rights and leaves a line in the
// log, in the audit log and in the list of events; [Configuration] and [Instances] are what most changes are about.
package change
