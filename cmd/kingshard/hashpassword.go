package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"kingshard/mysql/auth"
)

// plugins are what hash-password takes.
var plugins = []string{auth.NativePassword, auth.CachingSHA2, auth.Ed25519}

// hashPasswordCommand reads one line from standard input and prints the verifier to put into user_list[].verifiers.
var hashPasswordCommand = command{
	name: "hash-password", args: strings.Join(plugins, "|"), summary: "the verifier of a password read from standard input",
	about: `Reads one line, the password, from standard input and prints what to put into user_list[].verifiers under the plugin's name, in
place of the password itself.`,
	bind: func(*flag.FlagSet) func([]string) int { return hashPassword },
}

func hashPassword(args []string) int {
	if len(args) != 1 {
		fmt.Fprintf(os.Stderr, "usage: kingshard hash-password %s < password\n", strings.Join(plugins, "|"))
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
