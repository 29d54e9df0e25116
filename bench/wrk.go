package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A cost is what a generator reached against the baseline, and what that took of the processor.
type cost struct {
	perSecond float64
	each      time.Duration // of the processor, in the generator's process
}

func wrkInstalled() bool {
	_, err := exec.LookPath("wrk")
	return err == nil
}

// runWrk has wrk send the batch's first request over and over for a second, on as many connections as our generator.
func runWrk(ctx context.Context, dir string, b *batch, to netip.AddrPort) (cost, error) {
	script := filepath.Join(dir, "request.lua")
	if err := os.WriteFile(script, []byte(wrkScript(b)), 0o600); err != nil {
		return cost{}, err
	}
	url := fmt.Sprintf("http://%s%s", to, path)
	cmd := exec.CommandContext(ctx, "wrk", "-t1", "-c"+strconv.Itoa(connections), "-d1s", "-s", script, url) //nolint:gosec // ours
	out, err := cmd.CombinedOutput()
	if err != nil {
		return cost{}, fmt.Errorf("wrk: %w: %s", err, out)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return readWrk(string(out), used)
}

// wrkScript has wrk send the same bytes as we do; it writes Content-Length itself.
func wrkScript(b *batch) string {
	text := make([]byte, len(b.text))
	copy(text, b.text)
	b.put(text, 0)
	var script strings.Builder
	script.WriteString("wrk.method = \"POST\"\n")
	for _, line := range strings.Split(string(text[:b.body-len(headEnd)]), "\r\n")[1:] {
		name, value, _ := strings.Cut(line, ": ")
		if name != "Content-Length" {
			fmt.Fprintf(&script, "wrk.headers[%q] = %q\n", name, value)
		}
	}
	fmt.Fprintf(&script, "wrk.body = %q\n", text[b.body:])
	return script.String()
}

var (
	wrkDone   = regexp.MustCompile(`(\d+) requests in `)
	wrkRate   = regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)
	wrkOthers = regexp.MustCompile(`Non-2xx or 3xx responses: (\d+)`)
)

func readWrk(out string, used time.Duration) (cost, error) {
	done, rate := wrkDone.FindStringSubmatch(out), wrkRate.FindStringSubmatch(out)
	if done == nil || rate == nil || wrkOthers.MatchString(out) {
		return cost{}, fmt.Errorf("wrk was not answered as it should be: %s", out)
	}
	n, err := strconv.Atoi(done[1])
	if err != nil {
		return cost{}, err
	}
	perSecond, err := strconv.ParseFloat(rate[1], 64)
	return cost{perSecond: perSecond, each: used / time.Duration(max(n, 1))}, err
}
