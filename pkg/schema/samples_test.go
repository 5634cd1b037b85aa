package schema

import (
	"bytes"
	"strings"

	"github.com/aspis-rv/aspis/pkg/verdict"
)

// digestOf is a recognisable stand-in for a SHA-256 digest.
func digestOf(b byte) []byte { return bytes.Repeat([]byte{b}, DigestSize) }

// typicalCall is the event that performance figures speak of: what a gate appends
// for one tool call.
func typicalCall() *Event {
	return &Event{
		ID: "01JZ3V0N6Y8Q4C5T7R2E1W9XKA", Tenant: "acme", Trace: "acme", Producer: "gate-1",
		Incarnation: 1735689600, Seq: 4711, Kind: KindCall, CallID: "call_8fJ2kQ", Vantage: Observed,
		ClaimedTS: 1_751_400_000_123_456_789,
		Actor:     Actor{ID: "agent-7", Class: ClassAgent},
		Tool:      "send_money", Server: "bank", SessionID: "s-20f1",
		Object: []string{"account:DE89"}, Recipient: []string{"GB29NWBK60161331926819"},
		Args: Payload{
			Status:    PayloadOK,
			Canon:     []byte(`{"amount":10.5,"date":"2022-01-01","recipient":"GB29NWBK60161331926819","subject":"Refund"}`),
			RawDigest: digestOf(0x11),
		},
		Labels: map[string]string{"mission": "m1"}, Issuer: IssuerModel,
		Deadline: 1_751_400_002_123_456_789, Digest: digestOf(0x22),
	}
}

// samples is one event of every kind, by name, with every field of Event set in at
// least one of them.
func samples() map[string]*Event {
	envelope := func(kind Kind, class ActorClass) *Event {
		return &Event{
			ID: "01JZ3V0N6Y8Q4C5T7R2E1W9X" + kind.String()[:2], Tenant: "acme", Trace: "acme",
			Producer: "p1", Incarnation: 3, Seq: 9, Kind: kind, ClaimedTS: 720_000_000_000,
			Actor: Actor{ID: "p-" + string(class), Class: class},
		}
	}
	out := map[string]*Event{"call": typicalCall()}

	full := typicalCall()
	full.Action = []string{"transfer", "irreversible"}
	full.Source, full.ApprovalID, full.TrustDomain = "call_1", "appr-5", "internal"
	full.StateBefore, full.StateAfter = "sha256:aa", `{"balance":10}`
	full.Position, full.Timestamp = Position{Partition: 3, Offset: 1 << 40}, full.ClaimedTS+5
	full.Answers = []Answer{
		{Name: "injection", Version: "v3", Score: 0.25, Label: "benign", Of: digestOf(0x55)},
		{Name: "pii", Version: "v1", Missing: true},
	}
	full.Labels = map[string]string{"mission": "m1", "Ärger": "tab\there", "empty": ""}
	full.Args.Canon = []byte(`[]`)
	full.Unknown = map[string][]byte{
		"aa": {0x01}, "zz": {0x93, 0xc0, 0xc2, 0xcb, 0x40, 0x04, 0, 0, 0, 0, 0, 0}, "jo": {0xc4, 0x02, 0xff, 0x00},
	}
	out["call_full"] = full

	withheld := envelope(KindCall, ClassAgent)
	withheld.Tool, withheld.Args = "read_file", Payload{Status: PayloadWithheld, RawDigest: digestOf(0x33)}
	out["call_withheld"] = withheld

	result := envelope(KindResult, ClassTool)
	result.CallID, result.Tool, result.Status = "call_8fJ2kQ", "send_money", ResultError
	result.Result = Payload{Status: PayloadOK, Canon: []byte(`"insufficient funds"`)}
	out["result"] = result

	lost := envelope(KindResult, ClassTool)
	lost.CallID, lost.Status = "call_8fJ2kQ", ResultUnknown
	lost.Result = Payload{Status: PayloadMalformed, RawDigest: digestOf(0x34)}
	out["result_unknown"] = lost

	resolution := envelope(KindResolution, ClassSystem)
	resolution.CallID = "call_8fJ2kQ"
	resolution.Resolution = &Resolution{
		CallID:  "call_8fJ2kQ",
		Attempt: Attempt{Partition: 3, Opening: 815, CallID: "call_8fJ2kQ"},
		Outcome: SettledRefuse, Reason: verdict.Violation, Clause: "T1",
		Message: "No release authority for record A.", Detail: "r=A, p=MED_COALITION",
		Value: verdict.F, Completeness: verdict.Degraded, Flags: []string{"T9"},
		Parts:   []PartRef{{Aspect: "temporal", Hash: digestOf(0x44), Value: verdict.F}, {Aspect: "spatial", Hash: digestOf(0x45)}},
		Missing: []string{"semantic"}, Policy: digestOf(0x55), CallDigest: digestOf(0x22),
		Writer: "composer-0", Signature: bytes.Repeat([]byte{0x66}, SignatureSize),
	}
	out["resolution"] = resolution

	hold := envelope(KindResolution, ClassSystem)
	hold.Resolution = &Resolution{
		CallID: "c2", Attempt: Attempt{Opening: 816, CallID: "c2"}, Outcome: SettledHold,
		Reason: verdict.Violation, Clause: "T1", Awaits: []string{"c1"}, Policy: digestOf(0x55), Writer: "composer-0",
	}
	out["resolution_hold"] = hold

	message := envelope(KindMessage, ClassUser)
	message.Text = "Please pay the bill.\nThanks – \"Émile\" 😀"
	message.Source = "chat"
	out["message"] = message

	grant := envelope(KindGrant, ClassCommand)
	grant.Tool, grant.Args = "grant_pii_release", Payload{Status: PayloadOK, Canon: []byte(`{"partner":"partner_med","record":"B"}`)}
	grant.Grant = &Grant{Revokes: "01JZ", NotBefore: 5, CallDigest: digestOf(0x22)}
	out["grant"] = grant

	observation := envelope(KindObservation, ClassEnv)
	observation.Object, observation.StateAfter, observation.Vantage = []string{"m1"}, `{"cell":"alpha"}`, Attested
	out["observation"] = observation

	tick := &Event{
		Tenant: "acme", Trace: "acme", Kind: KindTick, Actor: Actor{Class: ClassSystem},
		Tick: &Tick{N: 77, Time: 721_000_000_000, Marks: map[string]uint64{"gate-1/3": 70_000, "gate-2/1": 0}},
	}
	out["tick"] = tick

	policy := envelope(KindPolicy, ClassSystem)
	policy.Activation = &Activation{Number: 2, Digest: digestOf(0x55), Name: "medevac", Revision: 7, Blocking: 12, ObserveUntil: 1_700_000_000_000_000_000, Reason: "tuning"}
	out["policy"] = policy

	session := envelope(KindSession, ClassAgent)
	session.SessionID, session.Session = "s1", &SessionMark{}
	out["session"] = session

	ended := envelope(KindSession, ClassAgent)
	ended.SessionID, ended.Session = "s1", &SessionMark{End: true}
	out["session_end"] = ended

	withdrawn := envelope(KindWithdrawn, ClassSystem)
	withdrawn.CallID, withdrawn.Digest = "call_8fJ2kQ", digestOf(0x22)
	out["withdrawn"] = withdrawn
	return out
}

