/** Signals so close together are one, in milliseconds: Ctrl-C reaches a process by its terminal and by its parents. */
export const ONE_SIGNAL_MS = 500
