// Package classify asks classifiers about texts before an event is appended. What they say is
// recorded in the event, so that every worker and every replay reads the same answer and none of
// them needs the classifier.
//
// Two kinds of endpoint are spoken to: the contract of this project, `POST {text, context}` answered by
// `{label, score, model}`, and chat completions as OpenAI's API has them, with a fixed rubric. Whatever
// goes wrong (no answer in time, an answer that is not one, an endpoint that is down) is recorded
// as a missing answer, which makes the facts that rest on it unknown. Texts and answers never appear in a log or a
// metric.
package classify
