package postgres_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/recibohq/recibo"
	"github.com/recibohq/recibo/internal/pgtest"
)

// benchRecording is a delivery of 1.2 kB with one event.
func benchRecording(key string) *recibo.Recording {
	now := time.Now()
	r := &recibo.Recording{
		Delivery: recibo.NewDeliveryID(now), Source: "stripe", Tenant: "default", Scope: "default",
		Namespace: "source/stripe", ReceivedAt: now, SentAt: now,
		Header: []byte(`{"Content-Type":"application/json","User-Agent":"Stripe/1.0"}`),
		Body:   bytes.Repeat([]byte("x"), 1200),
		Events: []recibo.Event{{
			Key: recibo.Key("id:" + key), ID: key, Type: "invoice.paid", Account: "acct_1", Object: "invoice/in_1", End: 1200,
		}},
		Destinations: []string{""},
	}
	_, _ = rand.Read(r.Events[0].Content[:])
	return r
}

func record(b *testing.B, s recibo.Store, key string, want recibo.Verdict) {
	got, err := s.Record(context.Background(), benchRecording(key))
	if err != nil {
		b.Error(err)
	} else if got[0].Verdict != want {
		b.Errorf("Record(%s) = %v, want %s", key, got, want)
	}
}

// 128 callers on two cores, as many connections as the gateway's load test has.
func parallel(b *testing.B, call func(n int64)) {
	var n atomic.Int64
	b.SetParallelism(64)
	b.ReportAllocs()
	b.ResetTimer()
	before := cpu()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			call(n.Add(1))
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64((cpu()-before).Microseconds())/float64(b.N), "cpu-µs/op")
}

// cpu is what this process has used so far: on a busy machine it says more than the rate.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkRecordFresh(b *testing.B) {
	s := open(b, pgtest.Start(b).NewDatabase(b), nil)
	parallel(b, func(int64) { record(b, s, rand.Text(), recibo.Accepted) })
}

func BenchmarkRecordDuplicate(b *testing.B) {
	s := open(b, pgtest.Start(b).NewDatabase(b), nil)
	record(b, s, "evt_1", recibo.Accepted)
	parallel(b, func(int64) { record(b, s, "evt_1", recibo.Duplicate) })
}
