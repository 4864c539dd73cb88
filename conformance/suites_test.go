package conformance

import (
	"testing"
)

func TestX(t *testing.T) {
	for _, dir := range []string{"intents", "hostile/alignment", "hostile/authres", "hostile/dkim", "hostile/from", "hostile/good", "hostile/header", "hostile/jku", "hostile/json", "hostile/jws", "hostile/loop", "hostile/mime", "hostile/replay", "hostile/smuggling"} {
		s, err := Load("/work/shared/vectors/" + dir)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Run(t.Context(), "", func(o Outcome) {
			if !o.OK {
				t.Errorf("%+v", o)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}
