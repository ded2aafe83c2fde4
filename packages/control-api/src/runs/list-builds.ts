/** Lists builds for queries and messages. */
import type { BuildList } from '@tutti/protocol/internal'
import type { RunService } from '@tutti/runs'

/** Returns the builds that have started, the newest first. */
export async function listBuilds(runs: RunService): Promise<BuildList> {
  const builds = await runs.builds.list()
  return {
    builds: builds.map(({ unfinished, firstStartedAt, startedAt, ...build }) => ({
      ...build,
      firstStartedAt: new Date(firstStartedAt).toISOString(),
      startedAt: new Date(startedAt).toISOString(),
      runs: unfinished,
    })),
    current: runs.builds.own,
  }
}
