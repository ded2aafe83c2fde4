/** Settles with the promise, unless the signal aborts before; then rejects with the reason of the signal. */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reject(signal.reason)
    }
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', leave)
    })
  })
}
