/**
 * URI of the extension with which agents exchange usage and limits over A2A, MCP and the `/tasks` wire. Its metadata
 * contains `cost_usd` and `total_cost_usd` (US dollars) and `total_tokens` in responses, and `max_cost_usd`,
 * `max_tokens` and `deadline_ms` in requests.
 */
export const USAGE_EXTENSION = 'https://tutti.dev/a2a/usage/v1'
