package settings

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	// errType means a fault of the struct, not of the user.
	errType   = errors.New("type or tag is not supported")
	errPrefix = errors.New("is not an address or CIDR prefix")
)

// parse turns text into a value of type t, by the field's format and enum.
// Its errors say what was expected and never repeat the text.
func (f field) parse(t reflect.Type, text string) (reflect.Value, error) {
	v := reflect.New(t).Elem()
	if t.Kind() == reflect.Slice {
		return v, f.parseList(v, text)
	}
	return v, f.parseItem(v, text)
}

// parseList reads a comma-separated list into v; empty text is an empty list,
// an empty item is a fault.
func (f field) parseList(v reflect.Value, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	for i, item := range strings.Split(text, ",") {
		e := reflect.New(v.Type().Elem()).Elem()
		item = strings.TrimSpace(item)
		if item == "" {
			return fmt.Errorf("item %d is empty", i+1)
		}
		if err := f.parseItem(e, item); err != nil {
			return fmt.Errorf("item %d %w", i+1, err)
		}
		v.Set(reflect.Append(v, e))
	}
	return nil
}

func (f field) parseItem(v reflect.Value, text string) error {
	switch to := v.Addr().Interface().(type) {
	case *time.Duration:
		d, err := time.ParseDuration(text)
		*to = d
		return expect(err, "a duration such as 250ms, 1s or 24h")
	case *netip.Prefix:
		p, err := parsePrefix(text)
		*to = p
		return err
	case *Bytes:
		return to.UnmarshalText([]byte(text))
	case encoding.TextUnmarshaler:
		return expect(to.UnmarshalText([]byte(text)), "valid")
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
		return f.checkString(text)
	case reflect.Bool:
		on, ok := boolWord(text)
		v.SetBool(on)
		if !ok {
			return errors.New("is not on or off")
		}
		return nil
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		v.SetInt(n)
		return expect(err, "a whole number")
	case reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		v.SetUint(n)
		return expect(err, "a whole number of at least 0")
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		v.SetFloat(x)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			err = strconv.ErrRange
		}
		return expect(err, "a number")
	default:
		return errType
	}
}

// checkRange compares a parsed value with the min and max tags.
func (f field) checkRange(v reflect.Value) error {
	for _, bound := range []struct {
		tag, problem string
		outside      int
	}{{"min", "is below", -1}, {"max", "is above", +1}} {
		text, ok := f.tag.Lookup(bound.tag)
		if !ok {
			continue
		}
		limit, err := f.parse(v.Type(), text)
		if err != nil {
			return fmt.Errorf("%s tag: %w", bound.tag, errType)
		}
		if compare(v, limit) == bound.outside {
			return fmt.Errorf("%s %s", bound.problem, text)
		}
	}
	return nil
}

func compare(a, b reflect.Value) int {
	switch {
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	default:
		return cmp.Compare(a.Float(), b.Float())
	}
}

// parsePrefix reads a CIDR prefix, or one address as a prefix of itself, and
// returns it masked; IPv4 written as IPv6 becomes IPv4.
func parsePrefix(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return netip.Prefix{}, errPrefix
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(a.Unmap(), p.Bits()-96)
	}
	return p.Masked(), nil
}

func expect(err error, what string) error {
	if err != nil {
		return errors.New("is not " + what)
	}
	return nil
}

func boolWord(text string) (on, ok bool) {
	switch strings.ToLower(text) {
	case "on", "true", "1":
		return true, true
	case "off", "false", "0":
		return false, true
	}
	return false, false
}

func isBoolWord(text string) bool {
	_, ok := boolWord(text)
	return ok
}

// checkString holds text against the enum and format tags. Empty text has
// every format: whether there must be a value is for the required tag to say.
func (f field) checkString(text string) error {
	if words := f.words(); words != nil && !slices.Contains(words, text) {
		return errors.New("is not one of " + strings.Join(words, ", "))
	}
	if text == "" {
		return nil
	}
	return checkFormat(f.tag.Get("format"), text)
}
