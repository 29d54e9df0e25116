package main

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// A load says what is sent, and how fast.
type load struct {
	to       netip.AddrPort
	requests *batch
	// repeat sends the batch over and over; else each request is sent once.
	repeat  bool
	want    int // the status that counts
	lasting time.Duration
	// perSecond has requests arrive at a constant rate, whatever the answers do. 0: each connection sends its next request
	// when it has its answer.
	perSecond float64
}

// A tally is what became of a load.
type tally struct {
	began time.Time
	// counted are the answers of the wanted status within the load's time.
	counted int
	elapsed time.Duration
	sent    int
	strays  int // answers of another status
	stray   int // one such status
	// latencies are those of a load with a rate, from when each request was to be sent, not from when it could be: a server
	// that stops for a second makes all that were due in it late.
	latencies []time.Duration
	// What the server counted meanwhile, and what this process and the whole machine used of the processor.
	server                         counts
	generatorCPU, machineCPU, wall time.Duration
}

func (t *tally) rate() float64 { return float64(t.counted) / t.elapsed.Seconds() }

// A connection carries one request at a time.
type connection struct {
	socket int
	out    []byte // the request, a copy of the batch's text
	in     []byte // the response, as far as it has come
	due    time.Duration
}

// A generator is one load in progress. It runs on one thread.
type generator struct {
	load
	tally
	poll  *poller
	conns []connection
	idle  []int // the connections that wait for a request
	limit int   // how many requests there are
}

// grace is how long answers may take once the last request is sent.
const grace = 5 * time.Second

// run sends the load. Its clock starts when all connections stand.
func (l *load) run(ctx context.Context) (*tally, error) {
	g := &generator{load: *l, limit: len(l.requests.stamps)}
	switch {
	case l.perSecond > 0:
		g.limit = min(g.limit, int(l.perSecond*l.lasting.Seconds()))
		g.latencies = make([]time.Duration, 0, g.limit)
	case l.repeat:
		g.limit = int(^uint(0) >> 1)
	}
	defer g.close()
	if err := g.connect(); err != nil {
		return nil, err
	}
	g.began = time.Now()
	if err := g.loop(ctx); err != nil {
		return nil, err
	}
	return &g.tally, nil
}

func (g *generator) connect() (err error) {
	if g.poll, err = newPoller(); err != nil {
		return err
	}
	for i := range connections {
		socket, err := g.poll.dial(g.to, i)
		if err != nil {
			return err
		}
		g.conns = append(g.conns, connection{socket: socket, out: slices.Clone(g.requests.text), in: make([]byte, 0, 4096)})
		g.idle = append(g.idle, i)
	}
	return nil
}

func (g *generator) close() {
	if g.poll == nil {
		return
	}
	for i := range g.conns {
		_ = syscall.Close(g.conns[i].socket)
	}
	g.poll.close()
}

// loop ends when all answers are in.
func (g *generator) loop(ctx context.Context) error {
	for {
		now := time.Since(g.began)
		if err := g.sendDue(now); err != nil {
			return err
		}
		if g.done(now) && len(g.idle) == len(g.conns) {
			break
		}
		if now > g.lasting+grace {
			if g.perSecond == 0 {
				return fmt.Errorf("%d answers did not come within %s", len(g.conns)-len(g.idle), grace)
			}
			g.giveUp(now)
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := g.poll.wait(g.nextDue(now), g.receive); err != nil {
			return err
		}
	}
	g.elapsed = min(time.Since(g.began), g.lasting)
	return nil
}

// giveUp counts what has no answer as late as it is by now.
func (g *generator) giveUp(now time.Duration) {
	for i := range g.conns {
		if !slices.Contains(g.idle, i) {
			g.latencies = append(g.latencies, now-g.conns[i].due)
		}
	}
	for ; g.sent < g.limit; g.sent++ {
		g.latencies = append(g.latencies, now-g.due(now))
	}
}

// done says that no request is sent any more.
func (g *generator) done(now time.Duration) bool {
	return g.sent >= g.limit || g.perSecond == 0 && now >= g.lasting
}

// due is when the next request is to be sent.
func (g *generator) due(now time.Duration) time.Duration {
	if g.perSecond == 0 {
		return now
	}
	return time.Duration(float64(g.sent) / g.perSecond * float64(time.Second))
}

// nextDue is how long to wait for answers.
func (g *generator) nextDue(now time.Duration) time.Duration {
	const longest = 100 * time.Millisecond
	if len(g.idle) == 0 || g.done(now) {
		return longest
	}
	return min(max(0, g.due(now)-now), longest)
}

func (g *generator) sendDue(now time.Duration) error {
	for len(g.idle) > 0 && !g.done(now) {
		due := g.due(now)
		if due > now {
			return nil
		}
		last := len(g.idle) - 1
		c := &g.conns[g.idle[last]]
		g.idle = g.idle[:last]
		g.requests.put(c.out, g.sent%len(g.requests.stamps))
		c.due = due
		g.sent++
		if err := c.send(); err != nil {
			return err
		}
	}
	return nil
}

// send writes a request to a socket that has none under way, so that its buffer takes it whole.
func (c *connection) send() error {
	n, err := syscall.Write(c.socket, c.out)
	if err != nil {
		return fmt.Errorf("send: %w", err)
	}
	if n != len(c.out) {
		return fmt.Errorf("send: the socket took %d of %d bytes", n, len(c.out))
	}
	return nil
}

// receive reads what a connection has, and notes the answer once it is complete.
func (g *generator) receive(i int) error {
	c := &g.conns[i]
	n, err := syscall.Read(c.socket, c.in[len(c.in):cap(c.in)])
	if err != nil {
		return fmt.Errorf("receive: %w", err)
	}
	if n == 0 {
		return fmt.Errorf("receive: the server closed a connection after %d bytes of an answer", len(c.in))
	}
	c.in = c.in[:len(c.in)+n]
	status, size, err := parseResponse(c.in)
	switch {
	case err != nil:
		return err
	case size == 0 && len(c.in) < cap(c.in):
		return nil
	case size != len(c.in):
		return fmt.Errorf("%w: %d bytes where one answer has %d", errResponse, len(c.in), size)
	}
	c.in = c.in[:0]
	g.idle = append(g.idle, i)
	g.note(c, status)
	return nil
}

func (g *generator) note(c *connection, status int) {
	now := time.Since(g.began)
	if status != g.want {
		g.strays++
		g.stray = status
		return
	}
	if g.perSecond > 0 {
		g.latencies = append(g.latencies, now-c.due)
	}
	if now <= g.lasting {
		g.counted++
	}
}
