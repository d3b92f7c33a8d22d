package postgres

import (
	"cmp"
	"encoding/binary"
	"slices"

	"waypost/shared/click"
)

// mergeNewest puts two lists together, newest first, as many as are kept.
func mergeNewest(a, b []click.Recent) []click.Recent {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(x, y click.Recent) int { return cmp.Compare(y.At, x.At) })
	return all[:min(len(all), click.MaxNewest)]
}

// packNewest makes of clicks what a column holds: the format, then of each the
// time, whether it was a bot, and its values.
func packNewest(clicks []click.Recent) []byte {
	dst := []byte{packedFormat}
	for i := range clicks {
		c := &clicks[i]
		var bot byte
		if c.Bot {
			bot = 1
		}
		dst = append(binary.AppendUvarint(dst, unsigned(max(c.At, 0))), bot)
		for _, v := range []string{c.Region, c.Referrer, c.Device, c.Browser, c.OS, c.Country} {
			dst = packString(dst, v)
		}
	}
	return dst
}

// maxAt is later than any click, in microseconds since 1970: the year 4253.
const maxAt = 1<<56 - 1

// unpackNewest reads what packNewest wrote; no bytes are of a link without
// clicks. The error is errPacked.
func unpackNewest(b []byte) ([]click.Recent, error) {
	if len(b) == 0 {
		return nil, nil
	}
	u := unpacker{s: string(b)}
	if u.byte() != packedFormat {
		return nil, errPacked
	}
	clicks := make([]click.Recent, 0, click.MaxNewest)
	for u.s != "" {
		c := click.Recent{At: signed(u.number()), Bot: u.byte() == 1}
		for _, v := range []*string{&c.Region, &c.Referrer, &c.Device, &c.Browser, &c.OS, &c.Country} {
			*v = u.string()
		}
		if u.bad || c.At < 0 || c.At > maxAt || len(clicks) == click.MaxNewest {
			return nil, errPacked
		}
		clicks = append(clicks, c)
	}
	return clicks, nil
}
