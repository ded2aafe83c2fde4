/** Levels of log lines, in ascending order. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** Level of a log line. */
export type LogLevel = (typeof LOG_LEVELS)[number]
