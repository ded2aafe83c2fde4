/** The position of a replay: in memory while it moves, and in the address once it rests. */
import { useEffect, useState } from 'react'

import { runHref } from '../api/links.ts'
import { goTo } from '../lib/router.ts'

/** Time that a position must rest before it is written to the address, in milliseconds: browsers limit the rate. */
const REST_MS = 300

/**
 * Returns the number of events that are shown, and a function that changes it; undefined is all of them, as they come.
 * The address has it as `at`.
 */
export function useReplayPosition(
  runId: string,
  query: Readonly<Record<string, string>>,
): readonly [number | undefined, (position: number | undefined) => void] {
  const { at } = query
  const [position, setPosition] = useState(() => positionOf(at))
  const [seen, setSeen] = useState(at)
  if (at !== seen) {
    setSeen(at)
    if (at !== position?.toString()) setPosition(positionOf(at))
  }
  useEffect(() => {
    const next = position?.toString()
    if (next === at) return undefined
    const timer = setTimeout(() => {
      goTo(runHref(runId, { ...query, at: next }), { replace: true })
    }, REST_MS)
    return () => clearTimeout(timer)
  }, [runId, query, at, position])
  return [position, setPosition]
}

/** A position in an address; undefined when it is not a count of events. */
function positionOf(at: string | undefined): number | undefined {
  return at !== undefined && /^[1-9]\d{0,8}$/.test(at) ? Number(at) : undefined
}
