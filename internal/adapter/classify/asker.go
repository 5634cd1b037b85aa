package classify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/sony/gobreaker/v2"

	"github.com/aspis-rv/aspis/pkg/policy"
	"github.com/aspis-rv/aspis/pkg/schema"
)

// Config is what an Asker needs.
type Config struct {
	Classifiers []policy.Classifier // of the bundle
	Endpoints   []Endpoint
	// Timeout bounds the wait for one answer besides the bundle's own; 0: the bundle's alone.
	Timeout time.Duration
	// CacheEntries and CacheAge bound what is remembered of each classifier; 0 means 4096 and 10 min.
	CacheEntries int
	CacheAge     time.Duration
	// Concurrency bounds the requests under way to one classifier; beyond it an answer is
	// waited for within its time, and missing then. 0 means 16.
	Concurrency int
	// Failures in a row after which a classifier is left alone for Pause; 0 means 5 and 5 s. A failure is
	// no connection, no answer in time, or a status that does not refuse the text at hand.
	Failures int
	Pause    time.Duration
	// Transport carries the requests; nil: one that verifies TLS and uses no proxy of the environment.
	Transport http.RoundTripper
	Logger    *slog.Logger
	Metrics   *Metrics
}

func (c *Config) complete() {
	setDefault(&c.CacheEntries, 4096)
	setDefault(&c.CacheAge, 10*time.Minute)
	setDefault(&c.Concurrency, 16)
	setDefault(&c.Failures, 5)
	setDefault(&c.Pause, 5*time.Second)
	if c.Transport == nil {
		c.Transport = &http.Transport{
			MaxIdleConnsPerHost: c.Concurrency, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 5 * time.Second,
			MaxResponseHeaderBytes: maxResponse,
		}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

func setDefault[T int | time.Duration](v *T, to T) {
	if *v == 0 {
		*v = to
	}
}

// Asker asks the classifiers of one bundle. It is safe for concurrent use.
type Asker struct {
	cfg     Config
	clients map[string]*client
}

// New returns the asker of a bundle. It fails when a classifier of the bundle has no endpoint,
// or an endpoint is named twice. Surplus lists the endpoints that the bundle does not name.
func New(cfg Config) (a *Asker, surplus []string, err error) {
	cfg.complete()
	a = &Asker{cfg: cfg, clients: map[string]*client{}}
	endpoints := map[string]Endpoint{}
	for _, e := range cfg.Endpoints {
		if _, twice := endpoints[e.Name]; twice {
			return nil, nil, fmt.Errorf("%w: %s has two; give one", ErrEndpoint, e.Name)
		}
		endpoints[e.Name] = e
	}
	for _, c := range cfg.Classifiers {
		e, ok := endpoints[c.Name]
		if !ok {
			return nil, nil, fmt.Errorf("%w: %s; give its URL (--classifier %[2]s=URL)", ErrUnconfigured, c.Name)
		}
		delete(endpoints, c.Name)
		if a.clients[c.Name], err = newClient(&a.cfg, c, e); err != nil {
			return nil, nil, err
		}
	}
	for name := range endpoints {
		surplus = append(surplus, name)
	}
	slices.Sort(surplus)
	return a, surplus, nil
}

// Ask asks all questions at the same time and returns an answer to each, in their order: one
// that did not come, or was none, is marked missing. It returns when the last one is there or
// its time is over, and at once when ctx ends.
func (a *Asker) Ask(ctx context.Context, questions []policy.Question) []schema.Answer {
	answers := make([]schema.Answer, len(questions))
	var all sync.WaitGroup
	for i := range questions {
		q, answer := &questions[i], &answers[i]
		*answer = schema.Answer{Name: q.Classifier, Of: q.Of(), Missing: true}
		c := a.clients[q.Classifier]
		if c == nil {
			continue // New was given another bundle
		}
		all.Go(func() {
			if r, ok := c.ask(ctx, q); ok {
				answer.Label, answer.Score, answer.Version, answer.Missing = r.label, r.score, r.model, false
			}
		})
	}
	all.Wait()
	return answers
}

// client asks one classifier.
type client struct {
	name     string
	endpoint Endpoint
	speaks   protocol
	timeout  time.Duration
	http     http.Client
	cache    *lru.Cache[[sha256.Size]byte, remembered]
	maxAge   time.Duration
	breaker  *gobreaker.CircuitBreaker[reply]
	slots    chan struct{}
	metrics  *Metrics
}

// remembered is a reply and when it came.
type remembered struct {
	reply
	at time.Time
}

func newClient(cfg *Config, c policy.Classifier, e Endpoint) (*client, error) {
	cache, err := lru.New[[sha256.Size]byte, remembered](cfg.CacheEntries)
	if err != nil {
		return nil, fmt.Errorf("classify: CacheEntries: %w", err)
	}
	k := &client{
		name: c.Name, endpoint: e, speaks: plain{}, timeout: c.Timeout, metrics: cfg.Metrics, cache: cache,
		maxAge: cfg.CacheAge,
		slots:  make(chan struct{}, cfg.Concurrency),
		http: http.Client{
			Transport:     cfg.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if e.Model != "" {
		k.speaks = chat{model: e.Model, label: or(c.Label, c.Name)}
	}
	if cfg.Timeout > 0 {
		k.timeout = min(k.timeout, cfg.Timeout)
	}
	k.breaker = gobreaker.NewCircuitBreaker[reply](gobreaker.Settings{
		Name: c.Name, MaxRequests: 1, Timeout: cfg.Pause,
		ReadyToTrip: func(n gobreaker.Counts) bool { return int(n.ConsecutiveFailures) >= cfg.Failures },
		IsExcluded:  saysNothing,
		OnStateChange: func(name string, _, to gobreaker.State) {
			cfg.Metrics.breaker(name, to == gobreaker.StateOpen)
			cfg.Logger.Warn("classifier", slog.String("name", name), slog.String("circuit", to.String()))
		},
	})
	return k, nil
}

// errBusy says that no request could be made in time.
var errBusy = errors.New("too many requests are under way")

// errGivenUp says that whoever asked had no more time, or went away.
var errGivenUp = errors.New("whoever asked waits no longer")

// errStatus is a response that is not 200.
var errStatus = errors.New("the endpoint refused")

// errText is a response that refuses the text at hand: 400, 413, 422.
var errText = fmt.Errorf("%w this text", errStatus)

// saysNothing reports whether an error says nothing about the health of the endpoint. Whoever sends
// texts or sets deadlines must not be able to have the classifier left alone for everybody else: not by a
// deadline too short for any answer, and not by texts that an endpoint refuses or answers with nonsense.
func saysNothing(err error) bool {
	return errors.Is(err, errGivenUp) || errors.Is(err, errBusy) || errors.Is(err, errReply) || errors.Is(err, errText)
}

// ask returns the reply to one question.
func (c *client) ask(ctx context.Context, q *policy.Question) (reply, bool) {
	key := cacheKey(q)
	if r, ok := c.cache.Get(key); ok && time.Since(r.at) < c.maxAge {
		c.metrics.asked(c.name, "remembered")
		return r.reply, true
	}
	start := time.Now()
	r, err := c.breaker.Execute(func() (reply, error) { return c.inTime(ctx, q) })
	c.metrics.took(c.name, time.Since(start))
	c.metrics.asked(c.name, outcomeOf(err))
	if err != nil {
		return reply{}, false
	}
	c.cache.Add(key, remembered{r, time.Now()})
	return r, true
}

// inTime makes one request within the classifier's time.
func (c *client) inTime(asker context.Context, q *policy.Question) (reply, error) {
	ctx, cancel := context.WithTimeout(asker, c.timeout)
	defer cancel()
	r, err := c.post(ctx, q)
	if err != nil && asker.Err() != nil {
		return reply{}, fmt.Errorf("%w: %w", errGivenUp, err)
	}
	return r, err
}

// outcomeOf names what came of a question, for metrics.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "answered"
	case errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests):
		return "left_alone"
	case errors.Is(err, errGivenUp):
		return "given_up"
	case errors.Is(err, errBusy):
		return "busy"
	case errors.Is(err, context.DeadlineExceeded):
		return "late"
	case errors.Is(err, errReply):
		return "no_answer"
	case errors.Is(err, errStatus):
		return "refused"
	}
	return "unreachable"
}

// post makes one request.
func (c *client) post(ctx context.Context, q *policy.Question) (reply, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return reply{}, errBusy
	}
	body, err := c.speaks.request(q)
	if err != nil {
		return reply{}, fmt.Errorf("request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint.URL, bytes.NewReader(body))
	if err != nil {
		return reply{}, fmt.Errorf("request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if c.endpoint.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.endpoint.Key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{}, fmt.Errorf("asking: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return reply{}, errText
	default:
		return reply{}, fmt.Errorf("%w: %s", errStatus, resp.Status)
	}
	got, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err != nil {
		return reply{}, fmt.Errorf("reading the answer: %w", err)
	}
	if len(got) > maxResponse {
		return reply{}, fmt.Errorf("%w: more than %d bytes", errReply, maxResponse)
	}
	return c.speaks.reply(got)
}

// cacheKey is what an answer depends on.
func cacheKey(q *policy.Question) [sha256.Size]byte {
	b, err := plain{}.request(q)
	if err != nil { // not UTF-8: no event has such a text
		return sha256.Sum256([]byte(q.Text))
	}
	return sha256.Sum256(b)
}
