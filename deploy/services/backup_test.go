package services

import (
	"testing"
)

func TestRestoredPostgresHasWhatItHadAtTheBackupAndLooksTheSame(t *testing.T) {
	t.Parallel()
	pg := PrivatePostgres(t)
	if err := pg.Restore(within(t)); err == nil {
		t.Fatal("restored without a backup")
	}
	const identity = `SELECT system_identifier, pg_walfile_name(pg_current_wal_lsn()) FROM pg_control_system()`
	read := func(statement string, into ...any) {
		t.Helper()
		if err := connect(t, pg.URL()).QueryRow(within(t), statement).Scan(into...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	write := func(statement string) {
		t.Helper()
		if _, err := connect(t, pg.URL()).Exec(within(t), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	write("CREATE TABLE kept AS SELECT 1 AS n")
	var systemBefore, systemAfter int64
	var fileBefore, fileAfter string
	read(identity, &systemBefore, &fileBefore)
	if err := pg.Backup(within(t)); err != nil {
		t.Fatal(err)
	}
	write("UPDATE kept SET n = 2")
	if err := pg.Restore(within(t)); err != nil {
		t.Fatal(err)
	}
	var n int
	if read("SELECT n FROM kept", &n); n != 1 {
		t.Errorf("n = %d, want that of the backup, 1", n)
	}
	read(identity, &systemAfter, &fileAfter)
	const timeline = 8 // the first digits of the file's name
	if systemAfter != systemBefore || fileAfter[:timeline] != fileBefore[:timeline] {
		t.Errorf("system %d, timeline %s; want those from before, %d and %s",
			systemAfter, fileAfter[:timeline], systemBefore, fileBefore[:timeline])
	}
	write("UPDATE kept SET n = 3")
	if err := pg.Restart(within(t)); err != nil {
		t.Fatalf("restart after a restore: %v", err)
	}
	if read("SELECT n FROM kept", &n); n != 3 {
		t.Errorf("n after a restart = %d, want 3", n)
	}
}
