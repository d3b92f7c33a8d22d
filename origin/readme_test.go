package main

import (
	"os"
	"strings"
	"testing"

	"waypost/shared/settings"
)

func TestReadmeListsEverySetting(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := settings.Markdown(&config{}); !strings.Contains(string(readme), want) {
		t.Errorf("README.md lacks the origin's table of settings as it is now:\n%s", want)
	}
}
