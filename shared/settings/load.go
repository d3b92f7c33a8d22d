package settings

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Load sets the settings of cfg, a pointer to a struct, from args (without
// the program's name), then from the environment, then from their defaults,
// and returns the arguments that are no flags.
//
// Errors: ErrHelp if help was asked for; *FaultsError with every fault of the
// user's; any other error is a fault of the struct itself. If cfg has a method
// Check() []Fault, it is called with all values in place, to find faults
// between settings; its findings about a setting that is already at fault are
// left out. A setting at fault keeps the value it had. On an error cfg holds a mixture and must not be used.
func Load(cfg any, args []string, getenv func(string) string) (rest []string, err error) {
	fields := fieldsOf(reflect.ValueOf(cfg))
	known, err := byFlag(fields)
	if err != nil {
		return nil, err
	}
	flags, rest, faults, help := parseArgs(args, known)
	if help {
		return nil, ErrHelp
	}
	in := sources{flags: flags, getenv: getenv}
	for _, f := range fields {
		fault, err := in.load(f)
		if err != nil {
			return nil, fmt.Errorf("settings: field %s: %w", f.name, err)
		}
		if fault != nil {
			faults = append(faults, *fault)
		}
	}
	if c, ok := cfg.(checker); ok {
		faults = append(faults, news(c.Check(), faults)...)
	}
	if len(faults) > 0 {
		return nil, &FaultsError{Faults: faults}
	}
	return rest, nil
}

// news returns the found faults whose names are not among the known ones.
func news(found, known []Fault) []Fault {
	return slices.DeleteFunc(found, func(f Fault) bool {
		return slices.ContainsFunc(known, func(k Fault) bool { return settingOf(k.Name) == settingOf(f.Name) })
	})
}

// settingOf reduces the four names of a setting to one.
func settingOf(name string) string {
	return strings.TrimSuffix(flagOf(strings.TrimLeft(name, "-")), fileFlag)
}

// load sets one setting. A fault is the user's, an error the struct's.
func (in sources) load(f field) (*Fault, error) {
	from, err := in.find(f)
	if err != nil {
		return &Fault{from.name, err.Error()}, nil //nolint:nilerr // a fault of the user's is a result here
	}
	if !from.set {
		if text, ok := f.tag.Lookup("default"); ok {
			if err := f.assign(text); err != nil {
				return nil, fmt.Errorf("default tag: %w", err)
			}
		}
	} else if err := f.assign(from.text); err != nil {
		if errors.Is(err, errType) {
			return nil, err
		}
		return &Fault{from.name, f.quote(from.text) + err.Error()}, nil
	}
	if f.required() && f.empty() {
		return &Fault{from.name, "is required"}, nil
	}
	return nil, nil
}

func (f field) assign(text string) error {
	v, err := f.parse(f.value.Type(), text)
	if err != nil {
		return err
	}
	if err := f.checkRange(v); err != nil {
		return err
	}
	f.value.Set(v)
	return nil
}

// empty is for strings and lists; a number's zero is a value like any other.
func (f field) empty() bool {
	k := f.value.Kind()
	return (k == reflect.String || k == reflect.Slice) && f.value.Len() == 0
}

// quote repeats a refused value, cut to a line's length. Secrets are left
// out, and URLs too, since they may carry a password.
func (f field) quote(text string) string {
	const most = 60
	if format := f.tag.Get("format"); f.secret() || format == "url" || format == "http" {
		return ""
	}
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Sprintf("%q ", text)
}
