package provider_test

import (
	"testing"
)

// firstVectors are an everyday delivery of each sender.
func firstVectors(t testing.TB) map[string]vector {
	first := map[string]vector{}
	for name, vectors := range readVectors(t) {
		first[name] = vectors[0]
	}
	first["github"] = readVectors(t)["github"][3] // a JSON body
	first["discord"] = readVectors(t)["discord"][1]
	return first
}

func BenchmarkVerifyEvents(b *testing.B) {
	for name, v := range firstVectors(b) {
		b.Run(name, func(b *testing.B) {
			verifier, d := v.bind(b, name), v.delivery(b)
			b.ReportAllocs()
			b.SetBytes(int64(len(d.Body)))
			for b.Loop() {
				verified, err := verifier.Verify(b.Context(), d)
				if err != nil {
					b.Fatal(err)
				}
				verifier.Events(d, verified)
			}
		})
	}
}

func TestVerifyingAndReadingAllocatesLittle(t *testing.T) {
	most := map[string]float64{"stripe": 15, "github": 15, "standard-webhooks": 15, "slack": 15, "zoom": 15}
	for name, limit := range most {
		v := firstVectors(t)[name]
		verifier, d := v.bind(t, name), v.delivery(t)
		n := testing.AllocsPerRun(100, func() {
			verified, err := verifier.Verify(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			verifier.Events(d, verified)
		})
		if n > limit {
			t.Errorf("%s: %v allocations, want at most %v", name, n, limit)
		}
	}
}
