package codes

const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Base62 writes n in base 62 with the digits 0-9, a-z, A-Z and without leading
// zeros: 61 is "Z", 62 is "10".
func Base62(n uint64) string {
	const maxDigits = 11 // 62^11 > 2^64
	var buf [maxDigits]byte
	i := len(buf)
	for {
		i--
		buf[i] = alphabet[n%uint64(len(alphabet))]
		n /= uint64(len(alphabet))
		if n == 0 {
			return string(buf[i:])
		}
	}
}
