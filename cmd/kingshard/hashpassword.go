package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"kingshard/mysql/auth"
)

// hashPassword reads one line from standard input and prints the verifier to put into user_list[].verifiers.
func hashPassword(args []string) int {
	if len(args) != 1 {
		fmt.Fprintf(os.Stderr, "usage: kingshard hash-password %s|%s|%s < password\n", auth.NativePassword, auth.CachingSHA2, auth.Ed25519)
		return 2
	}
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		fmt.Fprintln(os.Stderr, "kingshard:", err)
		return 1
	}
	hash, err := auth.Hash(args[0], strings.TrimRight(line, "\r\n"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "kingshard:", err)
		return 1
	}
	fmt.Println(hash)
	return 0
}
