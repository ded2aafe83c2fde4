/** What the documents say of the API as a whole. */

/** In Markdown, for people. */
export const INTRODUCTION = `Submit runs of teams of LLM agents, follow them live and steer them.

- A run goes on whatever becomes of the connection that submitted it, and after a crash of the server.
- Answers are open: a newer server may add fields. Requests are closed: an unknown field is refused.
- Every refusal has a code in \`error\`, words for people in \`message\`, and every place that does not fit in \`problems\`.
- Over WebSockets the same can be done: see [asyncapi.json](/asyncapi.json).`

/** The same for the WebSockets. */
export const SOCKET_INTRODUCTION = `Every message is one text frame of JSON, told apart by \`type\`.

- \`hello\` comes first, with what has happened so far; then events as they happen.
- With \`?snapshot=none\`, \`hello\` shows no run, and no event comes before \`subscribe\` asks for it.
- \`/ws\` tells of every run, \`/runs/{runId}/ws\` of one; \`subscribe\` narrows either, or reads a run from its log.
- A message that does not fit is answered with \`error\` and leaves the connection open.
- A reader that is too slow is closed with 1013 and the id of the last event that it was sent, to go on after.`
