package click

// Device is the kind of thing that a visitor holds.
type Device uint8

// The devices. Zero is what is not recognised.
const (
	DeviceOther Device = iota
	Desktop
	Mobile
	Tablet
	TV
	Devices = int(iota) // how many there are
)

// String is the device's name in statistics.
func (d Device) String() string {
	return nameOf([]string{Other, "desktop", "mobile", "tablet", "tv"}, d)
}

// ParseDevice is the device of a name.
func ParseDevice(name string) (Device, bool) { return named[Device](name, Devices) }

// Browser is the family of a visitor's browser.
type Browser uint8

// The browsers. Zero is what is not recognised.
const (
	BrowserOther Browser = iota
	Chrome
	Safari
	Firefox
	Edge
	Opera
	Samsung
	Browsers = int(iota) // how many there are
)

// String is the browser's name in statistics.
func (b Browser) String() string {
	return nameOf([]string{Other, "chrome", "safari", "firefox", "edge", "opera", "samsung"}, b)
}

// ParseBrowser is the browser of a name.
func ParseBrowser(name string) (Browser, bool) { return named[Browser](name, Browsers) }

// OS is the family of a visitor's operating system.
type OS uint8

// The operating systems. Zero is what is not recognised.
const (
	OSOther OS = iota
	Windows
	MacOS
	Linux
	Android
	IOS
	ChromeOS
	Systems = int(iota) // how many there are
)

// String is the operating system's name in statistics.
func (o OS) String() string {
	return nameOf([]string{Other, "windows", "macos", "linux", "android", "ios", "chromeos"}, o)
}

// ParseOS is the operating system of a name.
func ParseOS(name string) (OS, bool) { return named[OS](name, Systems) }

// class is one of the enumerations above.
type class interface {
	~uint8
	String() string
}

// nameOf takes a value that this version does not know for other, as a record
// of a newer one may hold.
func nameOf[C ~uint8](names []string, c C) string {
	if int(c) >= len(names) {
		return Other
	}
	return names[c]
}

func named[C class](name string, count int) (C, bool) {
	for c := range C(count) {
		if c.String() == name {
			return c, true
		}
	}
	return 0, false
}

// known takes a value that this version does not know for zero.
func known[C class](c C, count int) C {
	if int(c) >= count {
		return 0
	}
	return c
}
