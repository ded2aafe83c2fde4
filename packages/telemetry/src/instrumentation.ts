/** The name under which spans say where they come from. */
export const INSTRUMENTATION = '@tutti/telemetry'
