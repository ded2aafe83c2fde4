/** `tutti deliver`: sends an external event to a waiting run. */
import { withTarget, type TargetOptions } from '../target.ts'

import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import type { DeliverSettings } from '../deliver/deliver-event.ts'

/** Adds `tutti deliver`. */
export function addDeliverCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('deliver')
    .description('deliver an external event to the wait that opened first, or store it for one')
    .argument('<event>', 'name of the event')
    .option('--key <key>', 'correlation key of the wait')
    .option('--run <id>', 'the only run that gets it')
    .option('--data <json>', 'data as JSON; @file.json, or - for standard input (default: null)')
    .option('--id <id>', 'id under which the event counts once (default: random)')
    .option('--json', 'print the API response as one JSON document')
  withTarget(command).action(async (event: string, options: TargetOptions & DeliverSettings) => {
    const { deliverEvent } = await import('../deliver/deliver-event.ts')
    await deliverEvent(event, options, context)
  })
}
