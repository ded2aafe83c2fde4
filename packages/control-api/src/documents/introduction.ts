/** Introductions of the API documents. */

/** Address of the documentation site. */
export const DOCUMENTATION_URL = 'https://tutti-dev.github.io/tutti/'

/** Introduction of the OpenAPI document, in Markdown. */
export const INTRODUCTION = `Submit runs of teams of LLM agents, follow them live and steer them. The [documentation](${DOCUMENTATION_URL}) has a tutorial and guides.

- A run continues when the connection that submitted it closes, and after a crash of the server.
- A newer server may add fields to responses. Unknown fields in requests are refused.
- Every error has a code in \`error\` and a text in \`message\`. \`problems\` lists every invalid part of a request.
- WebSockets offer the same: see [asyncapi.json](/asyncapi.json).`

/** Introduction of the AsyncAPI document, in Markdown. */
export const SOCKET_INTRODUCTION = `Every message is a text frame of JSON with a \`type\`.

- \`hello\` comes first, with the past events. Live events follow.
- With \`?snapshot=none\`, \`hello\` contains no run, and no events are sent before \`subscribe\` requests them.
- \`/ws\` sends the events of all runs, \`/runs/{runId}/ws\` those of one. \`subscribe\` filters them, or reads a run from its log.
- The reply to an invalid message is \`error\`; the connection stays open.
- The server closes the connection of a slow reader with code 1013 and the id of the last event sent, to resume after it.`
