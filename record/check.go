package record

import (
	"context"
	"fmt"
	"slices"

	"github.com/agentmaild/agentmaild/envelope/intent"
	"github.com/agentmaild/agentmaild/envelope/jws"
	"github.com/go-json-experiment/json/jsontext"
)

// Check checks a record. The same bytes and the same key pages give the same report, whenever and wherever. At most six
// key pages and six TXT records are asked for, with ctx, and pages only where the trust rule allows.
func Check(ctx context.Context, data []byte, keys KeySource) Report {
	return CheckThread(ctx, data, keys, nil)
}

// CheckThread also holds the chain against the messages of the thread, in any order; others among them are ignored. With
// nil it is Check.
func CheckThread(ctx context.Context, data []byte, keys KeySource, thread []*intent.Parsed) Report {
	c := newCheck(data, keys, thread)
	c.run(ctx, "")
	return c.finish()
}

// check is a record being checked. The members are set by the steps, in their order.
type check struct {
	keys   KeySource
	data   []byte
	size   int64
	thread map[string]*intent.Parsed // messages that were given, by hash; nil without

	canonical []byte                    // of the record
	unsealed  []byte                    // the same without its seal, which is what the seal is over
	members   map[string]jsontext.Value // those that a record has
	record    *Record
	sealed    jws.Token
	sealErr   error       // why there is no sealed
	signings  [3]*signing // offer, acceptance, seal; nil where there is none
	pages     map[pageKey]answer

	report  Report
	decided *outcome // the first that failed
	failing string   // its step
}

func newCheck(data []byte, keys KeySource, thread []*intent.Parsed) *check {
	c := &check{keys: keys, data: data, size: int64(len(data)), pages: map[pageKey]answer{}, report: Report{Warnings: []string{}}}
	if thread != nil {
		c.thread = make(map[string]*intent.Parsed, len(thread))
	}
	for _, m := range thread {
		c.thread[m.Hash] = m
	}
	return c
}

// rule is one step of the check.
type rule struct {
	name  string
	code  Code   // of its failure
	needs string // the step it cannot be made without, "" for none
	look  func(*check, context.Context) outcome
}

// outcome is what a rule found.
type outcome struct {
	result   StepResult
	reason   string // of a failure, in plain words
	compared string
	code     Code // set by run
	later    bool // a failure that may be none at another time (D49)
}

func pass(format string, args ...any) outcome {
	return outcome{result: Pass, compared: fmt.Sprintf(format, args...)}
}

func skip(why string) outcome { return outcome{result: Skipped, compared: why} }

func fail(reason, format string, args ...any) outcome {
	return outcome{result: Fail, reason: reason, compared: fmt.Sprintf(format, args...)}
}

// holds is a pass, or a failure for the reason given.
func holds(ok bool, reason, format string, args ...any) outcome {
	if ok {
		return pass(format, args...)
	}
	return fail(reason, format, args...)
}

// run makes the steps up to the one named, or all; what comes behind is skipped.
func (c *check) run(ctx context.Context, last string) {
	ended := false
	for _, r := range steps() {
		o := outcome{}
		switch {
		case ended:
			o = skip("not made")
		case r.needs != "" && c.result(r.needs) != Pass:
			o = skip(r.needs + " did not pass")
		default:
			o = r.look(c, ctx)
		}
		if o.result == Fail && c.decided == nil {
			o.code = r.code
			c.decided, c.failing = &o, r.name
		}
		c.report.Steps = append(c.report.Steps, Step{r.name, o.result, o.compared})
		ended = ended || r.name == last
	}
}

// result is what came of an earlier step.
func (c *check) result(name string) StepResult {
	i := slices.IndexFunc(c.report.Steps, func(s Step) bool { return s.Name == name })
	if i < 0 {
		return Skipped
	}
	return c.report.Steps[i].Result
}

// failure is the decision as an error, nil where no step failed.
func (c *check) failure() error {
	if c.decided == nil {
		return nil
	}
	return &Error{Step: c.failing, Code: c.decided.code, Reason: c.decided.reason}
}

// finish decides: the first step that failed, else the kind.
func (c *check) finish() Report {
	switch {
	case c.decided != nil && c.decided.later:
		c.report.Result, c.report.Reason = NotMade, c.decided.reason
	case c.decided != nil:
		c.report.Result, c.report.Code, c.report.Reason = DoesNotCheckOut, c.decided.code, c.decided.reason
	case c.record == nil:
		c.report.Result = NotMade
	case c.record.Kind == TwoSignatures:
		c.report.Result = TwoSigned
	case c.record.Kind == OurSignature:
		c.report.Result = OneSigned
	default:
		c.report.Result = ReplyRecorded
	}
	return c.report
}

// warn notes a warning once.
func (c *check) warn(code string) {
	if !slices.Contains(c.report.Warnings, code) {
		c.report.Warnings = append(c.report.Warnings, code)
	}
}
