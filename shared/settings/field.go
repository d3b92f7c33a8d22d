package settings

import (
	"fmt"
	"reflect"
	"strings"
)

const (
	prefix   = "WAYPOST_"
	fileFlag = "-file"
	fileEnv  = "_FILE"
)

// field is one setting: where its value goes and what its tags say.
type field struct {
	name  string // of the struct field, for faults of the struct itself
	value reflect.Value
	tag   reflect.StructTag
	env   string // "" if only a flag
	flag  string // without dashes
}

func (f field) secret() bool   { return f.tag.Get("secret") == "true" }
func (f field) required() bool { return f.tag.Get("required") == "true" }
func (f field) isBool() bool   { return f.value.Kind() == reflect.Bool }

// source is how the setting is named where nothing was set.
func (f field) source() string {
	if f.env != "" {
		return f.env
	}
	return "--" + f.flag
}

// words lists what enum allows; nil allows anything.
func (f field) words() []string {
	if enum := f.tag.Get("enum"); enum != "" {
		return strings.Split(enum, ",")
	}
	return nil
}

// fieldsOf lists the settings of a struct, or of what a pointer points to, in
// the order they are declared.
func fieldsOf(v reflect.Value) []field {
	v = reflect.Indirect(v)
	var fields []field
	for i := range v.NumField() {
		sf := v.Type().Field(i)
		if !sf.IsExported() && (!sf.Anonymous || sf.Type.Kind() != reflect.Struct) {
			continue
		}
		env, flag := sf.Tag.Get("env"), sf.Tag.Get("flag")
		switch {
		case env == "" && flag == "":
			if sf.Type.Kind() == reflect.Struct {
				fields = append(fields, fieldsOf(v.Field(i))...)
			}
			continue
		case flag == "":
			flag = flagOf(env)
		}
		fields = append(fields, field{name: sf.Name, value: v.Field(i), tag: sf.Tag, env: env, flag: flag})
	}
	return fields
}

// flagOf derives a flag from a variable: WAYPOST_LIMIT_RATE is limit-rate.
func flagOf(env string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(env, prefix)), "_", "-")
}

// byFlag indexes settings by every flag that sets them, "-file" ones included.
func byFlag(fields []field) (map[string]field, error) {
	index := make(map[string]field, len(fields))
	for _, f := range fields {
		names := []string{f.flag}
		if f.secret() {
			names = append(names, f.flag+fileFlag)
		}
		for _, name := range names {
			if other, taken := index[name]; taken {
				return nil, fmt.Errorf("settings: fields %s and %s share the flag --%s", other.name, f.name, name)
			}
			index[name] = f
		}
	}
	return index, nil
}
