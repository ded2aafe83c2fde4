/** `tutti builds`: lists the builds of a server and sets their shares of new runs. */
import { rejectUnknownSubcommands } from '../subcommands.ts'
import { withTarget, type TargetOptions } from '../target.ts'

import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'

interface BuildsSettings {
  readonly json?: boolean
}

/** Adds `tutti builds`. */
export function addBuildsCommand(program: Command, context: CommandContext): void {
  const builds = program
    .command('builds')
    .description('list the builds that have started, with their processes and unfinished runs')
    .option('--json', 'print the API response as one JSON document')
  withTarget(builds).action(async (options: TargetOptions & BuildsSettings) => {
    const { showBuilds } = await import('../builds/show-builds.ts')
    await showBuilds(options, context)
  })
  const share = builds
    .command('share')
    .description('set the percentage of new runs that a build gets while older builds live')
    .argument('<build>', 'id of the build')
    .argument('<percent>', 'integer from 0 to 100')
    .option('--json', 'print the API response as one JSON document')
  withTarget(share).action(
    async (build: string, percent: string, options: TargetOptions & BuildsSettings) => {
      const { setShare } = await import('../builds/set-share.ts')
      await setShare({ build, percent }, options, context)
    },
  )
  rejectUnknownSubcommands(builds)
}
