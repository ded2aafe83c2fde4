/** Entry points that do not need Node, so that browsers can use them. */
export const NEUTRAL_ENTRY_POINTS: ReadonlySet<string> = new Set([
  '@tutti/protocol',
  '@tutti/core',
  '@tutti/agent-call',
  '@tutti/pipeline',
  '@tutti/ensemble',
  '@tutti/client',
  '@tutti/testing',
])
