package provider_test

import (
	"math"
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
	const limit = 18 // 16 without the race detector
	for _, name := range []string{"stripe", "github", "standard-webhooks", "slack", "zoom"} {
		v := firstVectors(t)[name]
		verifier, d := v.bind(t, name), v.delivery(t)
		n := math.Inf(1)
		for range 20 { // the best of some: under the race detector pools forget now and then
			n = min(n, testing.AllocsPerRun(5, func() {
				verified, err := verifier.Verify(t.Context(), d)
				if err != nil {
					t.Fatal(err)
				}
				verifier.Events(d, verified)
			}))
		}
		if n > limit {
			t.Errorf("%s: %v allocations, want at most %v", name, n, limit)
		}
	}
}
