/** `tutti export`: a run as a file for other programs. */
import { Option, type Command } from 'commander'

import { withTarget, type TargetOptions } from '../target.ts'
import { EXPORT_FORMATS, type ExportSettings } from '../runs/export-formats.ts'

import type { CommandContext } from '../command-context.ts'

const HELP = `
trace and dag are AgentEnsemble's forms, which its viewer opens as files named *.trace.json and *.dag.json; run is the run in
detail, events its whole log.`

/** Adds the command. */
export function addExportCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('export')
    .description('write a run as one JSON document for other programs')
    .argument('<id>', 'the run')
    .addOption(
      new Option('--format <format>', 'what is written').choices(EXPORT_FORMATS).default('trace'),
    )
    .option('-o, --output <file>', 'where to (standard output)')
    .addHelpText('after', HELP)
  withTarget(command).action(async (runId: string, options: TargetOptions & ExportSettings) => {
    const { exportRun } = await import('../runs/export-run.ts')
    await exportRun(runId, options, context)
  })
}
