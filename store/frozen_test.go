package store

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

// Run once for a schema version, before its first release:
//
//	go test ./store -run TestFrozenStore -freeze
//
// The file is never written anew: it stands for the stores people have.
var freeze = flag.Bool("freeze", false, "write a store of the present schema to testdata, where there is none")

const frozen = "testdata/schema1.db"

func TestFrozenStore(t *testing.T) {
	want := map[string]row{"a": {"mug", 200}, "b": {"plate", 1}}
	if *freeze {
		writeFrozen(t, want)
	}
	data, err := os.ReadFile(frozen)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "store.db")
	write(t, path, data)
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(path); err != nil || Version == 1 && !bytes.Equal(now, data) {
		t.Errorf("opening alone changed the file, or %v", err)
	}
	for key, value := range want {
		if got, ok := get(t, s, "sales", key); !ok || got != value {
			t.Errorf("row %s: %v, %v; want %v", key, got, ok, value)
		}
	}
	if err := s.Update("sales", func(tx *Tx) error {
		if key, err := tx.Next(table); err != nil || key != Key(3) {
			t.Errorf("Next is %s, %v", key, err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func writeFrozen(t *testing.T, rows map[string]row) {
	t.Helper()
	if _, err := os.Stat(frozen); err == nil {
		t.Fatalf("%s is there already", frozen)
	}
	s, err := Open(frozen)
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range rows {
		put(t, s, "sales", key, value)
		if err := s.Update("sales", func(tx *Tx) error { _, err := tx.Next(table); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
