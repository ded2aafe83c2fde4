import { useCallback, useEffect, useRef } from 'react'

/** Returns a stable function that calls the latest `call`. */
export function useLatest<Args extends readonly unknown[], R>(
  call: (...args: Args) => R,
): (...args: Args) => R {
  const latest = useRef(call)
  useEffect(() => {
    latest.current = call
  })
  return useCallback((...args: Args) => latest.current(...args), [])
}
