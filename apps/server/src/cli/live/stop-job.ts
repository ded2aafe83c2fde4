/** Ctrl-Z: the program stops as a job of the shell, until the shell has it go on. */

/** Time after which a program that was told to stop and still runs will not be stopped. */
const STOP_MS = 200

/**
 * Stops this process with its whole group, as the terminal would: what has started it waits for it otherwise. Calls
 * `goOn` once when it runs again. That is soon where no shell could let it go on, as in the first program of a window
 * or of a container: there the system passes the signal over (POSIX, orphaned process groups).
 *
 * @returns what to call when going on is of no use any more
 */
export function stopJob(goOn: () => void): () => void {
  const forget = (): void => {
    clearTimeout(timer)
    process.off('SIGCONT', resume)
  }
  const resume = (): void => {
    forget()
    goOn()
  }
  const timer = setTimeout(resume, STOP_MS)
  process.on('SIGCONT', resume)
  process.kill(0, 'SIGTSTP')
  return forget
}
