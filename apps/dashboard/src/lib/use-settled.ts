/** Follows a value that changes often. */
import { useEffect, useState } from 'react'

/** Returns the last value that has not changed for some milliseconds; at first the current one. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}