// sampleVerdict has every field of Verdict, Part, Row and Value set.
func sampleVerdict() *Verdict {
	return &Verdict{
		Tenant: "acme", Attempt: Attempt{Partition: 3, Opening: 815, CallID: "call_8fJ2kQ"},
		Aspect: "temporal", Policy: digestOf(0x55), Trace: "acme", TimePoint: 12, Timestamp: 720_000_000_000,
		Completeness: verdict.Incomplete,
		Parts: []Part{
			{
				Clause: "T1", Columns: []string{"r", "p"}, Completeness: verdict.Degraded, Absence: true,
				Rows: []Row{
					{Values: []Value{StringValue("A"), StringValue("MED_COALITION")}, Mark: verdict.F, Witness: []uint64{3, 812, 815}},
					{Values: []Value{StringValue("B"), StringValue("")}, Mark: verdict.Fp, Witness: []uint64{815}, Documents: true, Paths: []Path{
						{Of: `reaches("B", "")`, Vertices: []string{"med_fwd", "c2_cop", "coalition_cop"}, Distance: 1},
						{Of: `AT alpha (...)`, Vertices: []string{"alpha"}, Distance: -1},
					}},
				},
			},
			{Clause: "T2", Name: "golden", Columns: []string{"n", "x"}, Rows: []Row{
				{Values: []Value{IntValue(-70_000), FloatValue(0.1)}, Mark: verdict.Tp},
				{Values: []Value{IntValue(1 << 40), FloatValue(0)}, Mark: verdict.F},
			}},
			{Clause: "T4", Role: RoleGuard, Name: strings.Repeat("g", 40), Rows: []Row{{Mark: verdict.Fp, Witness: []uint64{815}}}},
		},
	}
}
