// Package loadfile cuts the file of a LOAD DATA statement into lines and fields as the server does, byte for byte, so that
// lines can go to different servers. Begin with New.
package loadfile
