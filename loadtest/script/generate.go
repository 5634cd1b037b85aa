package script

import (
	"fmt"
	"math/rand/v2"
)

// baseline is a session under the shipped bundle: reads, risky calls before and
// after the user's approval, and the agent's own attempts to approve, which count
// for nothing.
func baseline(rng *rand.Rand) Script {
	reads := []string{"get_balance", "list_files", "read_file", "search_flights", "view_calendar", "fetch_page"}
	risky := []string{"send_email", "delete_file", "send_money", "book_hotel", "write_file", "disable_alarm"}
	approval := 8 + rng.IntN(CallsPerSession/2)
	var s Script
	for i := range CallsPerSession {
		if i == approval {
			s = append(s, Step{Kind: Grant, Tool: "approve"})
		}
		switch n := rng.IntN(20); {
		case n < 11:
			tool := reads[rng.IntN(len(reads))]
			s = append(s, call(tool, `{"path":"/srv/data/%d.txt","page":%d}`, rng.IntN(1000), i))
		case n < 19:
			tool := risky[rng.IntN(len(risky))]
			s = append(s, call(tool, `{"to":"person-%d@example.com","body":"%s","amount":%d}`, rng.IntN(100), filler, rng.IntN(5000)))
		default:
			s = append(s, call("request_approval", `{"for":"send_money"}`))
		}
	}
	return s
}

// filler gives calls a usual size.
const filler = "Dear colleague, please find attached the figures of the last quarter."

// ledger is a session under a bundle whose clauses need history.
func ledger(rng *rand.Rand) Script {
	var s Script
	for calls := 0; calls < CallsPerSession; {
		step := ledgerStep(rng)
		if step.Kind == Call {
			calls++
		}
		s = append(s, step)
	}
	return s
}

// ledgerStep chooses among few objects, so that steps of a session meet.
func ledgerStep(rng *rand.Rand) Step {
	object, person := fmt.Sprintf("r%d", rng.IntN(4)), fmt.Sprintf("p%d", rng.IntN(4))
	switch n := rng.IntN(100); {
	case n < 6:
		return grant("give_consent", `{"object":%q}`, object)
	case n < 9:
		return grant("revoke_consent", `{"object":%q}`, object)
	case n < 11:
		return grant("approve", `{}`)
	case n < 31:
		return call("export_record", `{"object":%q}`, object)
	case n < 43:
		c := call("find_contact", `{"name":%q}`, person)
		c.Result = fmt.Appendf(nil, `{"rows":[{"email":"%s@example.com"}]}`, person)
		return c
	case n < 60:
		return call("send_mail", `{"to":["%s@example.com"],"body":%q}`, person, filler)
	case n < 75:
		sums := []int{500, 900, 20000, 30000}
		return call("pay", `{"account":"a%d","cents":%d}`, rng.IntN(2), sums[rng.IntN(len(sums))])
	case n < 88:
		paths := []string{"/srv/app/notes", "/srv/app/readme", "/srv/app/.env.local", "/srv/keys/ca"}
		return call("read_file", `{"path":%q}`, paths[rng.IntN(len(paths))])
	case n < 94:
		return call("get_time", `{}`)
	case n < 96:
		return call("give_consent", `{"object":%q}`, object) // the agent's own word
	case n < 98:
		return call("pay", `{"account":"a0"}`) // an argument is missing
	default:
		return call("format_disk", `{}`) // no tool of the policy
	}
}

func call(tool, args string, values ...any) Step {
	return Step{Kind: Call, Tool: tool, Args: fmt.Appendf(nil, args, values...), Result: []byte(`{"done":true}`)}
}

func grant(tool, args string, values ...any) Step {
	return Step{Kind: Grant, Tool: tool, Args: fmt.Appendf(nil, args, values...)}
}
