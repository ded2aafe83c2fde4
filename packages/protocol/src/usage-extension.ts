/**
 * Address of the extension with which agents say over A2A, MCP and the `/tasks` wire what they have used, and are told
 * what they may use. Under it, in metadata: `cost_usd` and `total_cost_usd` (US dollars) and `total_tokens` up,
 * `max_cost_usd`, `max_tokens` and `deadline_ms` down.
 */
export const USAGE_EXTENSION = 'https://tutti.dev/a2a/usage/v1'
