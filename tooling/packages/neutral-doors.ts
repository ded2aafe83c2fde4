/** Doors that use nothing of Node, so that a browser can have them. */
export const NEUTRAL_DOORS: ReadonlySet<string> = new Set([
  '@tutti/protocol',
  '@tutti/core',
  '@tutti/agent-call',
  '@tutti/pipeline',
  '@tutti/ensemble',
  '@tutti/client',
  '@tutti/testing',
])
