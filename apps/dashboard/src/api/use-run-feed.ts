/** A run that is followed for as long as it is shown. */
import { useEffect, useState } from 'react'

import { openRunFeed, type RunFeed } from './run-feed.ts'
import { useServer } from './server.ts'

/** The feed of a run; undefined until it has begun. */
export function useRunFeed(runId: string): RunFeed | undefined {
  const { client } = useServer()
  const [feed, setFeed] = useState<RunFeed>()
  useEffect(() => {
    const opened = openRunFeed(client, runId)
    setFeed(opened)
    return () => {
      opened.close()
      setFeed(undefined)
    }
  }, [client, runId])
  return feed?.runId === runId ? feed : undefined
}
