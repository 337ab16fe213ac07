package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// completionCommand prints a script for a shell.
var completionCommand = command{
	name: "completion", args: "bash|zsh|fish", summary: "completion of commands and flags for a shell",
	about: `Prints a script that makes the shell complete commands and flags:

    bash: kingshard completion bash > /etc/bash_completion.d/kingshard
    zsh:  kingshard completion zsh > "${fpath[1]}/_kingshard"
    fish: kingshard completion fish > ~/.config/fish/completions/kingshard.fish`,
	bind: func(*flag.FlagSet) func([]string) int { return completion },
}

// shells are the scripts.
var shells = map[string]func(w io.Writer){"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}

func completion(args []string) int {
	if len(args) != 1 || shells[args[0]] == nil {
		fmt.Fprintln(os.Stderr, "kingshard completion: bash, zsh or fish is wanted")
		return 2
	}
	shells[args[0]](os.Stdout)
	return 0
}

// options lists the flags of a command; what they take is "" for a switch, "file", or another word.
func (c *command) options() (all []option) {
	set, _ := c.set()
	set.VisitAll(func(f *flag.Flag) {
		takes, about := flag.UnquoteUsage(f)
		all = append(all, option{f.Name, takes, about})
	})
	return all
}

type option struct{ name, takes, about string }

func (c *command) optionWords() string {
	var words []string
	for _, o := range c.options() {
		words = append(words, "-"+o.name)
	}
	return strings.Join(words, " ")
}

// words are what the arguments of a command can be, where they are from a closed list.
func (c *command) words() string {
	if strings.ContainsAny(c.args, "[ .") {
		return ""
	}
	return strings.ReplaceAll(c.args, "|", " ")
}

// fileOptions are the flags of all commands whose values are files, with sep between them.
func fileOptions(sep string) string {
	seen := make(map[string]bool)
	var found []string
	for _, c := range append([]*command{&daemon}, commands...) {
		for _, o := range c.options() {
			if (o.takes == "file" || o.takes == "directory") && !seen[o.name] {
				seen[o.name] = true
				found = append(found, "-"+o.name)
			}
		}
	}
	return strings.Join(found, sep)
}

func bashCompletion(w io.Writer) {
	fmt.Fprintf(w, `_kingshard() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words
    case $before in
        %s) COMPREPLY=($(compgen -f -- "$word")); return ;;
    esac
    case ${COMP_WORDS[1]} in
`, fileOptions("|"))
	for _, c := range commands {
		fmt.Fprintf(w, "        %s) words=%q ;;\n", c.name, strings.TrimSpace(c.optionWords()+" "+c.words()))
	}
	fmt.Fprintf(w, `        *) words=%q ;;
    esac
    if [ "$COMP_CWORD" -eq 1 ]; then words=%q; fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _kingshard kingshard
`, daemon.optionWords(), strings.Join(names(), " ")+" "+daemon.optionWords())
}

func zshCompletion(w io.Writer) {
	fmt.Fprintf(w, `#compdef kingshard
_kingshard() {
    case ${words[CURRENT-1]} in
        %s) _files; return ;;
    esac
    if (( CURRENT == 2 )); then
        local -a commands
        commands=(
`, fileOptions("|"))
	for _, c := range commands {
		fmt.Fprintf(w, "            '%s:%s'\n", c.name, quoted(c.summary))
	}
	fmt.Fprintf(w, `        )
        _describe command commands
        compadd -- %s
        return
    fi
    case ${words[2]} in
`, daemon.optionWords())
	for _, c := range commands {
		fmt.Fprintf(w, "        %s) compadd -- %s ;;\n", c.name, strings.TrimSpace(c.optionWords()+" "+c.words()))
	}
	fmt.Fprintf(w, `        *) compadd -- %s ;;
    esac
}
compdef _kingshard kingshard
`, daemon.optionWords())
}

func fishCompletion(w io.Writer) {
	all := strings.Join(names(), " ")
	for _, c := range append([]*command{&daemon}, commands...) {
		condition := "__fish_seen_subcommand_from " + c.name
		if c.name == "" {
			condition = "not __fish_seen_subcommand_from " + all
		} else {
			fmt.Fprintf(w, "complete -c kingshard -n 'not __fish_seen_subcommand_from %s' -f -a %s -d '%s'\n", all, c.name, quoted(c.summary))
		}
		for _, o := range c.options() {
			takes := ""
			switch o.takes {
			case "":
			case "file", "directory":
				takes = " -r -F"
			default:
				takes = " -x"
			}
			fmt.Fprintf(w, "complete -c kingshard -n '%s' -o %s%s -d '%s'\n", condition, o.name, takes, quoted(o.about))
		}
		if words := c.words(); words != "" {
			fmt.Fprintf(w, "complete -c kingshard -n '%s' -f -a '%s'\n", condition, words)
		}
	}
}

// quoted makes a text fit for single quotes.
func quoted(s string) string { return strings.NewReplacer("'", "", `\`, "", ":", " -").Replace(s) }
