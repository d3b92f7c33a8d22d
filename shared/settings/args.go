package settings

import "strings"

// parseArgs splits a command line into the values given by flags and the
// arguments that are no flags. Flags and arguments may be mixed; "--" ends the
// flags. A flag takes one or two dashes and its value after "=" or as the next
// argument. A boolean flag alone means on, and takes the next argument only if
// that is one of the boolean words.
func parseArgs(args []string, known map[string]field) (set map[string]string, rest []string, faults []Fault, help bool) {
	set = make(map[string]string)
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return set, append(rest, args[i+1:]...), faults, help
		}
		if !isFlag(arg) {
			rest = append(rest, arg)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		if name == "h" || name == "help" {
			help = true
			continue
		}
		f, ok := known[name]
		if !ok {
			// The value is left out: it may be a secret behind a misspelt flag.
			faults = append(faults, Fault{"--" + name, "unknown flag"})
			continue
		}
		if !hasValue {
			switch next, ok := peek(args, i+1); {
			case f.isBool() && !isBoolWord(next):
				value = "on"
			case ok:
				value = next
				i++
			default:
				faults = append(faults, Fault{"--" + name, "needs a value"})
				continue
			}
		}
		if _, twice := set[name]; twice {
			faults = append(faults, Fault{"--" + name, "given more than once (a list is one value with commas)"})
			continue
		}
		set[name] = value
	}
	return set, rest, faults, help
}

// isFlag tells flags from values; "-" and negative numbers are values.
func isFlag(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && arg[1] != '.' && (arg[1] < '0' || arg[1] > '9')
}

// peek returns the argument at i if there is one that can be a value.
func peek(args []string, i int) (string, bool) {
	if i >= len(args) || isFlag(args[i]) {
		return "", false
	}
	return args[i], true
}
